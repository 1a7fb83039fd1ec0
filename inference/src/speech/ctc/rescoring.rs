//! Digits in a text that another model wrote: its words and the runs of number words in a CTC model's frames come in; of both,
//! the likelier ones go out.
//!
//! The other model understands people better, and the CTC model hears each digit. So the less likely a text is to the model
//! that wrote it, the less well must a run fit the frames to take its place.

use std::ops::Range;

use super::{align::align, numbers::NumberWord, spelling::Spelling};
use crate::{
    cast::{count, narrow},
    numbers,
    speech::words::{Evidence, Token, WORD},
};

/// A text whose tokens have a higher mean log-probability is likely. `speech.measure.served` measures these numbers.
const LIKELY: f64 = -0.2;
/// A run that takes the place of numbers, or of anything in a likely text, has at most this loss, nats a letter.
const MAX_LOSS: f32 = 0.3;
/// The loss of the words in its place is higher by so much, nats.
const MIN_GAIN: f32 = 20.0;
/// The loss of a run in place of other words of an unlikely text, nats a letter for each nat by which the text is unlikely.
const LOSS_BY_UNLIKELIHOOD: f64 = 2.5;
/// The same where no words are in its place.
const MAX_LOSS_ALONE: f32 = 0.6;
/// From so many words on, those that sound like a digit are one beside digits.
const MIN_WORDS: usize = 3;

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

/// Words with a string of digits behind them, at most [`NEAR`] words further.
const NAMES: [&str; 12] = [
    "bus",
    "call",
    "code",
    "dial",
    "extension",
    "flight",
    "number",
    "otp",
    "phone",
    "pin",
    "platform",
    "room",
];
const NEAR: usize = 3;

impl Spelling {
    /// The words of a text with the runs of digits that are said instead of some. `log_prob` is the mean log-probability of
    /// the text by the model that wrote it.
    pub(crate) fn with_numbers(
        &self,
        frames: &[&[f32]],
        mut tokens: Vec<Token>,
        log_prob: f64,
    ) -> Vec<Token> {
        for run in self.numbers.runs(frames) {
            let place = place(&tokens, &self.without_silence(frames, &run));
            if place.len() < tokens.len() && !is_named(&tokens[..place.start]) && sounds_like_others(&run) {
                continue;
            }
            let replaced = &mut tokens[place.clone()];
            let said = words(replaced);
            let digits: Vec<&str> = said.iter().map(|word| digit(word)).collect();
            let are_numbers = !said.is_empty() && digits.iter().all(|word| numbers::is_english_number(word));
            let is_same = run.iter().map(|word| word.text).eq(digits.iter().copied());
            if !is_same && self.is_likelier(frames, &run, replaced, are_numbers, log_prob) {
                // Where little of what is said is digits, they are doubtful without the rest.
                let n_said: usize = run.iter().map(|word| word.units.len()).sum();
                let is_little = tokens.is_empty() && self.n_letters(frames) > 2 * n_said;
                let run = self.run_tokens(frames, &run, if is_little { log_prob } else { 0.0 });
                replace(&mut tokens, place, run);
            } else if said.len() >= MIN_WORDS
                && digits.iter().all(|word| numbers::english_digits().any(|other| other == *word))
            {
                for token in replaced {
                    if let [word] = &words(std::slice::from_ref(token))[..]
                        && digit(word) != word
                    {
                        rewrite(token, digit(word));
                    }
                }
            }
        }
        tokens
    }

    /// Whether a run is likelier than the words in its place.
    fn is_likelier(
        &self,
        frames: &[&[f32]],
        run: &[NumberWord],
        replaced: &[Token],
        are_numbers: bool,
        log_prob: f64,
    ) -> bool {
        let is_likely = log_prob >= LIKELY;
        let letters = replaced.iter().flat_map(|token| token.text.split('-')).filter(|text| is_letter(text));
        if (are_numbers && is_likely) || letters.count() > 1 {
            return false;
        }
        let text = run.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
        let units = self.spell(&text).0;
        let span = span(run);
        let loss_by_letter = loss(&frames[span.clone()], &units) / narrow(count(units.len()));
        let [Some(first), Some(last)] = [replaced.first(), replaced.last()] else {
            return loss_by_letter < MAX_LOSS_ALONE;
        };
        let start = first.frame.min(span.start).saturating_sub(2);
        let end = (last.end.max(span.end) + 2).min(frames.len());
        let frames = &frames[start..end];
        let gain = loss(frames, &self.spell(&words(replaced).join(" ")).0) - loss(frames, &units);
        if are_numbers || is_likely {
            loss_by_letter < MAX_LOSS && gain > MIN_GAIN
        } else {
            f64::from(loss_by_letter) < LOSS_BY_UNLIKELIHOOD * -log_prob && gain >= 0.0
        }
    }

