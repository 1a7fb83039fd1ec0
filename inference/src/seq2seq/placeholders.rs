//! Placeholders: what a translation must copy is replaced by single characters before the network sees a text, and put
//! back afterwards.
//!
//! A placeholder is one character of Unicode's private use area: U+E000 to U+E009 for numbers, U+E010 to U+E019 for
//! everything else. The kth item of a kind in a text gets the kth character; items behind the tenth of a kind stay as they
//! are. A private-use character in a text is itself copied as a word, so the text of a user cannot be taken for a
//! placeholder.
//!
//! The text is read from left to right. At a place that no letter, digit, mark or underscore precedes, the first of these
//! that fits is taken, as long as its pattern allows; [`items`] says it exactly.
//!
//! 1. web addresses, e-mail and payment addresses, host names;
//! 2. format specifiers (%1$s), names in braces or angle brackets, private-use characters;
//! 3. numbers with their signs, separators, currency sign before and %, /- or in Panjabi °C behind, in Latin or
//!    Gurmukhi digits.
//!    Two or more groups of digits with single spaces between are one number where each later group has two digits or
//!    more. A number with small Latin letters behind (5kg, 14th, 10am) is the number alone; with others (4G, 64GB) it is
//!    a word;
//! 4. words of Latin letters with digits (IPv4, COVID-19);
//! 5. numbers in words ([`numbers::phrases`]), which are tried first where they begin with digits (6 ਵੱਜ ਕੇ 10 ਮਿੰਟ);
//! 6. names of the lexicon, the longest first;
//! 7. in Panjabi, runs of Latin words;
//! 8. runs of characters that neither language writes (other scripts, emoji).
//!
//! A number in digits is put back as it stood; in English always with Latin digits. A number in words is put back in words
//! of the target, and so are a scale behind digits (5 ਲੱਖ), a sign in words before a number (minus 5), and hundredth parts and
//! the part of the day behind one (50 paise, 7 pm). A sum with its hundredth parts is one number. An ordinal in words keeps its ending behind its placeholder, as one
//! in digits does: the ending that the translation has gives it its form. A name of the lexicon is put back in the script
//! of the target.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::lexicon::Lexicon;
use crate::{
    numbers::{self, Language, Phrase},
    text::{continues_a_word, latin_digit},
};

/// The number of placeholders of a kind.
pub(super) const LIMIT: usize = 10;
const NUMBERS: char = '\u{e000}';
const WORDS: char = '\u{e010}';

/// All characters that a tokeniser with placeholders keeps for them and for later uses.
pub(super) fn reserved() -> impl Iterator<Item = char> {
    let placeholders = placeholders(NUMBERS).chain(placeholders(WORDS));
    placeholders.chain('\u{e020}'..='\u{e02f}')
}

fn placeholders(first: char) -> impl Iterator<Item = char> {
    (first..).take(LIMIT)
}

/// A text with placeholders, and what each one stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Masked {
    pub(super) text: String,
    /// In the order of the text.
    pub(super) values: Vec<(char, String)>,
    /// Whether the text has more than [`LIMIT`] items of a kind; those behind stay in the text.
    pub(super) is_full: bool,
    /// Whether a number of the text may mean something else than what stands for it.
    pub(super) is_unsure: bool,
}

impl Masked {
    /// Whether anything is left to translate: letters of either script, or there is nothing to copy.
    pub(super) fn is_translated(&self) -> bool {
        self.values.is_empty()
            || self.text.chars().any(|c| c.is_ascii_alphabetic() || ('\u{a00}'..='\u{a7f}').contains(&c))
    }

    /// The placeholders, in the order of the text.
    pub(super) fn placeholders(&self) -> Vec<char> {
        self.values.iter().map(|(placeholder, _)| *placeholder).collect()
    }

    /// What a placeholder stands for.
    fn value(&self, placeholder: char) -> Option<&str> {
        self.values.iter().find_map(|(c, value)| (*c == placeholder).then_some(value.as_str()))
    }

