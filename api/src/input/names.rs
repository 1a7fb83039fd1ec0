//! Error texts that quote a caller, and that suggest the nearest known name.

use akhar_requests::panjabi_text::legible;

use crate::problems::{Code, Violation};

/// The most characters of a caller's text that an error quotes.
const MAX_QUOTED: usize = 64;

/// A caller's text as an error quotes it: in quotation marks, legible and shortened.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("\"{}\"…", legible(&text[..end])),
        None => format!("\"{}\"", legible(text)),
    }
}

/// The violation of an unknown name. Its text suggests the nearest known name. `what` is such as "field".
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Violation {
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "expected none".to_owned(),
        None => format!("expected one of {}", known.join(", ")),
    };
    let name: String = name.chars().take(MAX_QUOTED).collect();
    Violation::new(&name, Code::Unknown, format!("unknown {what} {}; {hint}", quoted(&name)))
}

/// The known name that the caller probably meant: the most similar one, apart from case and punctuation. `None` if no
/// name is similar.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    nearest_of(name, known.iter().copied(), 2)
}

/// The known path that the caller probably meant. Paths have much in common, so the nearest is nearer than of other names.
pub(crate) fn nearest_path<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(path, known, 4)
}

/// The most similar known name, of which at most one of `part` characters differs.
fn nearest_of<'a>(name: &str, known: impl Iterator<Item = &'a str>, part: usize) -> Option<&'a str> {
    let bare = |s: &str| {
        s.chars()
            .take(MAX_QUOTED)
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let name = bare(name);
    known
        .map(|k| (strsim::damerau_levenshtein(&name, &bare(k)), k))
        .filter(|(distance, k)| *distance <= k.len() / part)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["file", "top-k"];

    #[test]
    fn the_nearest_name_is_found() {
        for name in ["top_k", "Top-K", "topk", "TOP K", "topK", "tok-p", "top-l"] {
            assert_eq!(nearest(name, &KNOWN), Some("top-k"), "{name}");
        }
        for name in ["File", "FILE", "fiel", "files", "file[]"] {
            assert_eq!(nearest(name, &KNOWN), Some("file"), "{name}");
        }
        for name in ["", "language", "ਫ਼ਾਈਲ", "x"] {
            assert_eq!(nearest(name, &KNOWN), None, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_quoted_shortened_and_gets_a_suggestion() {
        assert_eq!(
            unknown("field", "top_k", &KNOWN).detail,
            r#"unknown field "top_k"; did you mean "top-k"?"#
        );
        assert_eq!(
            unknown("field", "a\nb", &KNOWN).detail,
            r#"unknown field "a\nb"; expected one of file, top-k"#
        );
        assert_eq!(quoted("ਸਿੰਘ \u{a70}"), "\"ਸਿੰਘ ◌\u{a70}\"");
        assert!(unknown("field", &"ੳ".repeat(10_000), &KNOWN).field.chars().count() <= MAX_QUOTED);
    }
}
