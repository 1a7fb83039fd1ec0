//! The numbers of a text as a translation has them: with their signs, their hundredth parts and their times of the day.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    english,
    find::{find, runs},
    number::{Language, Number},
    panjabi,
    run::Run,
    times::times,
    token::{Meaning, Token},
    words::{AND, CURRENCY_NAMES, HUNDREDTHS, is_listed, names},
};
use crate::text::continues_a_word;

/// The words of a sign. ਰਿਣ is also a debt.
const SIGNS: &str = "minus ਮਨਫ਼ੀ ਮਨਫੀ ਮਾਈਨਸ ਮਾਇਨਸ";
const SIGN_OR_DEBT: &str = "ਰਿਣ";

/// What joins a sum and its hundredth parts, in the order of [`CURRENCY_NAMES`]; into Panjabi also what is left behind it.
const INTO_ENGLISH: [&str; 4] = [" rupees and ", " dollars and ", " euros and ", " pounds and "];
const INTO_PANJABI: [(&str, &str); 4] =
    [(" ਰੁਪਏ ", " rupees"), (" ਡਾਲਰ ", " dollars"), (" ਯੂਰੋ ", " euros"), (" ਪੌਂਡ ", " pounds")];

/// Numbers that stand in a text in words, with what is put in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The byte of the text at which they start.
    pub(crate) start: usize,
    /// The byte behind their end.
    pub(crate) end: usize,
    /// What they are in the other language.
    pub(crate) words: String,
    /// What stands behind the placeholder: the ending of an ordinal, ਵਜੇ.
    pub(crate) ending: &'static str,
    /// Whether all words of numbers here are read, and mean nothing else.
    pub(crate) is_whole: bool,
}

/// The numbers in words of a text, in order.
pub(crate) fn phrases(text: &str, language: Language) -> Vec<Phrase> {
    let tokens = Token::all(text, language);
    let times = times(&tokens, language);
    let is_of_time = |run: &Run| {
        times.iter().any(|time| run.tokens.start < time.words.end && time.words.start < run.tokens.end)
    };
    let runs = runs(&tokens, language).into_iter().filter(|run| !is_of_time(run)).map(|run| Phrase {
        start: run.start,
        end: run.end,
        words: run.words(language.other()),
        ending: run.ending,
        is_whole: run.is_whole,
    });
    let clocks = times.iter().map(|time| Phrase {
        start: tokens[time.words.start].start,
        end: tokens[time.words.end - 1].end,
        words: time.number.words(language.other()),
        ending: time.ending,
        is_whole: true,
    });
    let mut phrases: Vec<Phrase> = runs.chain(clocks).collect();
    // Minus one.
    for pair in tokens.windows(2).filter(|pair| sign(&text[pair[0].start..]) > 0) {
        let Token { start, end, meaning, .. } = pair[1];
        if let Some(Meaning::Small(n)) =
            meaning.filter(|_| !phrases.iter().any(|phrase| phrase.start == start))
        {
            let words = Number::whole(n).words(language.other());
            phrases.push(Phrase { start, end, words, ending: "", is_whole: true });
        }
    }
    phrases.sort_by_key(|phrase| phrase.start);
    phrases
}

/// The length of a sign in words at the start of a text, with the space behind it.
pub(crate) fn sign(text: &str) -> usize {
    let word = first_word(text);
    let is_sign = names(SIGNS, word) || is_listed(SIGN_OR_DEBT, word);
    if is_sign && text[word.len()..].starts_with(' ') { word.len() + 1 } else { 0 }
}

/// A number behind a sign, where `rest` stands behind the number. ਰਿਣ before money is a debt.
pub(crate) fn signed(sign: &str, words: &str, rest: &str, language: Language) -> Option<String> {
    let is_money = CURRENCY_NAMES.iter().any(|list| names(list, first_word(rest.trim_start())));
    let is_debt = is_listed(SIGN_OR_DEBT, sign.trim_end()) && is_money;
    let minus = minus(language.other());
    (!is_debt).then(|| format!("{minus}{words}"))
}

const fn minus(language: Language) -> &'static str {
    match language {
        Language::English => "minus ",
        Language::Panjabi => "ਮਨਫ਼ੀ ",
    }
}

/// A number `source` of a text, which is `words` in the other language, with what stands behind it and is a part of it: scales
/// behind digits, hundredth parts of a currency, am and pm. Also how much of `rest` that is.
pub(crate) fn with_behind(source: &str, words: &str, rest: &str, language: Language) -> (usize, String) {
    let (length, scales) = scales(rest, language);
    if length > 0 {
        return (length, format!("{words}{scales}"));
    }
    let hundredth = rest.strip_prefix(' ').map(first_word).unwrap_or_default();
    if let Some(currency) = HUNDREDTHS.iter().position(|list| names(list, hundredth)) {
        return (1 + hundredth.len(), format!("{words} {}", hundredths(currency, language.other())));
    }
    let half = HALF_OF_DAY.captures(rest).filter(|_| language == Language::English);
    let timed = half.and_then(|half| {
        let is_evening = half[1].eq_ignore_ascii_case("p");
        // The last point also ends the sentence.
        let length = half[0].len() - usize::from(rest.len() == half[0].len() && half[0].ends_with('.'));
        Some((length, time_of_day(source, words, is_evening)?))
    });
    timed.unwrap_or_else(|| (0, words.to_owned()))
}

