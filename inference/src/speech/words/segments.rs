//! Groups words into segments, also while more words come.

use std::{ops::Range, slice};

use super::word::{TimedText, text};

/// A pause of this length ends a segment that is at least [`SHORTEST_S`] long, seconds.
const PAUSE_S: f64 = 0.5;
/// A pause of this length ends any segment, seconds.
const LONG_PAUSE_S: f64 = 1.0;
/// The shortest segment that a pause of [`PAUSE_S`] ends, seconds.
const SHORTEST_S: f64 = 2.0;
/// The longest segment of more than one word, seconds.
const LONGEST_S: f64 = 15.0;

/// Divides words into segments: at pauses, and elsewhere only if a segment would be too long. The times are
/// in order and within the recording, which is `duration` seconds long.
pub fn segments(words: &[TimedText], duration: f64) -> Vec<TimedText> {
    let mut from = 0.0;
    let segments = divided(words).into_iter().map(|range| {
        let segment = segment(&words[range], from, duration);
        from = segment.end;
        segment
    });
    segments.collect()
}

/// Which words each segment has.
pub fn divided(words: &[TimedText]) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let end = first_segment(&words[start..]).map_or(words.len(), |n| start + n);
        segments.push(start..end);
        start = end;
    }
    segments
}

/// The words with times that are rounded to milliseconds, in order and within the recording, which is `duration` seconds
/// long.
pub fn timed(words: &[TimedText], duration: f64) -> Vec<TimedText> {
    let mut from = 0.0;
    let timed = words.iter().map(|word| {
        let timed = segment(slice::from_ref(word), from, duration);
        from = timed.end;
        timed
    });
    timed.collect()
}

/// Divides words into segments while further words are being recognised. Gives each segment once, when no further word
/// can change it. [`segments`] gives the same segments, and the last one.
#[derive(Debug, Default)]
pub struct Segmenter {
    /// The number of words in the segments so far.
    n_words: usize,
    /// The end of the last segment, seconds.
    end: f64,
}

impl Segmenter {
    /// The number of words in the segments so far.
    pub const fn n_words(&self) -> usize {
        self.n_words
    }

    /// The further segments, and which words they have. `words` are all words so far: those of the last call, and the next
    /// ones. All of them must end within the recording.
    pub fn further(&mut self, words: &[TimedText]) -> Vec<(Range<usize>, TimedText)> {
        let mut segments = Vec::new();
        let mut rest = words.get(self.n_words..).unwrap_or_default();
        while let Some(n) = first_segment(rest) {
            let (now, later) = rest.split_at(n);
            let segment = segment(now, self.end, f64::INFINITY);
            let start = self.n_words;
            self.n_words += n;
            self.end = segment.end;
            segments.push((start..self.n_words, segment));
            rest = later;
        }
        segments
    }
}

/// The number of words in the first segment. `None` if all words are in it, and more words could be.
fn first_segment(words: &[TimedText]) -> Option<usize> {
    let pause = |n: usize| words[n].start - words[n - 1].end;
    let length = |n: usize| words[n - 1].end - words[0].start;
    for n in 1..words.len() {
        if pause(n) >= LONG_PAUSE_S || (pause(n) >= PAUSE_S && length(n) >= SHORTEST_S) {
            return Some(n);
        }
        if length(n + 1) > LONGEST_S {
            // Cut at the widest gap that leaves a segment of at least the shortest length; at the last one of
            // several equally wide gaps.
            let long_enough = (1..=n).filter(|k| length(*k) >= SHORTEST_S);
            return Some(long_enough.max_by(|a, b| pause(*a).total_cmp(&pause(*b))).unwrap_or(n));
        }
    }
    None
}

/// The words as one segment, with times that are rounded to milliseconds, not before `from` and within the recording.
fn segment(words: &[TimedText], from: f64, duration: f64) -> TimedText {
    let ms = |seconds: f64| (seconds * 1e3).round() / 1e3;
    let within = |seconds: f64, low: f64| ms(seconds.clamp(low, duration.max(low)));
    let start = within(words.first().map_or(from, |w| w.start), from);
    let end = within(words.last().map_or(start, |w| w.end), start);
    TimedText { text: text(words), start, end, evidence: words.iter().map(|w| w.evidence).sum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::evidence::Evidence, *};

    fn word(text: &str, (start, end): (f64, f64)) -> TimedText {
        TimedText { text: text.to_owned(), start, end, evidence: Evidence::letter(0.5, -1.0) }
    }

    fn words_at(times: &[(f64, f64)]) -> Vec<TimedText> {
        times.iter().zip('a'..).map(|(&times, c)| word(&c.to_string(), times)).collect()
    }

    fn cut(times: &[(f64, f64)]) -> Vec<String> {
        segments(&words_at(times), 100.0).into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn timed_words_are_in_order_and_within_the_recording() {
        let words = timed(&words_at(&[(-0.1, 0.50049), (0.4, 0.9), (1.2, 2.5)]), 2.0);
        let times: Vec<(f64, f64)> = words.iter().map(|w| (w.start, w.end)).collect();
        assert_eq!(times, [(0.0, 0.5), (0.5, 0.9), (1.2, 2.0)]);
    }

    #[test]
    fn segments_end_at_pauses_if_they_are_long_enough() {
        assert_eq!(cut(&[(0.0, 0.5), (1.1, 1.5), (1.6, 2.1), (2.7, 3.0)]), ["a b c", "d"]);
        assert_eq!(cut(&[(0.0, 0.5), (2.6, 3.0)]), ["a", "b"], "a long pause ends any segment");
        assert_eq!(cut(&[]), [""; 0]);
    }

    #[test]
    fn without_pauses_a_long_segment_is_cut_at_its_widest_gap() {
        let mut times: Vec<(f64, f64)> = (0..20u8).map(|i| (f64::from(i), f64::from(i) + 0.9)).collect();
        times[7].1 -= 0.2;
        assert_eq!(cut(&times)[0], "a b c d e f g h");
    }

    proptest! {
        #[test]
        fn segment_times_are_in_order_and_within_the_recording(
            gaps in proptest::collection::vec((0.0f64..3.0, 0.01f64..20.0), 0..30),
            duration in 0.0f64..200.0,
        ) {
            let mut at = 0.0;
            let times: Vec<(f64, f64)> = gaps.iter().map(|(gap, length)| {
                let start = at + gap;
                at = start + length;
                (start, at)
            }).collect();
            let words: Vec<TimedText> = times.iter().map(|&times| word("x", times)).collect();
            let cut = segments(&words, duration);
            let mut segmenter = Segmenter::default();
            let (ranges, early): (Vec<Range<usize>>, Vec<TimedText>) =
                (0..=words.len()).flat_map(|n| segmenter.further(&words[..n])).unzip();
            prop_assert_eq!(&ranges, &divided(&words)[..ranges.len()]);
            prop_assert_eq!(&early, &segments(&words, 1e9)[..early.len()]);
            prop_assert!(words.len() < 2 || early.len() + 1 == segments(&words, 1e9).len());
            let n_words: usize = cut.iter().map(|s| s.text.split(' ').count()).sum();
            prop_assert_eq!(n_words, words.len());
            let mut before = 0.0;
            for s in &cut {
                prop_assert!(before <= s.start && s.start <= s.end && s.end <= duration + 5e-4, "{:?}", s);
                before = s.end;
            }
        }
    }
}
