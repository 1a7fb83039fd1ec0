//! Finds text that is probably wrong: a recording's segments come in, and the parts with such text go out.

use super::word::TimedText;

/// The parts of a recording, start and end in seconds, whose text is probably wrong: the segments for which `is_low` is
/// true. Segments that follow on each other are one part.
pub fn unlikely_parts(segments: &[TimedText], is_low: impl Fn(usize, &TimedText) -> bool) -> Vec<(f64, f64)> {
    let rated: Vec<(&TimedText, bool)> =
        segments.iter().enumerate().map(|(n, s)| (s, is_low(n, s))).collect();
    rated
        .chunk_by(|a, b| a.1 == b.1)
        .filter(|part| part.iter().all(|(_, is_low)| *is_low))
        .filter_map(|part| Some((part.first()?.0.start, part.last()?.0.end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{generation::Confidence, speech::words::Evidence};

    const CONFIDENCE: Confidence = Confidence::of_weights(0.0, 8.0, 2.5);

    fn unlikely(segments: &[TimedText]) -> Vec<(f64, f64)> {
        unlikely_parts(segments, |_, segment| segment.evidence.is_low(&CONFIDENCE))
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
    fn parts_are_those_that_are_probably_wrong() {
        let (right, wrong) = (|n| segment(n, 0.95, -1.0), |n| segment(n, 0.5, -3.0));
        assert_eq!(unlikely(&[right(0), right(1)]), []);
        assert_eq!(unlikely(&[]), []);
        assert_eq!(unlikely(&[right(0), wrong(1), wrong(2), right(3), wrong(4)]), [(1.0, 2.9), (4.0, 4.9)]);
        let unknown = TimedText { evidence: Evidence::default(), ..wrong(0) };
        assert_eq!(unlikely(&[unknown]), [], "a layout without evidence gives no warnings");
    }
}
