//! Groups tokens into words, and words into segments, with their times.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::{evidence::Evidence, seconds, transcript::Token, units::WORD};

/// A pause of this length ends a segment that is at least [`SHORTEST_S`] long, seconds.
const PAUSE_S: f64 = 0.5;
/// A pause of this length ends any segment, seconds.
const LONG_PAUSE_S: f64 = 1.0;
/// The shortest segment that a pause of [`PAUSE_S`] ends, seconds.
const SHORTEST_S: f64 = 2.0;
/// The longest segment of more than one word, seconds.
const LONGEST_S: f64 = 15.0;

/// A word with its time, in seconds from the recording's start.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// The text, in NFC.
    pub text: String,
    /// The beginning, seconds.
    pub start: f64,
    /// The end, seconds.
    pub end: f64,
    /// Why the text should be right; empty where the model does not say.
    pub evidence: Evidence,
}

/// Words that are spoken together.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The words with a space between two.
    pub text: String,
    /// The beginning in seconds, rounded to milliseconds.
    pub start: f64,
    /// The end in seconds, rounded to milliseconds.
    pub end: f64,
    /// Why the text should be right; empty where the model does not say.
    pub evidence: Evidence,
}

/// The relation between a model's output frames and times.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The number of samples from one output frame to the next.
    pub grid: usize,
    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    pub latency_s: f64,
}

impl Clock {
    /// The output frame in which a unit appears that is spoken at `sample`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the latency is below 1 s")]
    pub(crate) fn frame(self, sample: usize) -> usize {
        (sample + (self.latency_s * 16_000.0) as usize) / self.grid
    }
}

/// Groups tokens into words. A token with [`WORD`] begins a new word, except one that begins with a combining
/// mark: it cannot begin a word, so it belongs to the word before.
pub(crate) fn words(tokens: &[Token], clock: Clock) -> Vec<Word> {
    words_and_origins(tokens, clock).0
}

/// Groups the first `n` tokens into words, and takes all but the last of these words out of the tokens: what follows can
/// continue the last one.
pub(crate) fn take_words(tokens: &mut Vec<Token>, n: usize, clock: Clock) -> Vec<Word> {
    let (mut words, origins) = words_and_origins(&tokens[..n], clock);
    words.pop();
    tokens.drain(..origins.last().copied().unwrap_or_default());
    words
}

/// The words, and for each of them the index of its first token, the spaces before it included.
fn words_and_origins(tokens: &[Token], clock: Clock) -> (Vec<Word>, Vec<usize>) {
    let seconds = |frame: usize| seconds(frame * clock.grid);
    let (mut words, mut origins): (Vec<Word>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut begins = true;
    // The evidence for the spaces before the next letter, and the first of these spaces.
    let mut spaces = Evidence::default();
    let mut first_space = None;
    for (index, token) in tokens.iter().enumerate() {
        let text = token.text.trim_start_matches(WORD);
        begins |= token.text.starts_with(WORD);
        let Some(first) = text.chars().next() else {
            spaces += token.evidence;
            first_space = first_space.or(Some(index));
            continue;
        };
        let mut evidence = std::mem::take(&mut spaces);
        let origin = first_space.take().unwrap_or(index);
        evidence += token.evidence;
        match words.last_mut() {
            Some(word) if !begins || is_combining_mark(first) => {
                word.text.push_str(text);
                word.end = seconds(token.end);
                word.evidence += evidence;
            }
            last => {
                let start = (seconds(token.frame) - clock.latency_s).max(0.0);
                if let Some(last) = last {
                    last.end = last.end.min(start).max(last.start);
                }
                words.push(Word { text: text.to_owned(), start, end: seconds(token.end), evidence });
                origins.push(origin);
            }
        }
        begins = false;
    }
    for word in &mut words {
        word.text = word.text.nfc().collect();
    }
    (words, origins)
}

/// The texts of all words, with a space between two.
pub fn text(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    texts.join(" ")
}

/// Divides words into segments: at pauses, and elsewhere only if a segment would be too long. The times are
/// in order and within the recording, which is `duration` seconds long.
pub fn segments(words: &[Word], duration: f64) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = words;
    let mut from = 0.0;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(first_segment(rest).unwrap_or(rest.len()));
        let segment = segment(now, from, duration);
        from = segment.end;
        segments.push(segment);
        rest = later;
    }
    segments
}

