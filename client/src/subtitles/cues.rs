//! Makes cues of segments, as the guides for subtitles ask: lines that are not too long, breaks where a phrase ends, and time
//! to read them.
//!
//! The numbers are those that most guides share, such as Netflix's Timed Text Style Guides
//! (<https://partnerhelp.netflixstudios.com/hc/en-us/articles/217350977>).

use std::{borrow::Cow, ops::Range};

use unicode_segmentation::UnicodeSegmentation as _;

use super::parts::{divide, fewest};
use crate::{SegmentBody, paragraphs::channel_name};

/// How many characters a reader reads in a second.
const MAX_PER_SECOND: f64 = 17.0;
/// A pause between words that is as good a place to break as the end of a phrase, seconds.
const PAUSE_S: f64 = 0.3;
/// What ends a sentence.
const STOPS: [char; 6] = ['।', '.', '?', '!', '۔', '؟'];
/// What ends a phrase within a sentence.
const COMMAS: [char; 6] = [',', ';', ':', '،', '؛', '–'];

/// The size of subtitles. A character is one that readers see: a grapheme cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The most characters of a line. Only a line of a single word can be longer.
    pub max_line_length: usize,
    /// The most lines of a cue. If segments have a translation, it and the transcription have at least one line each.
    pub max_lines: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { max_line_length: 42, max_lines: 2 }
    }
}

/// A text that is shown for some time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cue {
    /// The start in milliseconds.
    pub(super) start: u64,
    /// The end in milliseconds, not after the start of the next cue.
    pub(super) end: u64,
    /// The lines, none of which is empty.
    pub(super) lines: Vec<String>,
}

/// A word, and the time in which it is said, seconds.
struct Word<'a> {
    text: Cow<'a, str>,
    start: f64,
    end: f64,
}

/// The cues of segments that have a text, in order and without overlap.
pub(super) fn cues(segments: &[SegmentBody], layout: Layout) -> Vec<Cue> {
    let mut cues: Vec<Cue> = segments.iter().flat_map(|segment| of_segment(segment, layout)).collect();
    // Segments of two channels can overlap.
    cues.sort_by_key(|cue| cue.start);
    let starts: Vec<u64> = cues.iter().skip(1).map(|cue| cue.start).collect();
    let next = starts.into_iter().map(Some).chain([None]);
    for (cue, next) in cues.iter_mut().zip(next) {
        let n_chars: usize = cue.lines.iter().map(|line| length(line)).sum();
        let end = cue.end.max(cue.start + reading_ms(n_chars));
        cue.end = next.map_or(end, |next| end.min(next.max(cue.start)));
    }
    cues
}

/// The time that a reader needs, milliseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a text is short")]
fn reading_ms(n_chars: usize) -> u64 {
    (count(n_chars) / MAX_PER_SECOND * 1e3).ceil() as u64
}

/// The cues of a segment. Both of its texts have as many parts, so that they are shown together.
fn of_segment(segment: &SegmentBody, layout: Layout) -> Vec<Cue> {
    let said = words(segment);
    let texts: Vec<&str> = said.iter().map(|word| &*word.text).collect();
    let translation: Vec<&str> =
        segment.translation.iter().flat_map(|text| text.split_whitespace()).collect();
    let layout = if translation.is_empty() {
        layout
    } else {
        Layout { max_lines: (layout.max_lines / 2).max(1), ..layout }
    };
    let n_cues = n_cues(&texts, layout).max(n_cues(&translation, layout));
    let pause = |nth: usize| said[nth].start - said[nth - 1].end;
    let own = in_cues(&texts, n_cues, layout, pause);
    let others = in_cues(&translation, n_cues, layout, |_| 0.0);
    let of_cue = |words: &[&str], ranges: &[Range<usize>], nth: usize| {
        ranges.get(nth).map(|range| in_lines(&words[range.clone()], layout)).unwrap_or_default()
    };
    let cue = |nth: usize| {
        let (start, end) = match own.get(nth).map(|range| &said[range.clone()]) {
            Some([first, .., last]) if own.len() == n_cues => (first.start, last.end),
            Some([word]) if own.len() == n_cues => (word.start, word.end),
            // There are fewer words than cues.
            _ => (share(segment, nth, n_cues), share(segment, nth + 1, n_cues)),
        };
        let lines = [of_cue(&texts, &own, nth), of_cue(&translation, &others, nth)].concat();
        Cue { start: ms(start), end: ms(end.max(start)), lines }
    };
    let n_cues = if texts.is_empty() { 0 } else { n_cues };
    (0..n_cues).map(cue).collect()
}

