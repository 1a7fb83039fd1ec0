//! The numbers of English: the meaning of a word, and a number in words.

use super::{number::Number, token::Meaning};

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
pub(super) const DIGITS: [&str; 10] = {
    let [zero, one, two, three, four, five, six, seven, eight, nine, ..] = SMALL;
    [zero, one, two, three, four, five, six, seven, eight, nine]
};
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
/// The ordinals that are not their number with "th".
const ORDINALS: [(&str, u64); 7] =
    [("first", 1), ("second", 2), ("third", 3), ("fifth", 5), ("eighth", 8), ("ninth", 9), ("twelfth", 12)];
const SCALES: [(&str, u64); 11] = [
    ("billion", 1_000_000_000),
    ("million", 1_000_000),
    ("thousand", 1000),
    ("hundred", 100),
    ("crore", 10_000_000),
    ("crores", 10_000_000),
    ("lakh", 100_000),
    ("lakhs", 100_000),
    ("lac", 100_000),
    ("lacs", 100_000),
    ("trillion", 1_000_000_000_000),
];
/// The scales that numbers are written with.
const N_WRITTEN: usize = 4;

/// What a word means in a number, and whether it is doubtful alone.
pub(super) fn meaning(word: &str) -> Option<(Meaning, bool)> {
    let word = &word.to_ascii_lowercase()[..];
    let index = |words: &[&str]| words.iter().position(|other| *other == word && !word.is_empty());
    if let Some(n) = index(&SMALL) {
        return Some((Meaning::Small(n as u64), n == 1));
    }
    if let Some(n) = index(&TENS) {
        return Some((Meaning::Tens(10 * n as u64), false));
    }
    if let Some((_, scale)) = SCALES.iter().find(|(name, _)| *name == word) {
        return Some((Meaning::Scale(*scale), false));
    }
    // Twentyfive.
    let joined = |(tens, name): (usize, &&str)| {
        let unit = SMALL.iter().position(|other| Some(*other) == word.strip_prefix(name))?;
        (tens >= 2 && (1..10).contains(&unit)).then_some(10 * tens + unit)
    };
    if let Some(n) = TENS.iter().enumerate().find_map(joined) {
        return Some((Meaning::Small(n as u64), false));
    }
    let known = match word {
        "oh" | "nought" => (Meaning::Small(0), true),
        "and" => (Meaning::And, true),
        "a" => (Meaning::Article, true),
        "point" => (Meaning::Point, true),
        "double" => (Meaning::Repeat(2), true),
        "triple" => (Meaning::Repeat(3), true),
        "half" => (Meaning::Part(2), true),
        "quarter" | "quarters" => (Meaning::Part(1), true),
        "past" => (Meaning::Hour(1), true),
        "to" => (Meaning::Hour(-1), true),
        "o'clock" | "o’clock" => (Meaning::OClock, true),
        "hundreds" | "thousands" | "millions" | "billions" | "trillions" | "quadrillion" => {
            (Meaning::Unread, true)
        }
        _ => return ordinal(word),
    };
    Some(known)
}

/// All words of cardinals.
pub(super) fn forms() -> impl Iterator<Item = &'static str> {
    SMALL.into_iter().chain(TENS).chain(SCALES.map(|(name, _)| name))
}

/// Whether letters behind a figure make it an ordinal or a plural.
pub(super) fn is_ending(letters: &str) -> bool {
    ["st", "nd", "rd", "th", "s"].contains(&letters)
}

/// The name of a scale.
pub(super) fn scale(scale: u64) -> &'static str {
    if scale == 100_000_000_000 {
        return "hundred billion"; // ਖਰਬ
    }
    SCALES.iter().find_map(|(name, n)| (*n == scale).then_some(*name)).unwrap_or_default()
}

/// The ordinal that a word is.
fn ordinal(word: &str) -> Option<(Meaning, bool)> {
    if let Some((_, n)) = ORDINALS.iter().find(|(name, _)| *name == word) {
        return Some((Meaning::Ordinal(*n), false));
    }
    let stem = word.strip_suffix("th")?;
    if let Some((_, scale)) = SCALES[..N_WRITTEN].iter().find(|(name, _)| *name == stem) {
        return Some((Meaning::OrdinalScale(*scale), false));
    }
    let tens = stem.strip_suffix("ie").map(|stem| format!("{stem}y"));
    let n = match tens {
        Some(tens) => 10 * TENS.iter().position(|other| *other == tens)?,
        None => SMALL.iter().position(|other| *other == stem)?,
    };
    (n > 3).then_some((Meaning::Ordinal(n as u64), false))
}

/// A number in words.
pub(super) fn words(number: &Number) -> String {
    match number {
        Number::Quarters(quarters) => mixed(*quarters),
        Number::Decimal(whole, digits) => {
            let digits = digits.iter().map(|digit| format!(" {}", cardinal(u64::from(*digit))));
            format!("{} point{}", cardinal(*whole), digits.collect::<String>())
        }
        Number::Year(year) if year % 100 == 0 => format!("{} hundred", cardinal(year / 100)),
        Number::Year(year) if year % 100 < 10 => cardinal(*year),
        Number::Year(year) => format!("{} {}", cardinal(year / 100), cardinal(year % 100)),
        Number::Ordinal(n) => ordinal_words(*n),
        Number::Clock(hour, 0) => cardinal(u64::from(*hour)),
        Number::Clock(hour, minute @ 1..=9) => {
            format!("{} oh {}", cardinal(u64::from(*hour)), cardinal(u64::from(*minute)))
        }
        Number::Clock(hour, minute) => {
            format!("{} {}", cardinal(u64::from(*hour)), cardinal(u64::from(*minute)))
        }
    }
}

fn mixed(quarters: u64) -> String {
    let whole = quarters / 4;
    let part = ["", "a quarter", "a half", "three quarters"][(quarters % 4) as usize];
    match (whole, part) {
        (_, "") => cardinal(whole),
        (0, "a half") => "half".to_owned(),
        (0, part) => part.to_owned(),
        _ => format!("{} and {part}", cardinal(whole)),
    }
}

fn cardinal(n: u64) -> String {
    if let Some(word) = usize::try_from(n).ok().and_then(|n| SMALL.get(n)) {
        return (*word).to_owned();
    }
    if n < 100 {
        let tens = TENS[(n / 10) as usize % 10];
        return if n.is_multiple_of(10) { tens.to_owned() } else { format!("{tens}-{}", cardinal(n % 10)) };
    }
    let scale = SCALES[..N_WRITTEN].iter().find(|(_, scale)| n >= *scale);
    let (name, scale) = scale.copied().unwrap_or(("hundred", 100));
    let head = format!("{} {name}", cardinal(n / scale));
    match n % scale {
        0 => head,
        rest @ 1..100 => format!("{head} and {}", cardinal(rest)),
        rest => format!("{head} {}", cardinal(rest)),
    }
}

fn ordinal_words(n: u64) -> String {
    let words = cardinal(n);
    let at = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (head, last) = words.split_at(at);
    let irregular = ORDINALS.iter().find(|(_, n)| cardinal(*n) == last);
    match (irregular, last.strip_suffix('y')) {
        (Some((ordinal, _)), _) => format!("{head}{ordinal}"),
        (None, Some(stem)) => format!("{head}{stem}ieth"),
        (None, None) => format!("{head}{last}th"),
    }
}