    /// The frames of a run, with those around it in which nothing else is said.
    fn without_silence(&self, frames: &[&[f32]], run: &[NumberWord]) -> Range<usize> {
        let Range { start, end } = span(run);
        let likeliest = |t: usize| {
            let frame = frames.get(t).copied().unwrap_or_default();
            (0..frame.len()).max_by(|a, b| frame[*a].total_cmp(&frame[*b]))
        };
        let is_silent = |t: usize| likeliest(t).is_some_and(|unit| self.is_silence(unit));
        let goes_on = |from: usize, t: usize| is_silent(t) || likeliest(t) == likeliest(from);
        let before = (0..start).rev().take_while(|t| goes_on(start, *t)).count();
        let behind = (end..frames.len()).take_while(|t| goes_on(end - 1, *t)).count();
        start - before..end + behind
    }

    /// How many letters the likeliest units of frames spell.
    fn n_letters(&self, frames: &[&[f32]]) -> usize {
        let likeliest = |frame: &&[f32]| (0..frame.len()).max_by(|a, b| frame[*a].total_cmp(&frame[*b]));
        let mut units: Vec<usize> = frames.iter().filter_map(likeliest).collect();
        units.dedup();
        units.into_iter().filter(|unit| !self.is_silence(*unit)).count()
    }

    /// The tokens of a run that is said beside the words of another model. Its text is at most as likely as `log_prob`.
    fn run_tokens(&self, frames: &[&[f32]], run: &[NumberWord], log_prob: f64) -> Vec<Token> {
        let token = |word: &NumberWord, log_prob: f64| {
            let said = &frames[word.frames.clone()];
            let spans = align(said, &word.units).unwrap_or_default();
            let evidence = self.evidence(said, word.units.iter().copied().zip(spans), log_prob);
            Token {
                evidence,
                ..Token::new(format!("{WORD}{}", word.text), word.frames.start, word.frames.end)
            }
        };
        // The text is the CTC model's own.
        let evidence = run.iter().map(|word| token(word, 0.0).evidence).sum::<Evidence>();
        let log_prob = evidence.means().map_or(0.0, |(acoustic, _)| acoustic).min(log_prob);
        run.iter().map(|word| token(word, log_prob)).collect()
    }
}

/// By how much the log-probability of units, along the likeliest path through all frames, is below that of the likeliest ones.
fn loss(frames: &[&[f32]], units: &[u8]) -> f32 {
    let Some(spans) = align(frames, units) else { return f32::INFINITY };
    let mut path: Vec<Option<u8>> = vec![None; frames.len()];
    for (unit, span) in units.iter().zip(spans) {
        path[span].fill(Some(*unit));
    }
    let loss = |(frame, unit): (&&[f32], Option<u8>)| {
        let likeliest = frame.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let said = unit.map_or(frame.last(), |unit| frame.get(usize::from(unit)));
        likeliest - said.copied().unwrap_or(f32::NEG_INFINITY)
    };
    frames.iter().zip(path).map(loss).sum()
}

/// The frames of a run.
fn span(run: &[NumberWord]) -> Range<usize> {
    run.first().map_or(0, |word| word.frames.start)..run.last().map_or(0, |word| word.frames.end)
}

/// The tokens whose middle is in frames.
fn place(tokens: &[Token], frames: &Range<usize>) -> Range<usize> {
    let middle = |token: &Token| usize::midpoint(token.frame, token.end);
    let start = tokens.partition_point(|token| middle(token) < frames.start);
    start..start + tokens[start..].partition_point(|token| middle(token) < frames.end)
}