/// What stands between two numbers in the other language that are one: five rupees and fifty paise, five minus three. Also what
/// is left behind a placeholder for them: a translation into Panjabi needs to know what they count.
pub(crate) fn between(text: &str, second: &str, language: Language) -> Option<(&'static str, &'static str)> {
    if text == " " && second.starts_with(minus(language.other())) {
        return Some((" ", ""));
    }
    let words: Vec<&str> = text.trim().split(' ').collect();
    let (name, and) = (words.first()?, words.get(1));
    let currency = CURRENCY_NAMES.iter().position(|list| names(list, name))?;
    let is_joined = words.len() <= 2 && and.is_none_or(|and| names(AND, and));
    let is_part = second.ends_with(hundredths(currency, language.other()));
    let joint = match language.other() {
        Language::English => (INTO_ENGLISH[currency], ""),
        Language::Panjabi => INTO_PANJABI[currency],
    };
    (is_joined && is_part).then_some(joint)
}

/// The length of what a translation says again behind a number: "o'clock" behind minutes, rupees behind paise.
pub(crate) fn said_again(words: &str, rest: &str) -> usize {
    clock_behind_minutes(words, rest).max(currency_behind_sum(words, rest))
}

/// The length of "o'clock" behind a time whose minutes are said, in words or figures: five fifteen, 5:15.
fn clock_behind_minutes(time: &str, rest: &str) -> usize {
    let Some(clock) = [" o'clock", " o’clock"].into_iter().find(|clock| rest.starts_with(clock)) else {
        return 0;
    };
    let before_last = time.rsplit(' ').nth(1);
    let has_minutes = time.contains(':') || before_last.is_some_and(|word| word != "or" && word != "to");
    if has_minutes { clock.len() } else { 0 }
}

/// The length of a currency behind a sum that ends in its hundredth parts.
fn currency_behind_sum(words: &str, rest: &str) -> usize {
    let name = rest.strip_prefix(' ').map(first_word).unwrap_or_default();
    let currency = CURRENCY_NAMES.iter().position(|list| names(list, name));
    let is_said = currency.is_some_and(|currency| words.ends_with(hundredths(currency, Language::Panjabi)));
    if is_said { 1 + name.len() } else { 0 }
}

const fn hundredths(currency: usize, language: Language) -> &'static str {
    match language {
        Language::English => ["paise", "cents", "cents", "pence"][currency],
        Language::Panjabi => ["ਪੈਸੇ", "ਸੈਂਟ", "ਸੈਂਟ", "ਪੈਂਸ"][currency],
    }
}

/// Am or pm behind a time. Lower-case am with a word before it may be a verb, but a number is none.
static HALF_OF_DAY: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant that the tests compile")]
    Regex::new(r"^ ?(?i:([ap])\.? ?m)\b\.?").unwrap()
});

/// A time in Panjabi, `words`, with its part of the day.
fn time_of_day(source: &str, words: &str, is_evening: bool) -> Option<String> {
    let part = match (hour(source)?, is_evening) {
        (12 | 1..=3, true) => "ਦੁਪਹਿਰ",
        (4..=7, true) => "ਸ਼ਾਮ",
        (8..=11, true) | (12 | 1..=3, false) => "ਰਾਤ",
        (4..=11, false) => "ਸਵੇਰੇ",
        _ => return None,
    };
    let clock =
        if words.ends_with("ਵਜੇ") || words.ends_with("ਮਿੰਟ") { "" } else { " ਵਜੇ" };
    Some(format!("{part} {words}{clock}"))
}

/// The hour of a time, or of the last of two.
fn hour(source: &str) -> Option<u64> {
    if source.starts_with(char::is_numeric) {
        let last = source.rsplit(['-', '–', '−']).next()?;
        return last.split([':', '.']).next()?.parse().ok();
    }
    match &find(&format!("{source} pm"), Language::English).last()?.said().last()?.number {
        Number::Clock(hour, _) => Some(u64::from(*hour)),
        number => number.small(),
    }
}

/// The scales in words that stand behind a figure: their length in bytes with the spaces before them, and their words in the
/// other language. " ਲੱਖ" is " lakh".
pub(super) fn scales(rest: &str, language: Language) -> (usize, String) {
    let mut length = 0;
    let mut words = String::new();
    while let Some(word) = rest[length..].strip_prefix(' ').map(first_word) {
        let Some((Meaning::Scale(scale), _)) = language.meaning(word) else { break };
        let name = match language.other() {
            Language::English => english::scale(scale),
            Language::Panjabi => panjabi::scale(scale),
        };
        length += 1 + word.len();
        words.push(' ');
        words.push_str(name);
    }
    (length, words)
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|c| !continues_a_word(c)).unwrap_or(text.len())]
}

#[cfg(test)]
#[path = "phrase_tests.rs"]
mod tests;
