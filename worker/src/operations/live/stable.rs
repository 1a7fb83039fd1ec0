//! Which words of an utterance are final while it goes on: hypotheses come in, and words that are said for good go out.

use std::collections::VecDeque;

use akhar_inference::speech::TimedText;

/// A word that ends so shortly before the end of the sound may still change, seconds: recognisers use what follows it.
const FRESH_S: f64 = 2.0;
/// How many successive hypotheses have to agree on a word and all before it.
const N_AGREEING: usize = 3;

/// The words of the open utterance that were said, and the hypotheses before the next one.
#[derive(Debug, Default)]
pub(super) struct StableWords {
    said: Vec<String>,
    before: VecDeque<Vec<String>>,
}

impl StableWords {
    /// Of an utterance of which this was said before.
    pub(super) fn new(said: &str) -> Self {
        Self { said: said.split_whitespace().map(str::to_owned).collect(), before: VecDeque::new() }
    }

    /// What was said.
    pub(super) fn text(&self) -> String {
        self.said.join(" ")
    }

    /// Takes a hypothesis of `seconds` of sound. Returns what is to be said further, with the space before it, and what may follow.
    /// A word is final if successive hypotheses agree on it, and it is neither fresh nor the last one.
    pub(super) fn further(&mut self, words: &[TimedText], seconds: f64) -> (String, String) {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let alike = |before: &Vec<String>| texts.iter().zip(before).take_while(|(a, b)| a == b).count();
        let is_known = self.before.len() + 1 >= N_AGREEING;
        let n_agreed = self.before.iter().map(alike).min().filter(|_| is_known).unwrap_or(0);
        let n_settled = words.iter().take_while(|word| word.end <= seconds - FRESH_S).count();
        let n_stable = n_agreed.min(n_settled).min(texts.len().saturating_sub(1));
        let goes_on = texts.starts_with(&self.said);
        let further = if goes_on {
            self.say(texts.get(self.said.len()..n_stable).unwrap_or_default())
        } else {
            String::new()
        };
        let open = texts.get(self.said.len()..).unwrap_or_default();
        let open = spaced(open, self.said.is_empty());
        self.before.push_back(texts);
        if self.before.len() >= N_AGREEING {
            self.before.pop_front();
        }
        (further, open)
    }

    /// Takes the final words. Returns what is to be said further, and whether what was said differs from them: then it stays, and
    /// what follows the words that are the most like it is said.
    pub(super) fn finish(&mut self, words: &[String]) -> (String, bool) {
        let n_same =
            if words.starts_with(&self.said) { self.said.len() } else { most_like(&self.said, words) };
        let is_changed = words.get(..n_same) != Some(&self.said);
        (self.say(&words[n_same..]), is_changed)
    }

    fn say(&mut self, words: &[String]) -> String {
        let text = spaced(words, self.said.is_empty());
        self.said.extend_from_slice(words);
        text
    }
}

fn spaced(words: &[String], is_first: bool) -> String {
    let text = words.join(" ");
    if is_first || text.is_empty() { text } else { format!(" {text}") }
}

/// How many of the first words are the most like what was said, by their letters.
fn most_like(said: &[String], words: &[String]) -> usize {
    let said: Vec<char> = said.join(" ").chars().collect();
    let mut text = String::new();
    let mut ends = vec![0];
    for word in words {
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(word);
        ends.push(text.chars().count());
    }
    // The edit distance from what was said to each beginning of the text.
    let mut distances: Vec<usize> = (0..=text.chars().count()).collect();
    for (row, letter) in said.iter().enumerate() {
        let mut diagonal = distances[0];
        distances[0] = row + 1;
        for (at, other) in text.chars().enumerate() {
            let replaced = diagonal + usize::from(*letter != other);
            diagonal = distances[at + 1];
            distances[at + 1] = replaced.min(diagonal + 1).min(distances[at] + 1);
        }
    }
    (0..ends.len()).min_by_key(|n| distances[ends[*n]]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use akhar_inference::speech::Evidence;
    use proptest::prelude::*;

    use super::*;

    /// Words of half a second each.
    fn words(text: &str) -> Vec<TimedText> {
        let ends = std::iter::successors(Some(0.5), |end| Some(end + 0.5));
        let word = |(text, end): (&str, f64)| TimedText {
            text: text.to_owned(),
            start: end - 0.5,
            end,
            evidence: Evidence::default(),
        };
        text.split_whitespace().zip(ends).map(word).collect()
    }

    fn strings(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_said_when_hypotheses_agree_and_they_are_not_fresh() {
        let mut stable = StableWords::default();
        let nothing = |open: &str| (String::new(), open.to_owned());
        assert_eq!(stable.further(&words("a b"), 3.0), nothing("a b"));
        assert_eq!(stable.further(&words("a b c"), 3.0), nothing("a b c"));
        assert_eq!(stable.further(&words("a b d e"), 2.9), ("a".to_owned(), " b d e".to_owned()));
        assert_eq!(stable.further(&words("a b d e f"), 3.0), (" b".to_owned(), " d e f".to_owned()));
        assert_eq!(stable.further(&words("x b d e f"), 9.0), nothing(" d e f"));
        assert_eq!(stable.further(&words("a b d e f"), 9.0), nothing(" d e f"));
        assert_eq!(stable.finish(&strings("a b d e g")), (" d e g".to_owned(), false));
        assert_eq!(stable.text(), "a b d e g");
    }

    #[test]
    fn what_was_said_stays_and_what_follows_it_is_said_once() {
        for (said, last, further) in [
            ("a bc", "a bd e", " e"),
            ("ab cd", "abcd ef", " ef"),
            ("abcd", "ab cd ef", " ef"),
            ("a b", "", ""),
        ] {
            let mut stable = StableWords::new(said);
            assert_eq!(stable.finish(&strings(last)), (further.to_owned(), true), "{said}");
        }
        assert_eq!(StableWords::new("").finish(&strings("a b")), ("a b".to_owned(), false));
    }

    proptest! {
        #[test]
        fn what_is_said_is_only_appended_to(hypotheses in prop::collection::vec("([ab]{1,2} ){0,6}", 1..8), last in "([ab]{1,2} ){0,6}") {
            let mut stable = StableWords::default();
            let mut said = String::new();
            for hypothesis in &hypotheses {
                let words = words(hypothesis);
                let seconds = words.last().map_or(0.0, |word| word.end) + 1.5;
                said.push_str(&stable.further(&words, seconds).0);
                prop_assert_eq!(&said, &stable.text());
            }
            let before = said.clone();
            let (further, is_changed) = stable.finish(&strings(&last));
            said.push_str(&further);
            prop_assert_eq!(&said, &stable.text());
            if !is_changed {
                prop_assert_eq!(said, strings(&last).join(" "), "after {}", before);
            }
        }
    }
}