    /// A translation with a space where a value in Latin letters and Gurmukhi letters would be one word. A point or an
    /// underscore may stand between them.
    pub(super) fn apart(&self, translation: &str) -> String {
        let is_latin = |c: char| c.is_ascii_alphabetic();
        let is_gurmukhi = |c: char| ('\u{a00}'..='\u{a7f}').contains(&c);
        let mut text = String::with_capacity(translation.len());
        for c in translation.chars() {
            let before = text.trim_end_matches(['.', '_']).chars().next_back();
            let ends_in_latin = |c: char| self.value(c).is_some_and(|value| value.ends_with(is_latin));
            let begins_latin = self.value(c).is_some_and(|value| value.starts_with(is_latin));
            let is_mixed = (begins_latin && before.is_some_and(is_gurmukhi))
                || (is_gurmukhi(c) && before.is_some_and(ends_in_latin));
            if is_mixed {
                text.push(' ');
            }
            text.push(c);
        }
        text
    }

    /// The text of which nothing is left to translate, with its last mark as the language writes it if the text has numbers
    /// in words.
    pub(super) fn untranslated(&self, to: Option<Language>) -> String {
        let is_in_words = self.values.iter().any(|(placeholder, value)| is_in_words(*placeholder, value));
        let (theirs, ours) = if to == Some(Language::English) { ('।', '.') } else { ('.', '।') };
        match self.text.strip_suffix(theirs).filter(|_| is_in_words) {
            Some(text) => format!("{text}{ours}"),
            None => self.text.clone(),
        }
    }

    /// A translation with each placeholder replaced by what it stands for. A value that is missing is appended. A number in
    /// words begins an English sentence with a capital.
    pub(super) fn restore(&self, translation: &str) -> String {
        let mut text = String::with_capacity(translation.len());
        let mut rest = translation;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match self.value(c) {
                Some(words) if is_in_words(c, words) => {
                    let (words, n_replaced) = numbers::placed(words, rest);
                    rest = &rest[n_replaced..];
                    if text.ends_with(continues_a_word) {
                        text.push(' ');
                    }
                    let begins = !text.contains(char::is_alphanumeric);
                    let n_capital = words.chars().next().filter(|_| begins).map_or(0, char::len_utf8);
                    text.extend(words[..n_capital].chars().flat_map(char::to_uppercase));
                    text.push_str(&words[n_capital..]);
                }
                Some(value) => {
                    text.push_str(value);
                    rest = &rest[numbers::said_again(value, rest)..];
                }
                None => text.push(c),
            }
        }
        for (_, value) in self.values.iter().filter(|(placeholder, _)| !translation.contains(*placeholder)) {
            text.push(' ');
            text.push_str(value);
        }
        text.trim().to_owned()
    }
}

/// Whether a placeholder stands for a number in words.
fn is_in_words(placeholder: char, value: &str) -> bool {
    placeholder < WORDS && value.starts_with(char::is_alphabetic)
}

/// What is copied: a number, a name of the lexicon, or anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Number,
    Name,
    Word,
}

/// An item that is copied.
pub(super) struct Item {
    /// Its length in bytes.
    pub(super) length: usize,
    pub(super) kind: Kind,
    /// What is put back.
    pub(super) value: String,
    /// What stands behind the placeholder in the text that is translated: the ending of an ordinal.
    ending: &'static str,
}

impl Item {
    fn new(length: usize, kind: Kind, value: impl Into<String>) -> Self {
        Self { length, kind, value: value.into(), ending: "" }
    }

    /// Whether it is a number that has this byte of the text, if it starts at `start`.
    pub(super) fn is_number_at(&self, at: usize, start: usize) -> bool {
        self.kind == Kind::Number && (start..start + self.length).contains(&at)
    }

    /// The item that this one and the next are, if both are one number with the text between them.
    fn joined(&self, next: &Self, between: &str, language: Language) -> Option<Self> {
        let are_numbers = [self, next].iter().all(|item| item.kind == Kind::Number && item.ending.is_empty());
        let (joint, ending) = numbers::between(between, &next.value, language).filter(|_| are_numbers)?;
        let value = format!("{}{joint}{}", self.value, next.value);
        Some(Self { ending, ..Self::new(self.length + between.len() + next.length, Kind::Number, value) })
    }
}

