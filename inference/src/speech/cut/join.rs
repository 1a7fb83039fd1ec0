//! Joins the transcripts of windows, which may overlap, into the words of the recording. A word that two
//! windows contain is kept once.

use std::ops::Range;

use super::{
    runs,
    windows::{OVERLAP, Window},
};
use crate::speech::words::{Clock, TimedText, Token, Transcript, WORD, seconds, take_words, words};

/// Joins the transcripts of windows that may overlap.
#[derive(Debug)]
pub struct Joiner {
    clock: Clock,
    /// The words that no further window can change.
    settled: Vec<TimedText>,
    /// The tokens of the words after those.
    tokens: Vec<Token>,
    /// The blanks of the last window, and the frame of the recording at which the window begins.
    blanks: (usize, Vec<bool>),
    /// The first frame that a further window can have.
    earliest: usize,
}

impl Joiner {
    /// A joiner for a model with this relation between output frames and times.
    pub const fn new(clock: Clock) -> Self {
        Self { clock, settled: Vec::new(), tokens: Vec::new(), blanks: (0, Vec::new()), earliest: 0 }
    }

    /// Adds the transcript of the next window. Windows must come in the order of the recording.
    pub fn add(&mut self, window: &Window, transcript: Transcript) {
        let first = window.start / self.clock.grid;
        let mut tokens = transcript.tokens;
        for token in &mut tokens {
            token.frame += first;
            token.end += first;
        }
        self.delay_first_units(&mut tokens, window);
        if window.overlap > 0 {
            let shared = first..first + window.overlap / self.clock.grid;
            let switch = self.switch(shared, &tokens, (first, &transcript.blanks));
            self.tokens.retain(|t| t.frame < switch);
            tokens.retain(|t| t.frame >= switch);
        } else if let Some(first) = tokens.first_mut().filter(|token| !token.text.starts_with(WORD)) {
            // Windows without an overlap are cut in a pause. A model need not write a space at a window's start.
            first.text.insert(0, WORD);
        }
        self.tokens.extend(tokens);
        self.blanks = (first, transcript.blanks);
        self.settle(window);
    }

    /// Settles the words that end before the next window can begin.
    fn settle(&mut self, window: &Window) {
        let earliest = (window.start + window.samples.len()).saturating_sub(OVERLAP) / self.clock.grid;
        self.earliest = earliest;
        let n_tokens = self.tokens.iter().position(|token| token.frame >= earliest);
        let n_tokens = n_tokens.unwrap_or(self.tokens.len());
        self.settled.extend(take_words(&mut self.tokens, n_tokens, self.clock));
    }

    /// Corrects the times of words' first units, which a model may emit before any sound. A unit that lies in a pause
    /// is moved to the pause's end, but not beyond the next unit.
    fn delay_first_units(&self, tokens: &mut [Token], window: &Window) {
        let mut begins_word = true;
        for n in 0..tokens.len() {
            let next = tokens.get(n + 1).map(|token| token.frame);
            let token = &mut tokens[n];
            begins_word |= token.text.starts_with(WORD);
            if token.is_space() {
                continue;
            }
            if let Some(onset) = self.onset(window, token.frame).filter(|_| begins_word) {
                let latest = token.end.saturating_sub(1).max(next.unwrap_or_default()).max(token.frame);
                token.frame = onset.min(latest);
                token.end = token.end.max(token.frame + 1);
            }
            begins_word = false;
        }
    }

    /// The frame of the end of the pause that a frame lies in. The first half of a pause after sound does not count:
    /// what a model emits there belongs to the word before.
    fn onset(&self, window: &Window, frame: usize) -> Option<usize> {
        let at = |sample: usize| self.clock.frame(window.start + sample);
        let earliest = |pause: &Range<usize>| match pause.start {
            0 => 0,
            start => at(usize::midpoint(start, pause.end)),
        };
        let lies_in = |pause: &&Range<usize>| (earliest(pause)..at(pause.end)).contains(&frame);
        window.pauses.iter().find(lies_in).map(|pause| at(pause.end))
    }

    /// The words of all windows so far, with times in seconds.
    pub fn words(&self) -> Vec<TimedText> {
        let mut all = self.settled.clone();
        all.extend(words(&self.tokens, self.clock));
        all
    }

