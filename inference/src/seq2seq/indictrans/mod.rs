//! What `IndicTrans2` reads of a text, and the text that it writes: the steps of `IndicProcessor` in `IndicTransToolkit`.
//!
//! Before the network, punctuation is made plain, words and marks are set apart, and Gurmukhi becomes Devanagari. Behind
//! it, the same is undone. What is copied follows our own rules ([`super::placeholders`]), but of that only what the
//! network was made to see as `<ID1>`, `<ID2>` and so on: addresses, format specifiers, other scripts and long numbers.
//! It translates the rest better than it copies: short numbers, numbers in words, and Latin words.

mod english;
mod panjabi;
mod punctuation;
mod rules;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{
    lexicon::Lexicon,
    placeholders::{self, Item, Kind, Masked},
};
use crate::numbers::Language;

/// How the network may write `<ID1>`, with Latin letters or transcribed.
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant that the tests compile")]
    Regex::new(
        r"[<\[] ?(?:ID|id) ?([0-9]{1,2}) ?[>\]]|(?:[<\[] ?)?(?:आईडी|आयडी|आइडि|ऐडि|ऐटि|(?:आई|आय|आइ) ?\. ?डी ?\.) ?([0-9]{1,2})(?: ?[>\]])?",
    )
    .unwrap()
});

/// The network's token of a language.
pub(super) const fn tag(language: Language) -> &'static str {
    match language {
        Language::English => "eng_Latn",
        Language::Panjabi => "pan_Guru",
    }
}

/// The text with placeholders for what the network is not to translate. `text` is folded.
pub(super) fn mask(text: &str, language: Language) -> Masked {
    let items = placeholders::items(text, language, &Lexicon::default(), None);
    placeholders::mask(
        text,
        items.into_iter().filter(|(at, item)| is_copied(&text[*at..*at + item.length], item)),
    )
}

/// Whether the network sees an item as a mark. `IndicProcessor` has the same rule for numbers.
fn is_copied(written: &str, item: &Item) -> bool {
    if item.kind == Kind::Word {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " .'’&+-".contains(c);
        return placeholders::is_address(written) || !written.chars().all(is_plain);
    }
    let number = item.value.trim_start_matches(|c: char| !c.is_ascii_digit());
    let n_counted = number.chars().filter(|c| !" .:".contains(*c)).count();
    n_counted >= 4 && (number.contains(['-', '/', '.', ':', '%']) || number.matches(',').count() > 1)
}

/// The text as the network reads it. `placeholders` are those of the text, in order.
pub(super) fn prepare(text: &str, language: Language, placeholders: &[char]) -> String {
    let normalised = punctuation::normalise(text);
    let mark = |c: char| match placeholders.iter().position(|placeholder| *placeholder == c) {
        Some(n) => format!("<ID{}>", n + 1),
        None => c.to_string(),
    };
    let marked: String = normalised.chars().map(mark).collect();
    match language {
        Language::English => english::prepare(&marked),
        Language::Panjabi => panjabi::prepare(&marked),
    }
}

/// The text that the network has written in a language, with the placeholders of the source, which are given in order.
pub(super) fn finish(text: &str, language: Language, placeholders: &[char]) -> String {
    let placeholder = |mark: &Captures<'_>| {
        let number = mark.get(1).or_else(|| mark.get(2)).and_then(|n| n.as_str().parse::<usize>().ok());
        let found = number.and_then(|n| placeholders.get(n.checked_sub(1)?));
        found.map_or_else(|| mark[0].to_owned(), char::to_string)
    };
    let text = MARKS.replace_all(text, placeholder);
    match language {
        Language::English => english::finish(&text),
        Language::Panjabi => panjabi::finish(&text),
    }
}

#[cfg(test)]
mod tests;