/// Patterns of words to copy that must not be followed by a Latin letter, a Latin digit or an underscore.
static OPEN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"^(?:https?://|www\.)[^\s<>"'()\[\]{}।]*[A-Za-z0-9/]"#,
        r"^[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*",
        r#"^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|edu|gov|io|in|uk)(?:/(?:[^\s<>"'()\[\]{}।]*[A-Za-z0-9/])?)?"#,
    ]
    .map(pattern)
    .to_vec()
});
/// Format specifiers, which must not be followed by a Latin letter or digit.
static SPECIFIER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^%(?:[0-9]\$)?(?:[sdiufx@]|l?[du]|zu)"));
/// Patterns of words to copy whose end is certain.
static CLOSED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"^(?:\{\{[^{}\s]{1,40}\}\}|%?\{[^{}\s]{1,40}\}|</?[A-Za-z][A-Za-z0-9_]{0,40}/?>)",
        "^[\u{e000}-\u{f8ff}]",
    ]
    .map(pattern)
    .to_vec()
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "^[+−-]?[₹$€£]?[0-9੦-੯]+(?:[.,:/–−-][0-9੦-੯]+)*(?: [0-9੦-੯]{2,}(?:[.,:/–−-][0-9੦-੯]+)*)*(?:%|/-)?",
    )
});
static MIXED: LazyLock<Regex> =
    LazyLock::new(|| pattern("^[A-Za-z]+-?[0-9]+[A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)*"));
static LATIN: LazyLock<Regex> =
    LazyLock::new(|| pattern("^[A-Za-z]+(?:['’&+.-][A-Za-z]+)*(?: [A-Za-z]+(?:['’&+.-][A-Za-z]+)*)*"));
static OTHER_SCRIPTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "^[^\u{0}-\u{24f}\u{2bc}\u{300}-\u{36f}\u{964}\u{965}\u{a00}-\u{a7f}\u{2000}-\u{206f}\u{20a0}-\u{20bf}\u{2190}-\u{21ff}\u{2200}-\u{22ff}\u{2100}-\u{214f}\u{e000}-\u{f8ff}]+",
    )
});

/// Compiles one of the constant patterns, which the tests run.
fn pattern(text: &str) -> Regex {
    #[expect(clippy::unwrap_used, reason = "the patterns are constants that the tests compile")]
    Regex::new(text).unwrap()
}

/// What is copied of a text in NFC, each with the byte at which it starts, in order. `phrases` are the text's numbers in words;
/// without them, such numbers stay in the text.
pub(super) fn items(
    text: &str,
    language: Language,
    lexicon: &Lexicon,
    phrases: Option<&[Phrase]>,
) -> Vec<(usize, Item)> {
    let mut items: Vec<(usize, Item)> = Vec::new();
    let mut at = 0;
    let mut before = None;
    while let Some(c) = text[at..].chars().next() {
        let may_begin = !before.is_some_and(continues_a_word)
            || matches!(c, '{' | '<' | '%' | '\u{e000}'..='\u{f8ff}')
            || OTHER_SCRIPTS.is_match(&text[at..]);
        let found = match phrases {
            _ if !may_begin => None,
            Some(phrases) => whole(text, at, language, lexicon, phrases),
            None => item(&text[at..], language, lexicon, None),
        };
        let start = at;
        at += found.as_ref().map_or(c.len_utf8(), |item| item.length);
        before = text[..at].chars().next_back();
        let Some(item) = found else { continue };
        let last = items.last_mut().filter(|_| phrases.is_some());
        let joined = last.and_then(|(first, last)| {
            Some((last.joined(&item, &text[*first + last.length..start], language)?, last))
        });
        match joined {
            Some((joined, last)) => *last = joined,
            None => items.push((start, item)),
        }
    }
    items
}

/// The item at a place of a text; a number with its sign in words, and with what stands behind it.
fn whole(text: &str, at: usize, language: Language, lexicon: &Lexicon, phrases: &[Phrase]) -> Option<Item> {
    let item = |at: usize| {
        let phrase = phrases.iter().find(|phrase| phrase.start == at);
        let mut item = item(&text[at..], language, lexicon, phrase)?;
        if item.kind == Kind::Number && item.ending.is_empty() {
            let (number, rest) = text[at..].split_at(item.length);
            let (length, value) = numbers::with_behind(number, &item.value, rest, language);
            item.length += length;
            item.value = value;
        }
        Some(item)
    };
    let n_sign = numbers::sign(&text[at..]);
    let signed = || {
        let mut number = item(at + n_sign).filter(|item| item.kind == Kind::Number)?;
        number.length += n_sign;
        let rest = &text[at + number.length..];
        number.value = numbers::signed(&text[at..at + n_sign], &number.value, rest, language)?;
        Some(number)
    };
    if n_sign > 0 { signed().or_else(|| item(at)) } else { item(at) }
}

