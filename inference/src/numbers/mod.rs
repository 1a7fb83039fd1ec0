//! Numbers in words, in Panjabi and English: finds them in a text, and writes them in words of either language.
//!
//! The grammar, from small to large:
//!
//! - a word of a number: a digit, a number below 100, a scale (hundred, thousand, lakh, crore, million), a fraction (ਡੇਢ, ਢਾਈ,
//!   ਸਾਢੇ, ਸਵਾ, ਪੌਣੇ; half, quarter), an ordinal;
//! - a number: groups of a number below 10,000 and a scale, each scale smaller than the one before, with or without a last
//!   group without a scale;
//! - a run: an ordinal, or numbers one after another with white space or hyphens between, such as the digits of a telephone
//!   number. Digits with commas between are one run, too.
//!
//! Words that are often something else are numbers only where their neighbours say so: `context` has the rules.
//! `phrase` reads them with their signs, times and hundredth parts, as a translation has them.

mod context;
mod english;
mod figure;
mod find;
mod language;
mod link;
mod number;
mod panjabi;
mod parse;
mod phrase;
mod reading;
mod run;
mod times;
mod token;
mod words;
mod written;

use find::find;
pub(crate) use number::Language;
use number::Number;
pub(crate) use phrase::{Phrase, between, phrases, said_again, sign, signed, with_behind};
use run::Run;
use token::Meaning;
pub(crate) use written::{Figure, figures};

use crate::text::continues_a_word;

/// Whether a text has a cardinal above two in words. One and two also stand where a source has no number: ਦੋਵੇਂ, twice.
pub(crate) fn has_many(text: &str, language: Language) -> bool {
    let is_many = |number: &Number| matches!(number, Number::Quarters(quarters) if *quarters > 8);
    find(text, language).iter().flat_map(Run::said).any(|said| is_many(&said.number))
}

/// What stands for a run whose words are `words`, where a translation has `rest` behind it, and how many bytes of the rest it
/// replaces: the ending of an ordinal gives the ordinal its form, and ਵਜੇ is not said twice, nor are "o'clock" and ਵਜੇ behind
/// minutes and rupees behind paise.
pub(crate) fn placed(words: &str, rest: &str) -> (String, usize) {
    const CLOCK: &str = " ਵਜੇ";
    if words.ends_with(CLOCK) && rest.starts_with(CLOCK) {
        return (words.to_owned(), CLOCK.len());
    }
    let clock = [CLOCK, " ਵੱਜੇ"].into_iter().find(|clock| rest.starts_with(clock));
    if let Some(clock) = clock.filter(|_| words.ends_with(" ਮਿੰਟ")) {
        let is_verb = [" ਹਨ", " ਸਨ"].iter().any(|verb| rest[clock.len()..].starts_with(verb));
        return (format!("{words}{}", if is_verb { " ਹੋਏ" } else { " 'ਤੇ" }), clock.len());
    }
    let n_said = said_again(words, rest);
    if n_said > 0 {
        return (words.to_owned(), n_said);
    }
    let behind = rest.strip_prefix('-').unwrap_or(rest);
    let glued = &behind[..behind.find(|c| !continues_a_word(c)).unwrap_or(behind.len())];
    let n_replaced = rest.len() - behind.len() + glued.len();
    if english::is_ending(glued) {
        (words.to_owned(), n_replaced)
    } else if panjabi::is_ending(glued) {
        (panjabi::with_ending(words, glued), n_replaced)
    } else if rest.starts_with(continues_a_word) {
        (format!("{words} "), 0)
    } else {
        (words.to_owned(), 0)
    }
}

/// The words of English digit strings.
pub(crate) fn english_digits() -> impl Iterator<Item = &'static str> {
    english::DIGITS.into_iter().chain(["oh", "double", "triple"])
}

/// Whether an English word is one of a number: a cardinal, an ordinal, a decade, or what stands between them.
pub(crate) fn is_english_number(word: &str) -> bool {
    let is_other = matches!(word, "a" | "to" | "past" | "half" | "quarter" | "quarters" | "second");
    words::is_decade(word) || (english::meaning(word).is_some() && !is_other)
}

/// Whether a word is a digit in words of either language.
pub(crate) fn is_digit(word: &str) -> bool {
    let is_digit = |language: Language| matches!(language.meaning(word), Some((Meaning::Small(0..=9), _)));
    is_digit(Language::English) || is_digit(Language::Panjabi)
}

#[cfg(test)]
mod spelling_tests;
#[cfg(test)]
mod tests;
