//! Panjabi for `IndicTrans2`: the steps of the Indic NLP library. The network knows Panjabi in the letters of Devanagari.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::Rules;

/// The part of a script's block that the scripts of India have in the same order.
const SHARED: u32 = 0x70;
/// The blocks of the two scripts.
const DEVANAGARI: u32 = 0x900;
const GURMUKHI: u32 = 0xa00;

static NORMALISED: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[
        ("[\u{200c}\u{200d}]", ""),
        ("''", "\""),
        ("…", "..."),
        ("\u{a64}", "।"),
        ("\u{a65}", "॥"),
        (r"\|", "।"),
    ])
});

/// Spaces around punctuation.
static APART: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[("\t", " "), (r##"([!"#$%&'()*+,\-./:;<=>?@\[\]^_`{|}~।॥])"##, " ${1} "), (" +", " ")])
});

/// A number whose parts are apart.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant that the tests compile")]
    Regex::new("(?:[0-9]+ [,.:/] )+[0-9]+").unwrap()
});

/// No spaces where punctuation belongs to a word beside it.
static TOGETHER: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[(r" ([-/\\]) ", "${1}"), (r" ([!%)\]},.:;>?।॥])", "${1}"), (r"([#$(\[{<@]) ", "${1}")])
});

/// Folded Panjabi in Gurmukhi as the network reads it: words and marks apart, in Devanagari.
pub(super) fn prepare(text: &str) -> String {
    let apart = APART.apply(&NORMALISED.apply(text.trim()));
    let apart = joined_numbers(apart.trim_matches(' '));
    let shared = |c: char| moved(c, GURMUKHI, DEVANAGARI);
    apart.chars().map(shared).collect::<String>().replace(" \u{94d} ", "\u{94d}")
}

/// Panjabi in Gurmukhi from what the network writes.
pub(super) fn finish(text: &str) -> String {
    let text: String = text.chars().map(|c| moved(c, DEVANAGARI, GURMUKHI)).collect();
    ['\'', '"', '`']
        .into_iter()
        .fold(TOGETHER.apply(&joined_numbers(&text)), |text, mark| quoted(&text, mark))
}

/// A letter of one script's block, by its place in the other's. Dandas belong to both.
fn moved(c: char, from: u32, to: u32) -> char {
    match u32::from(c).checked_sub(from) {
        Some(place @ 0..SHARED) if !['।', '॥'].contains(&c) => char::from_u32(to + place).unwrap_or(c),
        _ => c,
    }
}

/// The text with each number in one piece: `1 , 000` becomes `1,000`.
fn joined_numbers(text: &str) -> String {
    NUMBER.replace_all(text, |number: &regex::Captures<'_>| number[0].replace(' ', "")).into_owned()
}

/// The text with the quotation marks of a kind beside what they enclose: the first opens, the second closes, and so on.
fn quoted(text: &str, mark: char) -> String {
    let mut quoted = String::with_capacity(text.len());
    let mut opens = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == mark {
            opens = !opens;
            if opens {
                rest.next_if_eq(&' ');
            } else if quoted.ends_with(' ') {
                quoted.pop();
            }
        }
        quoted.push(c);
    }
    quoted
}