/// Replaces [`items`] of a text by placeholders.
pub(super) fn mask(text: &str, items: impl IntoIterator<Item = (usize, Item)>) -> Masked {
    let mut masked = Masked::default();
    let mut numbers = placeholders(NUMBERS);
    let mut words = placeholders(WORDS);
    let mut at = 0;
    for (start, Item { length, kind, value, ending }) in items {
        let placeholder = match kind {
            Kind::Number => numbers.next(),
            Kind::Name | Kind::Word => words.next(),
        };
        let Some(placeholder) = placeholder else {
            masked.is_full = true;
            continue;
        };
        masked.text.push_str(&text[at..start]);
        masked.text.push(placeholder);
        masked.text.push_str(ending);
        masked.values.push((placeholder, value));
        at = start + length;
    }
    masked.text.push_str(&text[at..]);
    masked
}

/// Whether an item is a web address, an e-mail or payment address, or a host name.
pub(super) fn is_address(written: &str) -> bool {
    OPEN.iter().any(|pattern| pattern.is_match(written))
}

/// The item at the start of a text, if there is one.
fn item(text: &str, language: Language, lexicon: &Lexicon, phrase: Option<&Phrase>) -> Option<Item> {
    let word = |length: usize| Some(Item::new(length, Kind::Word, &text[..length]));
    let open = OPEN.iter().map(|pattern| (pattern, "_"));
    for (pattern, sign) in open.chain([(&*SPECIFIER, "")]) {
        if let Some(found) = pattern.find(text)
            && !text[found.end()..].starts_with(|c: char| c.is_ascii_alphanumeric() || sign.contains(c))
        {
            return word(found.end());
        }
    }
    if let Some(found) = CLOSED.iter().find_map(|pattern| pattern.find(text)) {
        return word(found.end());
    }
    if let Some(Phrase { start, end, words, ending, .. }) = phrase {
        return Some(Item { ending, ..Item::new(end - start, Kind::Number, words) });
    }
    if let Some(found) = NUMBER.find(text) {
        let (length, kind) = number(text, found.as_str());
        if kind == Kind::Word {
            return word(length);
        }
        // °C has a Latin letter, which a network copies by a placeholder only.
        let is_celsius = language == Language::Panjabi && text[length..].starts_with("°C");
        let length = length + if is_celsius { "°C".len() } else { 0 };
        let value = &text[..length];
        let value = if language == Language::Panjabi { latin_digits(value) } else { value.to_owned() };
        return Some(Item::new(length, kind, value));
    }
    if let Some(found) = MIXED.find(text) {
        return word(found.end());
    }
    if let Some((length, value)) = lexicon.find(text, language) {
        return Some(Item::new(length, Kind::Name, value));
    }
    let pattern = if language == Language::Panjabi { LATIN.find(text) } else { None };
    pattern.or_else(|| OTHER_SCRIPTS.find(text)).and_then(|found| word(found.end()))
}

/// The length and the kind of a number at the start of a text, by what stands behind the number.
fn number(text: &str, number: &str) -> (usize, Kind) {
    let rest = &text[number.len()..];
    if rest.starts_with(continues_a_word)
        && let Some(space) = number.rfind(' ')
    {
        return (space, Kind::Number);
    }
    let suffix = &rest[..rest.chars().take_while(char::is_ascii_alphanumeric).count()];
    let is_unit = suffix.bytes().all(|b| b.is_ascii_lowercase()) || ["AM", "PM"].contains(&suffix);
    if number.ends_with('%') || is_unit {
        (number.len(), Kind::Number)
    } else {
        (number.len() + suffix.len(), Kind::Word)
    }
}

fn latin_digits(text: &str) -> String {
    text.chars().map(|c| latin_digit(c, '੦').unwrap_or(c)).collect()
}
