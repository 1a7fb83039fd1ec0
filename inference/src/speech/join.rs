//! Windows' transcripts come in, in order; the recording's words come out, each once.

use super::{
    runs,
    transcript::{Token, Transcript},
    units::WORD,
    windows::Window,
    words::{Clock, Word, words},
};

/// Joins the transcripts of windows that may overlap.
#[derive(Debug)]
pub struct Joiner {
    clock: Clock,
    tokens: Vec<Token>,
    /// The last window's blanks, and the frame of the recording they begin at.
    blanks: (usize, Vec<bool>),
}

impl Joiner {
    /// For a model whose output frames mean these times.
    pub const fn new(clock: Clock) -> Self {
        Self { clock, tokens: Vec::new(), blanks: (0, Vec::new()) }
    }

    /// Adds the transcript of the next window.
    pub fn add(&mut self, window: &Window, transcript: Transcript) {
        let first = window.start / self.clock.grid;
        let mut tokens = transcript.tokens;
        for token in &mut tokens {
            token.frame += first;
            token.end += first;
        }
        self.delay_first_token(&mut tokens, window);
        if window.overlap > 0 {
            let shared = first..first + window.overlap / self.clock.grid;
            let switch = self.switch(shared, &tokens, (first, &transcript.blanks));
            self.tokens.retain(|t| t.frame < switch);
            tokens.retain(|t| t.frame >= switch);
        }
        self.tokens.extend(tokens);
        self.blanks = (first, transcript.blanks);
    }

    /// A model may emit a window's first unit before any sound: its time is moved to where sound sets in, at
    /// the latest to the second unit's.
    fn delay_first_token(&self, tokens: &mut [Token], window: &Window) {
        let onset = self.clock.frame(window.start + window.onset);
        let first_two = tokens.iter().position(|t| !t.is_space()).map(|n| &mut tokens[n..]);
        if let Some([first, rest @ ..]) = first_two {
            let second = rest.first().map_or(first.frame, |t| t.frame);
            first.frame = onset.clamp(first.frame, second.max(first.frame));
            first.end = first.end.max(first.frame + 1);
        }
    }

    /// The words of all windows, with times in seconds.
    pub fn words(&self) -> Vec<Word> {
        words(&self.tokens, self.clock)
    }

    /// The frame from which the next window's tokens are taken: the middle of the longest stretch where both
    /// windows are blank between two words; failing that, between two units; failing that, of the overlap.
    fn switch(
        &self,
        shared: std::ops::Range<usize>,
        next: &[Token],
        (first, blanks): (usize, &[bool]),
    ) -> usize {
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

/// Whether the next token from a frame on begins a word, or there is none.
fn begins_word(tokens: &[Token], frame: usize) -> bool {
    let next = tokens.iter().find(|t| t.frame >= frame);
    next.is_none_or(|t| t.text.starts_with(WORD))
}

/// The middle of the longest run of frames that have a property.
fn middle_of_longest(frames: std::ops::Range<usize>, has: impl Fn(usize) -> bool) -> Option<usize> {
    let run = runs::longest(frames, has);
    (!run.is_empty()).then(|| usize::midpoint(run.start, run.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: usize = 1280;

    /// A window's transcript of a text spoken one unit a frame, `_` for blanks, from a frame on.
    fn window(from: usize, overlap: usize, spoken: &str) -> (Window, Transcript) {
        let units: Vec<char> = spoken.chars().collect();
        let token = |(frame, unit): (usize, &char)| Token { text: unit.to_string(), frame, end: frame + 1 };
        let mut tokens: Vec<Token> =
            units.iter().enumerate().filter(|(_, u)| **u != '_').map(token).collect();
        // A word begins after every second blank.
        for i in 0..tokens.len() {
            if i == 0 || tokens[i].frame > tokens[i - 1].frame + 2 {
                tokens[i].text.insert(0, WORD);
            }
        }
        let blanks = units.iter().map(|u| *u == '_').collect();
        let samples = vec![0.0; units.len() * GRID];
        (
            Window { start: from * GRID, overlap: overlap * GRID, onset: 0, samples },
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
    fn tokens_of_two_windows_are_there_once() {
        //                        0         1         2
        let whole = "ab__cd___efg__h_i____jk";
        assert_eq!(joined(vec![window(0, 0, whole)]), "ab cd efg hi jk");
        let first = window(0, 0, &whole[..17]);
        let second = window(7, 10, &whole[7..]);
        assert_eq!(joined(vec![first, second]), "ab cd efg hi jk");
    }

    #[test]
    fn nothing_is_said_before_sound_sets_in() {
        let (mut window, transcript) = window(100, 0, "_a____b__c");
        window.onset = 4 * GRID;
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
    fn half_a_word_at_a_window_s_edge_is_dropped() {
        let first = window(0, 0, "ab__cd___ex"); // the window ends within "efg"
        let second = window(4, 7, "zd___efg__h"); // and this one begins within "cd"
        assert_eq!(joined(vec![first, second]), "ab cd efg h");
    }
}