    /// The first words of [`Self::words`]: those that no further window can change.
    pub fn settled(&self) -> &[TimedText] {
        &self.settled
    }

    /// No word behind the settled ones starts before this time, seconds.
    pub fn next_s(&self) -> f64 {
        let frame = self.tokens.first().map_or(self.earliest, |token| token.frame.min(self.earliest));
        (seconds(frame * self.clock.grid) - self.clock.latency_s).max(0.0)
    }

    /// The frame from which the next window's tokens are used. It is the middle of the longest run of frames
    /// in which both windows have a blank between two words. If there is none, it is the middle of the
    /// longest run with a blank between two units in both windows; and if there is none either, the middle of
    /// the overlap.
    fn switch(&self, shared: Range<usize>, next: &[Token], (first, blanks): (usize, &[bool])) -> usize {
        let at = |(from, blanks): (usize, &[bool]), frame: usize| {
            frame.checked_sub(from).and_then(|i| blanks.get(i)).copied().unwrap_or(true)
        };
        let last = (self.blanks.0, self.blanks.1.as_slice());
        let both_blank = |frame| at(last, frame) && at((first, blanks), frame);
        let between_words =
            |frame| both_blank(frame) && begins_word(&self.tokens, frame) && begins_word(next, frame);
        let middle = usize::midpoint(shared.start, shared.end);
        middle_of_longest(shared.clone(), between_words)
            .or_else(|| middle_of_longest(shared, both_blank))
            .unwrap_or(middle)
    }
}

/// Whether the first token from `frame` on begins a word, or there is no such token.
fn begins_word(tokens: &[Token], frame: usize) -> bool {
    let next = tokens.iter().find(|t| t.frame >= frame);
    next.is_none_or(|t| t.text.starts_with(WORD))
}