/// The words with times that are rounded to milliseconds, in order and within the recording, which is `duration` seconds
/// long.
pub fn timed(words: &[Word], duration: f64) -> Vec<Word> {
    let mut from = 0.0;
    let timed = words.iter().map(|word| {
        let (start, end) = span(std::slice::from_ref(word), from, duration);
        from = end;
        Word { start, end, ..word.clone() }
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
    /// The further segments. `words` are all words so far: those of the last call, and the next ones. All of them must end
    /// within the recording.
    pub fn further(&mut self, words: &[Word]) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut rest = words.get(self.n_words..).unwrap_or_default();
        while let Some(n) = first_segment(rest) {
            let (now, later) = rest.split_at(n);
            let segment = segment(now, self.end, f64::INFINITY);
            (self.n_words, self.end) = (self.n_words + n, segment.end);
            segments.push(segment);
            rest = later;
        }
        segments
    }
}

/// The number of words in the first segment. `None` if all words are in it, and more words could be.
fn first_segment(words: &[Word]) -> Option<usize> {
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

/// The beginning and the end of the words, rounded to milliseconds, not before `from` and within the recording.
fn span(words: &[Word], from: f64, duration: f64) -> (f64, f64) {
    let ms = |seconds: f64| (seconds * 1e3).round() / 1e3;
    let within = |seconds: f64, low: f64| ms(seconds.clamp(low, duration.max(low)));
    let start = within(words.first().map_or(from, |w| w.start), from);
    (start, within(words.last().map_or(start, |w| w.end), start))
}

fn segment(words: &[Word], from: f64, duration: f64) -> Segment {
    let (start, end) = span(words, from, duration);
    Segment { text: text(words), start, end, evidence: words.iter().map(|w| w.evidence).sum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(text: &str, (start, end): (f64, f64)) -> Word {
        Word { text: text.to_owned(), start, end, evidence: Evidence::letter(0.5, -1.0) }
    }

    fn said(times: &[(f64, f64)]) -> Vec<Word> {
        times.iter().zip('a'..).map(|(&times, c)| word(&c.to_string(), times)).collect()
    }

    fn cut(times: &[(f64, f64)]) -> Vec<String> {
        segments(&said(times), 100.0).into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn tokens_become_words_in_nfc() {
        let token = |text: &str, frame| Token::new(text, frame, frame + 1);
        let tokens = [
            token("▁", 1),
            token("ਸ", 2),
            token("\u{0A3C}", 3),
            token("▁", 4),
            token("ਾ", 5),
            token("▁ਕ", 7),
            token("▁", 8),
        ];
        let words = words(&tokens, Clock { grid: 1280, latency_s: 0.06 });
        let texts: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(texts, ["ਸ\u{0A3C}ਾ", "ਕ"], "a combining mark does not begin a word");
        assert!((words[0].start - 0.1).abs() < 1e-9 && (words[0].end - 0.48).abs() < 1e-9);
        assert!((words[1].start - 0.5).abs() < 1e-9);
    }

    #[test]
    fn words_and_segments_have_the_evidence_of_their_tokens_and_of_the_space_before() {
        let token = |text: &str, frame, evidence| Token { evidence, ..Token::new(text, frame, frame + 1) };
        let [a, b, space] = [Evidence::letter(0.9, -1.0), Evidence::letter(0.7, -2.0), Evidence::space(-3.0)];
        let tokens = [token("ਕ", 0, a), token("ਾ", 1, b), token("▁", 2, space), token("ਖ", 3, b)];
        let words = words(&tokens, Clock { grid: 320, latency_s: 0.0 });
        let sum = |parts: &[Evidence]| parts.iter().copied().sum::<Evidence>();
        assert_eq!(words[0].evidence, sum(&[a, b]));
        assert_eq!(words[1].evidence, sum(&[space, b]));
        assert_eq!(segments(&words, 1.0)[0].evidence, sum(&[sum(&[a, b]), sum(&[space, b])]));
    }

    #[test]
    fn timed_words_are_in_order_and_within_the_recording() {
        let words = timed(&said(&[(-0.1, 0.50049), (0.4, 0.9), (1.2, 2.5)]), 2.0);
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
            let words: Vec<Word> = times.iter().map(|&times| word("x", times)).collect();
            let cut = segments(&words, duration);
            let mut segmenter = Segmenter::default();
            let early: Vec<Segment> = (0..=words.len()).flat_map(|n| segmenter.further(&words[..n])).collect();
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
