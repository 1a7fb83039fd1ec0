//! The fields of an operation: a name comes in, the field or the nearest known name goes out.

use crate::problems::{Code, Violation};

/// Characters of a caller's text that an error quotes at most.
const MAX_REPEATED: usize = 64;

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// As the contract names it.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
}

/// What a field holds, with its bound.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A file of at most so many bytes, inclusive.
    File {
        /// The bound.
        max_bytes: usize,
    },
    /// A line of text: a number, a choice.
    Text,
}

/// A caller's text as an error quotes it: escaped and bounded.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_REPEATED) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The violation of a name that is not known, with the known name that was probably meant.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Violation {
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "none are accepted here".to_owned(),
        None => format!("known: {}", known.join(", ")),
    };
    let name: String = name.chars().take(MAX_REPEATED).collect();
    Violation::new(&name, Code::Unknown, format!("unknown {what} {}; {hint}", quoted(&name)))
}

/// The known name that was probably meant: the same or nearly the same but for case and punctuation.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let bare = |s: &str| {
        s.chars()
            .take(MAX_REPEATED)
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let name = bare(name);
    known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(&name, &bare(k)), *k))
        .filter(|(distance, k)| *distance <= k.len() / 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["file", "top-k"];

    #[test]
    fn the_nearest_name_is_the_one_meant() {
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
    fn an_unknown_name_is_told_with_its_nearest_and_bounded() {
        assert_eq!(
            unknown("field", "top_k", &KNOWN).detail,
            r#"unknown field "top_k"; did you mean "top-k"?"#
        );
        assert_eq!(unknown("field", "a\nb", &KNOWN).detail, r#"unknown field "a\nb"; known: file, top-k"#);
        assert!(unknown("field", &"ੳ".repeat(10_000), &KNOWN).field.chars().count() <= MAX_REPEATED);
    }
}