/// The middle of the longest run of frames for which `has` is true; `None` if there is no such frame.
fn middle_of_longest(frames: Range<usize>, has: impl Fn(usize) -> bool) -> Option<usize> {
    let run = runs::longest(frames, has);
    (!run.is_empty()).then(|| usize::midpoint(run.start, run.end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::speech::words::{Segmenter, segments};

    const GRID: usize = 1280;

    /// A window that begins at frame `from`, and its transcript. In `spoken`, each character is the unit of
    /// one frame, and `_` is a blank.
    fn window(from: usize, overlap: usize, spoken: &str) -> (Window, Transcript) {
        let units: Vec<char> = spoken.chars().collect();
        let token = |(frame, unit): (usize, &char)| Token::new(*unit, frame, frame + 1);
        let mut tokens: Vec<Token> =
            units.iter().enumerate().filter(|(_, u)| **u != '_').map(token).collect();
        // A token after two or more blanks begins a word.
        for i in 0..tokens.len() {
            if i == 0 || tokens[i].frame > tokens[i - 1].frame + 2 {
                tokens[i].text.insert(0, WORD);
            }
        }
        let blanks = units.iter().map(|u| *u == '_').collect();
        let samples = vec![0.0; units.len() * GRID];
        (
            Window { start: from * GRID, overlap: overlap * GRID, pauses: Vec::new(), samples, gain_db: 0.0 },
            Transcript { tokens, blanks },
        )
    }

    fn joined(windows: Vec<(Window, Transcript)>) -> String {
        let mut joiner = Joiner::new(Clock { grid: GRID, latency_s: 0.0 });
        for (window, transcript) in windows {
            joiner.add(&window, transcript);
        }
        let words: Vec<String> = joiner.words().into_iter().map(|w| w.text).collect();
        words.join(" ")
    }

    #[test]
    fn tokens_that_two_windows_contain_are_kept_once() {
        //                        0         1         2
        let whole = "ab__cd___efg__h_i____jk";
        assert_eq!(joined(vec![window(0, 0, whole)]), "ab cd efg hi jk");
        let first = window(0, 0, &whole[..17]);
        let second = window(7, 10, &whole[7..]);
        assert_eq!(joined(vec![first, second]), "ab cd efg hi jk");
    }

    #[test]
    fn the_first_word_does_not_begin_before_the_onset_of_sound() {
        let (mut window, transcript) = window(100, 0, "_a____b__c");
        window.pauses.push(0..4 * GRID);
        let mut joiner = Joiner::new(Clock { grid: GRID, latency_s: 0.06 });
        joiner.add(&window, transcript);
        let starts: Vec<f64> = joiner.words().iter().map(|w| w.start).collect();
        let expected = [104.0, 106.0, 109.0].map(|frame| frame * 0.08 - 0.06);
        assert!(starts[0] >= 104.0 * 0.08 - 0.08 && starts[0] <= expected[1], "{starts:?}");
        assert!(
            (starts[1] - expected[1]).abs() < 1e-9 && (starts[2] - expected[2]).abs() < 1e-9,
            "{starts:?}"
        );
    }

    #[test]
    fn a_word_does_not_begin_in_the_pause_before_it() {
        let starts = |spoken: &str| -> Vec<f64> {
            let (mut window, transcript) = window(0, 0, spoken);
            window.pauses = vec![0..GRID, 4 * GRID..14 * GRID];
            let mut joiner = Joiner::new(Clock { grid: GRID, latency_s: 0.0 });
            joiner.add(&window, transcript);
            joiner.words().iter().map(|word| word.start / 0.08).collect()
        };
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        };
        //            0         1
        //            0123456789012345678
        near(starts("_ab________c____d__"), &[1.0, 14.0, 16.0]);
        near(starts("_ab________cd______"), &[1.0, 12.0]);
        near(starts("_ab___c___________d"), &[1.0, 6.0, 18.0]);
    }

    #[test]
    fn a_window_after_a_pause_begins_a_word() {
        let (second, mut transcript) = window(8, 0, "ef__g");
        transcript.tokens[0].text = "e".to_owned();
        assert_eq!(joined(vec![window(0, 0, "ab__cd"), (second, transcript)]), "ab cd ef g");
    }

    #[test]
    fn half_a_word_at_the_edge_of_a_window_is_dropped() {
        let first = window(0, 0, "ab__cd___ex"); // ends in the middle of "efg"
        let second = window(4, 7, "zd___efg__h"); // begins in the middle of "cd"
        assert_eq!(joined(vec![first, second]), "ab cd efg h");
    }

    /// Windows that begin after one another as those of a recording do, with an overlap that a model may hear differently
    /// in each.
    fn overlapping() -> impl Strategy<Value = Vec<(Window, Transcript)>> {
        let max_overlap = OVERLAP / GRID;
        let part = (100..175_usize, 0..=max_overlap, any::<bool>(), "[a_]{175}");
        prop::collection::vec(part, 1..8).prop_map(|parts| {
            let mut end = 0;
            let next = |(length, overlap, is_pause, spoken): (usize, usize, bool, String)| {
                let overlap = if is_pause { 0 } else { overlap.min(end) };
                let from = end - overlap;
                end = from + length;
                window(from, overlap, &spoken[..length])
            };
            parts.into_iter().map(next).collect()
        })
    }

    proptest! {
        #[test]
        fn settled_words_and_their_segments_do_not_change(windows in overlapping()) {
            let clock = Clock { grid: GRID, latency_s: 0.06 };
            let mut joiner = Joiner::new(clock);
            let mut segmenter = Segmenter::default();
            let mut settled = Vec::new();
            let mut early = Vec::new();
            let mut bounds = Vec::new();
            for (window, transcript) in windows {
                joiner.add(&window, transcript);
                prop_assert_eq!(&joiner.settled()[..settled.len()], &settled);
                settled = joiner.settled().to_vec();
                bounds.push((settled.len(), joiner.next_s()));
                early.extend(segmenter.further(&settled).into_iter().map(|(_, segment)| segment));
                prop_assert_eq!(&joiner.words()[..settled.len()], &settled);
                let is_late = |word: &TimedText| word.start > window.end_s() - 5.0;
                prop_assert!(joiner.words()[settled.len()..].iter().skip(1).all(is_late), "too little is settled");
            }
            let words = joiner.words();
            for (n_settled, next_s) in bounds {
                prop_assert!(words[n_settled..].iter().all(|word| word.start > next_s - 1e-6), "before {next_s}: {words:?}");
            }
            let end = joiner.words().last().map_or(0.0, |word| word.end);
            prop_assert_eq!(&segments(&joiner.words(), end)[..early.len()], &early);
        }
    }
}
