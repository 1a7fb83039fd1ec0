//! Runs of number words: a CTC model's frames come in; the words that the frames spell nearly as well as whatever is likeliest
//! go out, with their frames.
//!
//! The likeliest path goes through a loop of number words, or through anything, which has in each frame the log-probability
//! of the likeliest unit. A run of number words is taken if it loses less than a bonus for each of its letters.

use std::ops::Range;

use crate::numbers;

/// The bonus for each letter of a number word, nats: how much less likely than the likeliest units it may be.
/// `speech.measure.served` measures these numbers.
const BONUS: f32 = 0.7;
/// What a run loses, nats: a short one is more often something else.
const RUN_COST: f32 = 3.0;
/// Fewer digits are no run: "one" and "oh" are often no numbers.
const MIN_DIGITS: usize = 3;

/// Anything, and the pause between two number words. The states of the words follow: each letter, and the blank behind it.
const ANYTHING: usize = 0;
const PAUSE: usize = 1;

/// A word, the units that are said for it, and their frames.
#[derive(Debug, Clone)]
pub(super) struct NumberWord {
    pub(super) text: &'static str,
    pub(super) units: Vec<u8>,
    pub(super) frames: Range<usize>,
}

/// The number words in a model's units.
pub(super) struct Lexicon {
    words: Vec<Word>,
    space: usize,
    n_states: usize,
}

struct Word {
    text: &'static str,
    units: Vec<u8>,
    /// Its first state.
    start: usize,
}

impl Word {
    /// The state of its last letter.
    const fn last(&self) -> usize {
        self.start + 2 * (self.units.len() - 1)
    }
}

impl Lexicon {
    /// The words that `unit` can spell, each letter a unit.
    pub(super) fn new(unit: impl Fn(char) -> Option<u8>, space: u8) -> Self {
        let mut words = Vec::new();
        let mut n_states = PAUSE + 1;
        for text in numbers::english_digits() {
            let Some(units) = text.chars().map(&unit).collect::<Option<Vec<u8>>>() else { continue };
            let start = n_states;
            n_states += 2 * units.len();
            words.push(Word { text, units, start });
        }
        Self { words, space: space.into(), n_states }
    }

    /// The runs of at least [`MIN_DIGITS`] digits in frames, in order. Each frame has the log-probability of every unit and,
    /// last, of the blank.
    pub(super) fn runs(&self, frames: &[&[f32]]) -> Vec<Vec<NumberWord>> {
        let path = self.path(frames);
        let mut runs: Vec<Vec<NumberWord>> = Vec::new();
        let mut before = ANYTHING;
        for (t, state) in path.into_iter().enumerate() {
            let word = self.words.iter().rev().find(|word| word.start <= state);
            if let Some(word) = word {
                if state == word.start && before != state {
                    if before == ANYTHING {
                        runs.push(Vec::new());
                    }
                    if let Some(run) = runs.last_mut() {
                        let units = word.units.clone();
                        run.push(NumberWord { text: word.text, units, frames: t..t + 1 });
                    }
                } else if (state - word.start).is_multiple_of(2)
                    && let Some(word) = runs.last_mut().and_then(|run| run.last_mut())
                {
                    word.frames.end = t + 1;
                }
            }
            before = state;
        }
        runs.retain(|run| n_digits(run) >= MIN_DIGITS);
        runs
    }