/// Puts a run in place of tokens, with the marks around them and their capital.
fn replace(tokens: &mut Vec<Token>, place: Range<usize>, mut run: Vec<Token>) {
    let replaced = &tokens[place.clone()];
    if let (Some(first), Some(replaced)) = (run.first_mut(), replaced.first()) {
        let [before, word, _] = parts(&replaced.text);
        let digit = first.text.trim_start_matches(WORD);
        first.text = format!("{before}{}", capital(digit, word));
    }
    if let (Some(last), Some(replaced)) = (run.last_mut(), replaced.last()) {
        last.text.push_str(parts(&replaced.text)[2]);
    }
    tokens.splice(place, run);
}

/// Whether a text is a letter that is no word: letters that are spelt are no digits.
fn is_letter(text: &str) -> bool {
    let word = parts(text)[1].to_lowercase();
    word.chars().count() == 1 && !["a", "i", "o"].contains(&&word[..])
}

/// The digit that sounds like a word, or the word.
fn digit(word: &str) -> &str {
    HOMOPHONES.iter().find(|(other, _)| *other == word).map_or(word, |(_, digit)| digit)
}

/// Whether the last of these words say that what follows is a string of digits.
fn is_named(before: &[Token]) -> bool {
    let near = &before[before.len().saturating_sub(NEAR)..];
    words(near).iter().any(|word| NAMES.contains(&&word[..]))
}

/// Whether most digits of a run sound like words that are none. Amid other words, it may be those.
fn sounds_like_others(run: &[NumberWord]) -> bool {
    let is_word = |digit| HOMOPHONES.iter().any(|(word, other)| *other == digit && word.len() > 1);
    2 * run.iter().filter(|word| is_word(word.text)).count() > run.len()
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

/// The words of tokens in lower case, without marks.
fn words(tokens: &[Token]) -> Vec<String> {
    let letters = |token: &Token| token.text.to_lowercase();
    let text = tokens.iter().map(letters).collect::<Vec<_>>().join(" ");
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{numbers::tests::frames, units::Units},
        *,
    };

    const UNLIKELY: f64 = -0.5;

    /// What becomes of a text where something is said.
    fn written(said: &str, text: &str, log_prob: f64) -> String {
        let letters = ('a'..='z').zip(1..).map(|(letter, n)| format!("{letter} {n}"));
        let units = letters.collect::<Vec<_>>().join("\n");
        let units = Units::parse(format!("{WORD} 0\n{units}\n<blk> 27\n").into_bytes()).unwrap();
        let spelling = Spelling::of(&units).unwrap();
        let frames = frames(said);
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let tokens = spelling.tokens(frames.iter().copied(), text, log_prob);
        let tokens = spelling.with_numbers(&frames, tokens, log_prob);
        tokens.iter().map(|token| &token.text[..]).collect::<String>().replace(WORD, " ").trim().to_owned()
    }

    #[test]
    fn a_run_replaces_other_words_in_its_frames() {
        for (said, text, expected) in [
            ("call nine eight seven now", "Call eye seven, now.", "Call nine eight seven, now."),
            ("two one zero", "Two one the arrow.", "Two one zero."),
            ("triple nine", "Triple dine.", "Triple nine."),
            ("two oh six", "Two or six.", "Two oh six."),
            ("two four six", "Two for sick.", "Two four six."),
            ("it is for us", "It is for us.", "It is for us."),
            ("i need one four two days", "I need one for two days.", "I need one for two days."),
            ("code is four two one", "Code is for two, one.", "Code is four two, one."),
        ] {
            assert_eq!(written(said, text, UNLIKELY), expected, "{said}");
        }
    }

    #[test]
    fn numbers_stay_where_they_are_likely() {
        assert_eq!(written("nine one seven", "Ninety, seven.", -0.1), "Ninety, seven.");
        assert_eq!(written("nine one seven", "Ninety, seven.", UNLIKELY), "Nine one seven.");
        assert_eq!(written("four one two", "For won, to.", -0.1), "Four one, two.", "they sound alike");
        assert_eq!(written("four one two", "For won, to.", UNLIKELY), "Four one, two.");
    }

    #[test]
    fn letters_that_are_spelt_stay() {
        for text in ["A B E I V", "A-B-E-I-V."] {
            assert_eq!(written("eight eight five", text, UNLIKELY), text);
        }
    }
}