/// The time in a segment after `n` of so many equal parts.
fn share(segment: &SegmentBody, n: usize, n_parts: usize) -> f64 {
    segment.start + (segment.end - segment.start) * count(n) / count(n_parts.max(1))
}

/// The words of a segment, behind the name of its channel. Without times of their own, they share that of the segment by their lengths.
fn words(segment: &SegmentBody) -> Vec<Word<'_>> {
    let name = segment.channel.map(|channel| Word {
        text: Cow::Owned(channel_name(channel)),
        start: segment.start,
        end: segment.start,
    });
    let words = own_words(segment);
    name.filter(|_| !words.is_empty()).into_iter().chain(words).collect()
}

fn own_words(segment: &SegmentBody) -> Vec<Word<'_>> {
    let texts: Vec<&str> = segment.transcription.split_whitespace().collect();
    let timed = segment.words.iter().flatten();
    let timed = timed.map(|word| Word { text: word.word.as_str().into(), start: word.start, end: word.end });
    let timed: Vec<Word<'_>> = timed.collect();
    if timed.iter().map(|word| &*word.text).eq(texts.iter().copied()) {
        return timed;
    }
    let n_all = texts.iter().map(|text| length(text) + 1).sum::<usize>().max(2) - 1;
    let at = |n: usize| share(segment, n, n_all);
    let mut before = 0;
    let word = |text| {
        let start = at(before);
        let end = at(before + length(text));
        before += length(text) + 1;
        Word { text: text.into(), start, end }
    };
    texts.into_iter().map(word).collect()
}

/// The fewest cues that have room for the words.
fn n_cues(words: &[&str], layout: Layout) -> usize {
    fewest(words.len(), |cue| is_cue(&words[cue], layout))
}

/// Whether words can be a cue: one line, or more lines of one sentence.
fn is_cue(words: &[&str], layout: Layout) -> bool {
    let max = layout.max_line_length;
    let n_lines = fewest(words.len(), |line| width(&words[line]) <= max);
    let [of_sentence @ .., _] = words else { return true };
    n_lines <= 1 || (n_lines <= layout.max_lines && !of_sentence.iter().any(|word| break_cost(word) <= 0.0))
}

/// Divides words into so many cues, or fewer if there are fewer words: at ends of sentences and phrases, else at pauses, and
/// of like lengths. `pause` says how long that before a word is.
fn in_cues(words: &[&str], n_cues: usize, layout: Layout, pause: impl Fn(usize) -> f64) -> Vec<Range<usize>> {
    let n_cues = n_cues.min(words.len());
    let even = count(width(words)) / count(n_cues.max(1));
    let is_allowed = |cue: Range<usize>| is_cue(&words[cue], layout);
    divide(words.len(), n_cues, is_allowed, |cue| {
        let unevenness = (count(width(&words[cue.clone()])) - even) / even;
        let break_cost = if cue.end == words.len() {
            0.0
        } else {
            break_cost(words[cue.end - 1]).min(1.0 - pause(cue.end).clamp(0.0, PAUSE_S) / PAUSE_S)
        };
        unevenness.powi(2) + 2.0 * break_cost
    })
}

