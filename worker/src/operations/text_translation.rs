//! Translation jobs: from a text to its translation, line by line.

use akhar_inference::seq2seq::{Translation, sentences};
use akhar_jobs::Timing;
use akhar_requests::{Digits, Language, Outcome, TranslationParameters};
use tokio::sync::watch;

use super::{
    error::OperationError,
    progress::{Progress, goes_on},
    punctuation::form,
    shown::{approximate, in_script, thousandths},
    timing::micros,
    translation::{Translators, in_form},
};
use crate::fair_queue::Requester;

/// A sentence with more characters is translated in parts, so that nobody waits long at the model for a sentence of another.
const MAX_CHARS: usize = 300;
/// A warning names at most so many lines.
const MAX_LINES: usize = 10;

/// Translates a text. A line of it becomes one line of the translation.
pub(super) async fn translate(
    translators: &Translators,
    requester: Requester,
    parameters: &TranslationParameters,
    progress: &watch::Sender<Progress>,
) -> Result<(Outcome, Timing), OperationError> {
    let TranslationParameters { text, lang, written, script } = parameters;
    let lines: Vec<Vec<&str>> = text.as_str().split('\n').map(parts).collect();
    let sources = lines.iter().flatten().map(|part| (*part).to_owned()).collect();
    let (found, took) = translators.translate(requester, sources, *lang, || goes_on(progress)).await?;
    let mut found = found.into_iter();
    let lines: Vec<Translation> = lines.iter().map(|parts| line(found.by_ref().take(parts.len()))).collect();
    let confidence = lines.iter().filter_map(|line| line.confidence).reduce(f64::min);
    let low: Vec<usize> = (1..).zip(&lines).filter(|(_, line)| line.is_low).map(|(nth, _)| nth).collect();
    let language = lang.other();
    // Gurmukhi digits are for Panjabi.
    let of = |digits| if language == Language::English { Digits::Latin } else { digits };
    let form = written.and_then(|digits| form(language, of(digits)));
    let lines: Vec<String> = lines.iter().map(|line| in_form(line, form)).collect();
    let warnings = probably_wrong(&low, lines.len()).into_iter();
    let warnings = warnings.chain(approximate(*script, lines.iter().map(String::as_str))).collect();
    let lines: Vec<String> = lines.iter().map(|line| in_script(*script, line)).collect();
    let outcome = Outcome::Translation {
        translation: lines.join("\n"),
        language: *lang,
        confidence: confidence.map(thousandths),
        warnings,
    };
    Ok((outcome, Timing { decode_us: 0, infer_us: micros(took) }))
}

/// The parts of a line that the model translates by themselves: its sentences.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for sentence in sentences(line) {
        halve(sentence, &mut parts);
    }
    parts
}

/// Adds a sentence, in halves while it is too long and has a space.
fn halve<'a>(sentence: &'a str, parts: &mut Vec<&'a str>) {
    let middle = sentence.len() / 2;
    let is_long = sentence.chars().nth(MAX_CHARS).is_some();
    let spaces = sentence.match_indices(' ').map(|(at, _)| at);
    match spaces.min_by_key(|at| at.abs_diff(middle)).filter(|_| is_long) {
        Some(at) => {
            halve(sentence[..at].trim(), parts);
            halve(sentence[at..].trim(), parts);
        }
        None => parts.push(sentence),
    }
}

/// The translation of a line. Its confidence is that of its worst part.
fn line(parts: impl Iterator<Item = Translation>) -> Translation {
    let mut line = Translation::default();
    for Translation { text, confidence, is_low, is_unsure } in parts {
        if !line.text.is_empty() && !text.is_empty() {
            line.text.push(' ');
        }
        // One line for each line, whatever the model says.
        line.text.push_str(&text.replace(['\n', '\r'], " "));
        line.confidence = line.confidence.into_iter().chain(confidence).reduce(f64::min);
        line.is_low |= is_low;
        line.is_unsure |= is_unsure;
    }
    line
}

/// The warning about these lines of a text with so many.
fn probably_wrong(low: &[usize], n_lines: usize) -> Option<String> {
    let (named, more) = low.split_at(low.len().min(MAX_LINES));
    let numbers: Vec<String> = named.iter().map(ToString::to_string).collect();
    let lines = match (named, n_lines) {
        ([], _) => return None,
        (_, 1) => String::new(),
        ([_], _) => format!(", in line {}", numbers[0]),
        _ if more.is_empty() => format!(", in lines {}", numbers.join(", ")),
        _ => format!(", in lines {} and {} more", numbers.join(", "), more.len()),
    };
    Some(format!("low confidence: the translation is probably wrong{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_divided_into_sentences_and_long_ones_into_parts_at_spaces() {
        assert_eq!(parts("ਹਾਂ। ਮੈਂ ਆ ਰਿਹਾ ਹਾਂ।"), ["ਹਾਂ।", "ਮੈਂ ਆ ਰਿਹਾ ਹਾਂ।"]);
        assert_eq!(parts("  "), [""; 0]);
        let long = "ਪੰਜਾਬੀ ".repeat(300);
        let divided = parts(&long);
        assert!(divided.iter().all(|part| part.chars().count() <= MAX_CHARS), "{divided:?}");
        assert_eq!(divided.join(" "), long.trim());
        let word = "ਪ".repeat(2000);
        assert_eq!(parts(&word), [word.as_str()]);
    }

    #[test]
    fn a_line_is_as_sure_as_its_worst_part() {
        let part = |text: &str, confidence, is_low| Translation {
            text: text.to_owned(),
            confidence,
            is_low,
            ..Translation::default()
        };
        let whole = line(
            [part("a\nb", Some(0.9), false), part("", None, false), part("c", Some(0.3), true)].into_iter(),
        );
        assert_eq!(whole, part("a b c", Some(0.3), true));
        assert_eq!(line(std::iter::empty()), Translation::default());
    }

    #[test]
    fn a_warning_names_the_lines() {
        let warning = |low: &[usize], n_lines| {
            probably_wrong(low, n_lines)
                .map(|text| text.replace("low confidence: the translation is probably wrong", ""))
        };
        assert_eq!(warning(&[], 3), None);
        assert_eq!(warning(&[1], 1).as_deref(), Some(""));
        assert_eq!(warning(&[2], 3).as_deref(), Some(", in line 2"));
        assert_eq!(warning(&[2, 3], 3).as_deref(), Some(", in lines 2, 3"));
        let many: Vec<usize> = (1..=15).collect();
        assert_eq!(
            warning(&many, 20).as_deref(),
            Some(", in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 5 more")
        );
    }
}
