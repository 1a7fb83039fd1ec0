//! Runs of number words: a CTC model's frames come in; the words that the frames spell nearly as well as whatever is likeliest
//! go out, with their frames.
//!
//! The likeliest path goes through a loop of number words, or through anything, which has in each frame the log-probability
//! of the likeliest unit. A run of number words is taken if it loses less than a bonus for each of its letters.

use std::ops::Range;

use crate::{
    numbers,
    speech::words::{Token, WORD},
};

/// The bonus for each letter of a number word, nats: how much less likely than the likeliest units it may be.
/// `speech.measure.served` measures these numbers.
const BONUS: f32 = 0.5;
/// What a run loses, nats: a short one is more often something else.
const RUN_COST: f32 = 3.0;
/// Fewer words are no run: "one" and "oh" are often no numbers.
const MIN_WORDS: usize = 3;

/// Anything, and the pause between two number words. The states of the words follow: each letter, and the blank behind it.
const ANYTHING: usize = 0;
const PAUSE: usize = 1;

/// Words that sound like a digit.
const HOMOPHONES: [(&str, &str); 7] = [
    ("to", "two"),
    ("too", "two"),
    ("for", "four"),
    ("fore", "four"),
    ("ate", "eight"),
    ("won", "one"),
    ("o", "oh"),
];

/// A word and its frames.
pub(super) type NumberWord = (&'static str, Range<usize>);

/// The number words in a model's units.
pub(super) struct Lexicon {
    words: Vec<Word>,
    space: usize,
    n_states: usize,
}

struct Word {
    text: &'static str,
    units: Vec<usize>,
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
            let units: Option<Vec<usize>> =
                text.chars().map(|letter| unit(letter).map(usize::from)).collect();
            let Some(units) = units.filter(|units| !units.is_empty()) else { continue };
            let start = n_states;
            n_states += 2 * units.len();
            words.push(Word { text, units, start });
        }
        Self { words, space: space.into(), n_states }
    }

    /// The runs of at least [`MIN_WORDS`] number words in frames, in order. Each frame has the log-probability of every unit
    /// and, last, of the blank.
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
                        run.push((word.text, t..t + 1));
                    }
                } else if (state - word.start).is_multiple_of(2)
                    && let Some((_, frames)) = runs.last_mut().and_then(|run| run.last_mut())
                {
                    frames.end = t + 1;
                }
            }
            before = state;
        }
        runs.retain(|run| run.len() >= MIN_WORDS);
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
                        reach(state, &mut here.chain(begun).chain(others), loss(*unit));
                    } else {
                        let skipped = (word.units[nth - 1] != *unit).then(|| entered(state - 2));
                        reach(state, &mut here.chain([entered(state - 1)]).chain(skipped), loss(*unit));
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

/// The words of a text in which runs of digits stand for the words in their frames that are no numbers.
pub(super) fn with_numbers(mut tokens: Vec<Token>, runs: Vec<Vec<Token>>) -> Vec<Token> {
    for mut run in runs {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let frames = first.frame..last.end;
        let start = tokens.partition_point(|token| middle(token) < frames.start);
        let end = start + tokens[start..].partition_point(|token| middle(token) < frames.end);
        let replaced = &mut tokens[start..end];
        let said: Vec<String> = words(replaced).iter().map(|word| digit(word).to_owned()).collect();
        let are_numbers = !said.is_empty() && said.iter().all(|word| numbers::is_english_number(word));
        if are_numbers {
            for token in replaced {
                if let [word] = &words(std::slice::from_ref(token))[..]
                    && digit(word) != word
                {
                    rewrite(token, digit(word));
                }
            }
            continue;
        }
        if let (Some(first), Some(replaced)) = (run.first_mut(), replaced.first()) {
            let [before, word, _] = parts(&replaced.text);
            let digit = first.text.trim_start_matches(WORD);
            first.text = format!("{before}{}", capital(digit, word));
        }
        if let (Some(last), Some(replaced)) = (run.last_mut(), replaced.last()) {
            last.text.push_str(parts(&replaced.text)[2]);
        }
        tokens.splice(start..end, run);
    }
    tokens
}

/// The digit that sounds like a word, or the word.
fn digit(word: &str) -> &str {
    HOMOPHONES.iter().find(|(other, _)| *other == word).map_or(word, |(_, digit)| digit)
}

/// Puts a word in place of a token's, with its marks and its capital.
fn rewrite(token: &mut Token, word: &str) {
    let [before, old, behind] = parts(&token.text);
    token.text = format!("{before}{}{behind}", capital(word, old));
}

/// A word with a capital where another has one.
fn capital(word: &str, other: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().filter(|_| other.starts_with(char::is_uppercase));
    first.map_or_else(|| word.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}

/// A token's text before, in and behind its letters.
fn parts(text: &str) -> [&str; 3] {
    let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
    let end = text.trim_end_matches(|c: char| !c.is_alphanumeric()).len().max(start);
    [&text[..start], &text[start..end], &text[end..]]
}

const fn middle(token: &Token) -> usize {
    usize::midpoint(token.frame, token.end)
}

/// The words of tokens in lower case, without marks.
fn words(tokens: &[Token]) -> Vec<String> {
    let letters = |token: &Token| token.text.to_lowercase();
    let text = tokens.iter().map(letters).collect::<Vec<_>>().join(" ");
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_UNITS: usize = 27;
    const SPACE: u8 = 0;

    fn unit(letter: char) -> Option<u8> {
        u8::try_from(letter).ok().filter(u8::is_ascii_lowercase).map(|letter| letter - b'a' + 1)
    }

    /// Two frames of each letter and one of the blank behind it; a space is one frame.
    fn frames(text: &str) -> Vec<Vec<f32>> {
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
        runs.iter().map(|run| run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn runs_of_three_digits_and_more_are_found_also_in_other_words() {
        assert_eq!(runs("nine eight seven"), ["nine eight seven"]);
        assert_eq!(runs("the code is double three oh seven today"), ["double three oh seven"]);
        assert_eq!(runs("one two three"), ["one two three"], "a letter twice");
        for none in ["", "the weather is nice", "one two", "for five days", "two of us and one of them"] {
            assert_eq!(runs(none), [""; 0], "{none}");
        }
    }

    fn tokens(words: &str, frames_each: usize) -> Vec<Token> {
        let token = |(n, word)| Token::new(format!("{WORD}{word}"), n * frames_each, (n + 1) * frames_each);
        words.split(' ').enumerate().map(token).collect()
    }

    fn written(text: &str, runs: Vec<Vec<Token>>) -> String {
        let tokens = with_numbers(tokens(text, 10), runs);
        let text: String = tokens.into_iter().map(|token| token.text).collect();
        text.replace(WORD, " ").trim().to_owned()
    }

    #[test]
    fn a_run_replaces_what_is_no_number_in_its_frames() {
        let run = |start: usize, words: &str, frames_each: usize| {
            let moved = |token: Token| Token { frame: token.frame + start, end: token.end + start, ..token };
            vec![tokens(words, frames_each).into_iter().map(moved).collect::<Vec<_>>()]
        };
        assert_eq!(
            written("Call eye seven, now.", run(10, "nine eight seven", 7)),
            "Call nine eight seven, now."
        );
        assert_eq!(written("Ninety.", run(0, "nine eight", 5)), "Ninety.", "numbers stay");
        assert_eq!(written("For won, to.", run(0, "four one two", 10)), "Four one, two.", "they sound alike");
        assert_eq!(written("It is for us.", Vec::new()), "It is for us.");
    }
}