/// Divides the words of a cue into lines: as few as possible, of like lengths, at ends of phrases.
fn in_lines(words: &[&str], layout: Layout) -> Vec<String> {
    let max = layout.max_line_length;
    let is_allowed = |line: Range<usize>| width(&words[line]) <= max;
    let lines = divide(words.len(), fewest(words.len(), is_allowed), is_allowed, |line| {
        let left = 1.0 - count(width(&words[line.clone()])) / count(max);
        let is_last = line.end == words.len();
        left.powi(2) + if is_last { 0.0 } else { 0.2 * break_cost(words[line.end - 1]) }
    });
    lines.into_iter().map(|line| words[line].join(" ")).collect()
}

/// How bad it is to break behind a word.
fn break_cost(word: &str) -> f64 {
    match word.chars().next_back() {
        Some(last) if STOPS.contains(&last) => 0.0,
        Some(last) if COMMAS.contains(&last) => 0.25,
        _ => 1.0,
    }
}

/// The characters of words with a space between two.
fn width(words: &[&str]) -> usize {
    (words.iter().map(|word| length(word) + 1).sum::<usize>()).saturating_sub(1)
}

/// The characters that readers see.
fn length(text: &str) -> usize {
    text.graphemes(true).count()
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// A time in milliseconds. Negative times count as 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is at least 0, and casts saturate"
)]
fn ms(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::WordBody;

    fn segment(start: f64, end: f64, transcription: &str) -> SegmentBody {
        SegmentBody { start, end, transcription: transcription.to_owned(), ..SegmentBody::default() }
    }

    fn lines_of(segment: SegmentBody, layout: Layout) -> Vec<Vec<String>> {
        cues(&[segment], layout).into_iter().map(|cue| cue.lines).collect()
    }

    #[test]
    fn a_long_segment_becomes_cues_of_sentences_and_lines_of_phrases() {
        let text =
            "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ, ਇਸ ਲਈ ਅਸੀਂ ਸਾਰੇ ਬਾਹਰ ਖੇਡਣ ਜਾ ਰਹੇ ਹਾਂ। ਕੀ ਤੁਸੀਂ ਵੀ ਸਾਡੇ ਨਾਲ ਚੱਲੋਗੇ ਜਾਂ ਘਰ ਹੀ ਬੈਠੇ ਰਹੋਗੇ?";
        assert_eq!(
            lines_of(segment(0.0, 9.0, text), Layout::default()),
            [
                vec!["ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ,", "ਇਸ ਲਈ ਅਸੀਂ ਸਾਰੇ ਬਾਹਰ ਖੇਡਣ ਜਾ ਰਹੇ ਹਾਂ।"],
                vec!["ਕੀ ਤੁਸੀਂ ਵੀ ਸਾਡੇ ਨਾਲ ਚੱਲੋਗੇ ਜਾਂ ਘਰ ਹੀ ਬੈਠੇ ਰਹੋਗੇ?"],
            ]
        );
    }

    #[test]
    fn cues_break_at_pauses_and_have_the_times_of_their_words() {
        let word = |nth: u32| {
            let start = f64::from(nth) + if nth < 3 { 0.0 } else { 0.4 };
            WordBody { word: "abcd".to_owned(), start, end: start + 1.0, confidence: None }
        };
        let words: Vec<WordBody> = (0..7).map(word).collect();
        let text = ["abcd"; 7].join(" ");
        let layout = Layout { max_line_length: 24, max_lines: 1 };
        let cues = cues(&[SegmentBody { words: Some(words), ..segment(0.0, 7.4, &text) }], layout);
        let times: Vec<(u64, u64)> = cues.iter().map(|cue| (cue.start, cue.end)).collect();
        assert_eq!(times, [(0, 3000), (3400, 7400)]);
    }

    #[test]
    fn a_cue_is_shown_until_it_is_read_or_the_next_one_starts() {
        let text = "a".repeat(34);
        let times: Vec<(u64, u64)> = cues(
            &[segment(0.0, 0.5, &text), segment(1.0, 1.2, &text), segment(9.0, 20.0, &text)],
            Layout::default(),
        )
        .iter()
        .map(|cue| (cue.start, cue.end))
        .collect();
        assert_eq!(times, [(0, 1000), (1000, 3000), (9000, 20000)]);
    }

    #[test]
    fn a_translation_is_shown_with_what_it_translates() {
        let translated = SegmentBody {
            translation: Some("one two three four five six seven eight nine ten".to_owned()),
            ..segment(0.0, 6.0, "ਇੱਕ ਦੋ ਤਿੰਨ ਚਾਰ ਪੰਜ ਛੇ ਸੱਤ")
        };
        let layout = Layout { max_line_length: 30, max_lines: 2 };
        let lines = lines_of(translated.clone(), layout);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|lines| lines.len() == 2), "{lines:?}");
        let short = SegmentBody { transcription: "ਇੱਕ".to_owned(), ..translated };
        let cues = cues(&[short], layout);
        assert_eq!(cues.iter().map(|cue| cue.start).collect::<Vec<_>>(), [0, 3000]);
    }

    proptest! {
        #[test]
        fn cues_keep_the_rules_and_lose_no_word(
            texts in prop::collection::vec(("([a-c]{1,9}|[ਕ-ਖ][ਾ-ਿੰ]{0,2}ਕ)([ ,।.]{1,2}([a-d]{1,9}|ਕਿ)){0,30}", prop::option::of("[a-z]{1,7}( [a-z]{1,7}){0,30}"), 0.0..3.0_f64, 0.0..15.0_f64), 0..5),
            max_line_length in 10..60_usize,
            max_lines in 1..5_usize,
            is_timed: bool,
        ) {
            let mut at = 0.0;
            let segments: Vec<SegmentBody> = texts.into_iter().map(|(text, translation, gap, length)| {
                let start = at + gap;
                at = start + length;
                let plain = SegmentBody { translation, ..segment(start, at, &text) };
                let words = super::words(&plain).iter().map(|word| WordBody {
                    word: word.text.to_string(), start: word.start, end: word.end, confidence: None,
                }).collect();
                SegmentBody { words: is_timed.then_some(words), ..plain }
            }).collect();
            let layout = Layout { max_line_length, max_lines };
            let cues = cues(&segments, layout);
            let is_word = |line: &String| !line.contains(' ');
            let shown = cues.iter().flat_map(|cue| &cue.lines).map(|line| line.split_whitespace().count()).sum::<usize>();
            let n_words = segments.iter().flat_map(|s| [Some(&s.transcription), s.translation.as_ref()]).flatten();
            prop_assert_eq!(shown, n_words.map(|text| text.split_whitespace().count()).sum::<usize>());
            let is_translated = segments.iter().any(|segment| segment.translation.is_some());
            for (nth, cue) in cues.iter().enumerate() {
                prop_assert!(!cue.lines.is_empty() && cue.lines.iter().all(|line| !line.is_empty()), "{:?}", cue);
                prop_assert!(cue.lines.len() <= if is_translated { max_lines.max(2) } else { max_lines }, "{:?}", cue);
                prop_assert!(cue.lines.iter().all(|line| length(line) <= max_line_length || is_word(line)), "{:?}", cue);
                prop_assert!(cue.start <= cue.end);
                let next = cues.get(nth + 1);
                prop_assert!(next.is_none_or(|next| cue.end <= next.start), "{:?} {:?}", cue, next);
                let n_chars: usize = cue.lines.iter().map(|line| length(line)).sum();
                let is_read = count(n_chars) <= count(17) * f64::from(u32::try_from(cue.end - cue.start).unwrap()) / 1e3;
                prop_assert!(is_read || next.is_some_and(|next| cue.end == next.start), "{:?} {:?}", cue, next);
            }
        }
    }
}