    /// The state of each frame on the likeliest path.
    fn path(&self, frames: &[&[f32]]) -> Vec<usize> {
        const NO: f32 = f32::NEG_INFINITY;
        let mut scores = vec![NO; self.n_states];
        scores[ANYTHING] = 0.0;
        let mut steps: Vec<Vec<usize>> = Vec::with_capacity(frames.len());
        for frame in frames {
            let likeliest = frame.iter().copied().fold(NO, f32::max);
            let loss = |unit: usize| frame.get(unit).map_or(NO, |log_prob| log_prob - likeliest);
            let blank = loss(frame.len().saturating_sub(1));
            let mut next = vec![NO; self.n_states];
            let mut from = vec![ANYTHING; self.n_states];
            let mut reach = |state: usize, before: &mut dyn Iterator<Item = (usize, f32)>, loss: f32| {
                let best = before.max_by(|a, b| a.1.total_cmp(&b.1));
                if let Some((origin, score)) = best {
                    next[state] = score + loss;
                    from[state] = origin;
                }
            };
            let ends = || self.words.iter().map(Word::last);
            let stay = |state: usize| (state, scores[state]);
            reach(ANYTHING, &mut [ANYTHING, PAUSE].into_iter().chain(ends()).map(stay), 0.0);
            reach(PAUSE, &mut [PAUSE].into_iter().chain(ends()).map(stay), blank.max(loss(self.space)));
            for word in &self.words {
                for (nth, unit) in word.units.iter().enumerate() {
                    let state = word.start + 2 * nth;
                    let entered = |state: usize| (state, scores[state] + BONUS);
                    let here = [stay(state)].into_iter();
                    if nth == 0 {
                        let others = self.words.iter().filter(|other| other.units.last() != Some(unit));
                        let begun = [(ANYTHING, scores[ANYTHING] + BONUS - RUN_COST), entered(PAUSE)];
                        let others = others.map(|other| entered(other.last()));
                        reach(state, &mut here.chain(begun).chain(others), loss(usize::from(*unit)));
                    } else {
                        let skipped = (word.units[nth - 1] != *unit).then(|| entered(state - 2));
                        reach(
                            state,
                            &mut here.chain([entered(state - 1)]).chain(skipped),
                            loss(usize::from(*unit)),
                        );
                    }
                    reach(state + 1, &mut [stay(state), stay(state + 1)].into_iter(), blank);
                }
            }
            scores = next;
            steps.push(from);
        }
        let ends = [ANYTHING, PAUSE].into_iter().chain(self.words.iter().map(Word::last));
        let mut state = ends.max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(ANYTHING);
        let mut path = vec![ANYTHING; frames.len()];
        for (t, from) in steps.iter().enumerate().rev() {
            path[t] = state;
            state = from[state];
        }
        path
    }
}

/// How many digits words say.
fn n_digits(words: &[NumberWord]) -> usize {
    let mut n_digits = 0;
    let mut times = 1;
    for word in words {
        times = match word.text {
            "double" => 2,
            "triple" => 3,
            _ => {
                n_digits += times;
                1
            }
        };
    }
    n_digits
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const N_UNITS: usize = 27;
    const SPACE: u8 = 0;

    fn unit(letter: char) -> Option<u8> {
        u8::try_from(letter).ok().filter(u8::is_ascii_lowercase).map(|letter| letter - b'a' + 1)
    }

    /// Two frames of each letter and one of the blank behind it; a space is one frame.
    pub(in super::super) fn frames(text: &str) -> Vec<Vec<f32>> {
        let frame = |at: usize| -> Vec<f32> {
            let mut frame = vec![-9.0; N_UNITS + 1];
            frame[at] = -0.1;
            frame
        };
        let letter = |letter: char| match unit(letter) {
            Some(unit) => vec![frame(unit.into()), frame(unit.into()), frame(N_UNITS)],
            None => vec![frame(SPACE.into())],
        };
        text.chars().flat_map(letter).collect()
    }

    fn runs(text: &str) -> Vec<String> {
        let frames = frames(text);
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let runs = Lexicon::new(unit, SPACE).runs(&frames);
        runs.iter().map(|run| run.iter().map(|word| word.text).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn runs_of_three_digits_and_more_are_found_also_in_other_words() {
        assert_eq!(runs("nine eight seven"), ["nine eight seven"]);
        assert_eq!(runs("the code is double three oh seven today"), ["double three oh seven"]);
        assert_eq!(runs("one two three"), ["one two three"], "a letter twice");
        assert_eq!(runs("triple nine"), ["triple nine"], "three digits");
        for none in ["", "the weather is nice", "one two", "for five days", "two of us and one of them"] {
            assert_eq!(runs(none), [""; 0], "{none}");
        }
    }
}
