//! Warns of text that is probably wrong: a recording's segments come in, and a sentence about them goes out.

use super::word::TimedText;

/// A warning names at most so many parts of a recording.
const MAX_PARTS: usize = 10;

/// A warning that names the parts of a recording whose text is probably wrong: the segments for which `is_low` is true.
/// `text` is what the text is, such as "transcription". `None` if there are no such segments.
pub fn warning(
    text: &str,
    segments: &[TimedText],
    is_low: impl Fn(usize, &TimedText) -> bool,
) -> Option<String> {
    let rated: Vec<(&TimedText, bool)> =
        segments.iter().enumerate().map(|(n, s)| (s, is_low(n, s))).collect();
    let parts: Vec<String> = rated
        .chunk_by(|a, b| a.1 == b.1)
        .filter(|part| part.iter().all(|(_, is_low)| *is_low))
        .filter_map(|part| Some(format!("{:.1} s to {:.1} s", part.first()?.0.start, part.last()?.0.end)))
        .collect();
    let (named, more) = parts.split_at(parts.len().min(MAX_PARTS));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let what = format!("low confidence: the {text} is probably wrong, from");
    (!named.is_empty()).then(|| format!("{what} {}{more}", named.join(", from ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{generation::Confidence, speech::words::Evidence};

    const CONFIDENCE: Confidence =
        Confidence { intercept: 0.0, acoustic: 8.0, language: 2.5, low: 0.5, lm_weight: None };

    fn warned(segments: &[TimedText]) -> Option<String> {
        warning("transcription", segments, |_, segment| segment.evidence.is_low(&CONFIDENCE))
    }

    fn segment(n: u8, acoustic: f64, language: f64) -> TimedText {
        let start = f64::from(n);
        TimedText {
            text: "ਕ".to_owned(),
            start,
            end: start + 0.9,
            evidence: Evidence::letter(acoustic, language),
        }
    }

    #[test]
    fn a_warning_names_the_parts_that_are_probably_wrong() {
        let (right, wrong) = (|n| segment(n, 0.95, -1.0), |n| segment(n, 0.5, -3.0));
        assert_eq!(warned(&[right(0), right(1)]), None);
        assert_eq!(warned(&[]), None);
        let some = warned(&[right(0), wrong(1), wrong(2), right(3), wrong(4)]).unwrap();
        assert!(some.ends_with("wrong, from 1.0 s to 2.9 s, from 4.0 s to 4.9 s"), "{some}");
        let many: Vec<TimedText> = (0..30).map(|n| if n % 2 == 0 { wrong(n) } else { right(n) }).collect();
        assert!(warned(&many).unwrap().ends_with("from 18.0 s to 18.9 s and 5 more"));
        let unknown = TimedText { evidence: Evidence::default(), ..wrong(0) };
        assert_eq!(warned(&[unknown]), None, "a layout without evidence gives no warnings");
    }
}
