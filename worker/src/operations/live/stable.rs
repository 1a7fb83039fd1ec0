//! Which words of an utterance are final while it goes on: hypotheses come in, and words that are said for good go out.

use std::collections::VecDeque;

use akhar_requests::Script;

use super::{super::shown::in_script, recogniser::Recognised};

/// A word that ends so shortly before the end of the sound may still change, seconds: recognisers use what follows it.
const FRESH_S: f64 = 1.0;
/// A word may still change, however long ago it was said, unless it is right with this probability.
const LIKELY: f64 = 0.8;
/// How many successive hypotheses have to agree on a word and all before it.
const N_AGREEING: usize = 3;

/// What an open utterance may become.
#[derive(Debug, Clone, Default)]
pub(super) struct Hypothesis {
    texts: Vec<String>,
    /// How many of the first words no further sound changes, and how many it probably does not change.
    n_settled: usize,
    n_likely: usize,
}

impl Hypothesis {
    /// The words that are recognised so far, as they are shown in this script. Those that end behind `until`, seconds, may belong to
    /// the next utterance.
    pub(super) fn new(recognised: &Recognised, until: f64, script: Script) -> Self {
        let Recognised { words, seconds, n_settled, confidence, .. } = recognised;
        let n_belonging = words.iter().take_while(|word| word.end <= until).count();
        let likely = words.iter().take_while(|word| {
            let probability = confidence.and_then(|confidence| word.evidence.word_probability(&confidence));
            word.end <= seconds - FRESH_S && probability.is_some_and(|probability| probability >= LIKELY)
        });
        let n_likely = likely.count().min(n_belonging);
        let texts = words.iter().map(|word| in_script(script, &word.text)).collect();
        Self { texts, n_settled: n_belonging.min(*n_settled), n_likely }
    }
}

/// The words of the open utterance that were said, and the hypotheses before the next one.
#[derive(Debug, Default)]
pub(super) struct StableWords {
    said: Vec<String>,
    before: VecDeque<Hypothesis>,
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

    /// Takes a hypothesis. Returns what is to be said further, with the space before it, and what may follow. A word is final if
    /// nothing changes it, or if successive hypotheses agree on it, and it is likely and not the last one.
    pub(super) fn further(&mut self, hypothesis: Hypothesis) -> (String, String) {
        let Hypothesis { texts, n_settled, n_likely } = &hypothesis;
        let alike = |before: &Hypothesis| texts.iter().zip(&before.texts).take_while(|(a, b)| a == b).count();
        let is_known = self.before.len() + 1 >= N_AGREEING;
        let n_agreed = self.before.iter().map(alike).min().filter(|_| is_known).unwrap_or(0);
        let n_stable = n_agreed.min(*n_likely).min(texts.len().saturating_sub(1)).max(*n_settled);
        let goes_on = texts.starts_with(&self.said);
        let further = if goes_on {
            self.say(texts.get(self.said.len()..n_stable).unwrap_or_default())
        } else {
            String::new()
        };
        let open = texts.get(self.said.len()..).unwrap_or_default();
        let open = spaced(open, self.said.is_empty());
        self.before.push_back(hypothesis);
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
    use akhar_inference::speech::{Evidence, TimedText};
    use proptest::prelude::*;

    use super::*;

    fn strings(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn hypothesis(text: &str, n_settled: usize, n_likely: usize) -> Hypothesis {
        Hypothesis { texts: strings(text), n_settled, n_likely }
    }

    #[test]
    fn words_are_said_when_hypotheses_agree_and_they_are_likely_or_settled() {
        let mut stable = StableWords::default();
        let nothing = |open: &str| (String::new(), open.to_owned());
        assert_eq!(stable.further(hypothesis("a b", 0, 2)), nothing("a b"));
        assert_eq!(stable.further(hypothesis("a b c", 0, 2)), nothing("a b c"));
        assert_eq!(stable.further(hypothesis("a b d e", 0, 1)), ("a".to_owned(), " b d e".to_owned()));
        assert_eq!(stable.further(hypothesis("a b d e f", 0, 5)), (" b".to_owned(), " d e f".to_owned()));
        assert_eq!(stable.further(hypothesis("x b d e f", 0, 5)), nothing(" d e f"));
        assert_eq!(stable.further(hypothesis("a b d e f", 0, 5)), nothing(" d e f"));
        assert_eq!(stable.further(hypothesis("a b d e f", 3, 0)), (" d".to_owned(), " e f".to_owned()));
        assert_eq!(stable.finish(&strings("a b d e g")), (" e g".to_owned(), false));
        assert_eq!(stable.text(), "a b d e g");
    }

    #[test]
    fn words_belong_to_the_next_utterance_from_the_middle_of_the_words_beside_its_boundary_on() {
        let word =
            |start: f64| TimedText { text: String::new(), start, end: 9.0, evidence: Evidence::default() };
        let of = |words: Vec<TimedText>, next_s| {
            Recognised { words, next_s, ..Recognised::default() }.boundary_s(3.0)
        };
        assert_eq!(of(vec![word(0.5), word(1.0)], Some(2.0)), Some(1.5));
        assert_eq!((of(vec![word(1.0)], None), of(vec![], Some(2.0))), (Some(3.0), None));
    }

    #[test]
    fn fresh_and_doubtful_words_are_not_likely() {
        let word = |end: f64| TimedText {
            text: "ਘਰ".to_owned(),
            start: end - 0.5,
            end,
            evidence: Evidence::default(),
        };
        let recognised = Recognised {
            words: vec![word(1.0), word(2.0)],
            seconds: 9.0,
            n_settled: 1,
            ..Recognised::default()
        };
        let new = |until: f64| Hypothesis::new(&recognised, until, Script::Latin);
        assert_eq!((new(9.0).texts, new(9.0).n_settled, new(9.0).n_likely), (strings("ghara ghara"), 1, 0));
        assert_eq!(new(0.9).n_settled, 0, "it may belong to the next utterance");
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
            for text in &hypotheses {
                said.push_str(&stable.further(hypothesis(text, 0, 3)).0);
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
