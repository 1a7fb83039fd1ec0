//! The numbers of Panjabi: the meaning of a word, and a number in words.

use std::{collections::HashMap, sync::LazyLock};

use super::{number::Number, token::Meaning};

/// The words of 0 to 99. The first form is the one that is written; those behind a slash are read too, and so are those that
/// [`spellings`] makes of them.
const SMALL: &str = "ਸਿਫ਼ਰ/ਸਿਫਰ/ਜ਼ੀਰੋ/ਜੀਰੋ ਇੱਕ/ਇਕ ਦੋ ਤਿੰਨ/ਤਿਨ/ਤਿਂਨ ਚਾਰ ਪੰਜ/ਪਂਜ ਛੇ/ਛੀ ਸੱਤ/ਸਤ ਅੱਠ/ਅਠ ਨੌਂ/ਨੌ ਦਸ/ਦੱਸ ਗਿਆਰਾਂ/ਗਿਆਰਾ ਬਾਰਾਂ/ਬਾਰਾ \
    ਤੇਰਾਂ ਚੌਦਾਂ/ਚੌਦਾ ਪੰਦਰਾਂ/ਪੰਦਰਾ ਸੋਲਾਂ/ਸੋਲਾ ਸਤਾਰਾਂ/ਸਤਾਰਾ/ਸੱਤਾਰਾਂ ਅਠਾਰਾਂ/ਅਠਾਰਾ/ਅੱਠਾਰਾਂ ਉੱਨੀ/ਉਨੀ/ਉੰਨੀ/ਉਂਨੀ ਵੀਹ/ਵੀਂਹ/ਬੀਸ \
    ਇੱਕੀ/ਇਕੀ ਬਾਈ ਤੇਈ/ਤੇਈਂ ਚੌਵੀ/ਚੌਬੀ ਪੱਚੀ/ਪੰਝੀ ਛੱਬੀ/ਛਬੀ ਸਤਾਈ/ਸੱਤਾਈ ਅਠਾਈ/ਅੱਠਾਈ ਉਨੱਤੀ/ਉਣੱਤੀ/ਉਣਤੀ ਤੀਹ/ਤੀਂਹ/ਤੀਸ \
    ਇਕੱਤੀ/ਇਕਤੀ/ਇੱਕਤੀ/ਅਕੱਤੀ ਬੱਤੀ ਤੇਤੀ/ਤੇਂਤੀ/ਤੈਂਤੀ ਚੌਂਤੀ/ਚੌਤੀ ਪੈਂਤੀ/ਪੈਤੀ ਛੱਤੀ ਸੈਂਤੀ/ਸੈਤੀ ਅਠੱਤੀ/ਅਠਤੀ/ਅੱਠਤੀ/ਅੜਤੀਸ \
    ਉਨਤਾਲੀ/ਉਣਤਾਲੀ/ਉੱਨਤਾਲੀ ਚਾਲੀ ਇਕਤਾਲੀ/ਇੱਕਤਾਲੀ/ਅਕਤਾਲੀ ਬਿਆਲੀ/ਬਤਾਲੀ/ਬਿਤਾਲੀ ਤਰਤਾਲੀ/ਤਿਰਤਾਲੀ/ਤੰਤਾਲੀ/ਤੇਤਾਲੀ/ਤਿੰਤਾਲੀ/ਤਿਤਾਲੀ \
    ਚੁਤਾਲੀ/ਚਵਾਲੀ/ਚੌਤਾਲੀ/ਚੁਆਲੀ/ਚੌਂਤਾਲੀ ਪੰਤਾਲੀ/ਪੈਂਤਾਲੀ/ਪੈਤਾਲੀ/ਪਚਤਾਲੀ ਛਿਆਲੀ/ਛਤਾਲੀ/ਛਿਤਾਲੀ ਸੰਤਾਲੀ/ਸੈਂਤਾਲੀ ਅਠਤਾਲੀ/ਅੜਤਾਲੀ/ਅੱਠਤਾਲੀ \
    ਉਨੰਜਾ/ਉਣੰਜਾ/ਉਨਵੰਜਾ/ਉਣਵੰਜਾ ਪੰਜਾਹ/ਪਚਾਸ ਇਕਵੰਜਾ/ਇੱਕਵੰਜਾ/ਅਕਵੰਜਾ ਬਵੰਜਾ/ਬਾਵਨ ਤਰਵੰਜਾ/ਤਿਰਵੰਜਾ/ਤਰੇਵੰਜਾ/ਤਿਰਪਨ \
    ਚੁਰੰਜਾ/ਚੁਰਵੰਜਾ/ਚੌਰੰਜਾ/ਚਵੰਜਾ/ਚੁਵੰਜਾ/ਚੌਵੰਜਾ/ਚੌਵਨ ਪਚਵੰਜਾ/ਪਚਪਨ/ਪਚੰਜਾ ਛਪੰਜਾ/ਛਪਿੰਜਾ/ਛਵੰਜਾ/ਛਿਪੰਜਾ/ਛੱਪਨ ਸਤਵੰਜਾ/ਸੱਤਵੰਜਾ/ਸਤਾਵਨ ਅਠਵੰਜਾ/ਅੱਠਵੰਜਾ/ਅਠਾਵਨ \
    ਉਨਾਹਠ/ਉਣਾਹਠ/ਉਨਾਠ/ਉਣਾਠ ਸੱਠ/ਸਠ/ਸਾਠ ਇਕਾਹਠ/ਇਕਾਠ/ਅਕਾਹਠ/ਇਕਸਠ ਬਾਹਠ/ਬਾਠ ਤਰੇਹਠ/ਤਰੇਠ/ਤਿਰੇਹਠ/ਤ੍ਰੇਹਠ ਚੌਂਹਠ/ਚੌਹਠ/ਚੌਂਠ/ਚੌਠ ਪੈਂਹਠ/ਪੈਂਠ/ਪੈਹਠ \
    ਛਿਆਹਠ/ਛਿਆਠ ਸਤਾਹਠ/ਸਤਾਠ/ਸੱਤਾਹਠ/ਸੜਸਠ ਅਠਾਹਠ/ਅਠਾਠ/ਅੱਠਾਹਠ/ਅੜਸਠ ਉਨੱਤਰ/ਉਣੱਤਰ/ਉਨਹੱਤਰ/ਉਣਹੱਤਰ ਸੱਤਰ ਇਕੱਤਰ/ਇਕਹੱਤਰ/ਇੱਕਹੱਤਰ/ਅਕਹੱਤਰ ਬਹੱਤਰ \
    ਤਿਹੱਤਰ/ਤਹੱਤਰ/ਤੇਹੱਤਰ ਚੁਹੱਤਰ/ਚੌਹੱਤਰ/ਚਹੱਤਰ ਪਚੱਤਰ/ਪੰਝੱਤਰ/ਪਚਹੱਤਰ/ਪੰਜੱਤਰ/ਪੰਜਹੱਤਰ/ਪਛੱਤਰ/ਪਿਚੱਤਰ ਛਿਹੱਤਰ/ਛਹੱਤਰ/ਛੇਹੱਤਰ \
    ਸਤੱਤਰ/ਸਤਹੱਤਰ/ਸੱਤਹੱਤਰ ਅਠੱਤਰ/ਅਠਹੱਤਰ/ਅੱਠਹੱਤਰ ਉਨਾਸੀ/ਉਣਾਸੀ/ਉਨਿਆਸੀ/ਉਣਿਆਸੀ ਅੱਸੀ ਇਕਾਸੀ/ਇਕਿਆਸੀ/ਅਕਾਸੀ ਬਿਆਸੀ ਤਰਾਸੀ/ਤਿਰਾਸੀ/ਤਿਆਸੀ \
    ਚੁਰਾਸੀ/ਚੌਰਾਸੀ/ਚਰਾਸੀ ਪਚਾਸੀ/ਪੰਜਾਸੀ/ਪੰਚਾਸੀ/ਪਿਚਾਸੀ ਛਿਆਸੀ ਸਤਾਸੀ/ਸੱਤਾਸੀ ਅਠਾਸੀ/ਅੱਠਾਸੀ ਉਨਾਨਵੇਂ/ਉਣਾਨਵੇਂ/ਨਵਾਸੀ ਨੱਬੇ/ਨੱਵੇ/ਨਵ੍ਹੇ \
    ਇਕਾਨਵੇਂ/ਇਕਿਆਨਵੇਂ/ਅਕਾਨਵੇਂ/ਇੱਕਾਨਵੇਂ ਬਾਨਵੇਂ/ਬਿਆਨਵੇਂ ਤਰਾਨਵੇਂ/ਤਿਰਾਨਵੇਂ/ਤਿਆਨਵੇਂ ਚੁਰਾਨਵੇਂ/ਚੌਰਾਨਵੇਂ/ਚਰਾਨਵੇਂ \
    ਪਚਾਨਵੇਂ/ਪੰਚਾਨਵੇਂ/ਪਚਿਆਨਵੇਂ/ਪੰਜਾਨਵੇਂ ਛਿਆਨਵੇਂ ਸਤਾਨਵੇਂ/ਸੱਤਾਨਵੇਂ ਅਠਾਨਵੇਂ/ਅੱਠਾਨਵੇਂ \
    ਨੜਿੰਨਵੇਂ/ਨਿੜਾਨਵੇਂ/ਨਿਨਾਨਵੇਂ/ਨੜਿੱਨਵੇਂ/ਨਿਆਨਵੇਂ/ਨੜਾਨਵੇਂ";
/// Words that usually mean something else: one as an article, a vocative, a lamp, collected, tell, seven as truth, names.
const DOUBTFUL: [&str; 18] = [
    "ਇੱਕ",
    "ਇਕ",
    "ਬਾਈ",
    "ਬੱਤੀ",
    "ਇਕੱਤਰ",
    "ਦੱਸ",
    "ਸਤ",
    "ਛੀ",
    "ਬਾਠ",
    "ਉਨੀ",
    "ਉੰਨੀ",
    "ਉਂਨੀ",
    "ਸਤਾਰਾ",
    "ਸੋਲਾ",
    "ਬੀਸ",
    "ਤੀਸ",
    "ਬਾਵਨ",
    "ਸਾਠ",
];
/// The endings of an ordinal behind a figure, by gender, number and case.
const ENDINGS: [&str; 6] = ["ਵਾਂ", "ਵੀਂ", "ਵੇਂ", "ਵਾ", "ਵੀ", "ਵੇ"];
const SCALES: [(&str, u64); 5] =
    [("ਅਰਬ", 1_000_000_000), ("ਕਰੋੜ/ਕ੍ਰੋੜ", 10_000_000), ("ਲੱਖ/ਲਖ", 100_000), ("ਹਜ਼ਾਰ/ਹਜਾਰ", 1000), ("ਸੌ", 100)];
const OTHERS: [(&str, Meaning); 16] = [
    ("ਮਿਲੀਅਨ", Meaning::Scale(1_000_000)),
    ("ਬਿਲੀਅਨ", Meaning::Scale(1_000_000_000)),
    ("ਟ੍ਰਿਲੀਅਨ/ਟਰਿਲੀਅਨ", Meaning::Scale(1_000_000_000_000)),
    ("ਖਰਬ/ਖ਼ਰਬ", Meaning::Scale(100_000_000_000)),
    ("ਡੇਢ/ਡੇੜ/ਡੇੜ੍ਹ/ਡੇਡ/ਡੇਢ਼/ਡੂਢ/ਡਿਉਢ/ਡਿਓਢ", Meaning::Quarters(6)),
    ("ਢਾਈ/ਅਢਾਈ/ਅੜ੍ਹਾਈ", Meaning::Quarters(10)),
    ("ਸਾਢੇ/ਸਾਢ਼ੇ/ਸਾੜ੍ਹੇ/ਸਾਡ੍ਹੇ", Meaning::Adding(2)),
    ("ਸਵਾ", Meaning::Adding(1)),
    ("ਪੌਣੇ/ਪੌਣਾ/ਪੌਣੀ/ਪੋਣੇ/ਪੌਨੇ", Meaning::Adding(-1)),
    ("ਅੱਧਾ/ਅੱਧੇ/ਅੱਧੀ/ਅੱਧ", Meaning::Part(2)),
    ("ਦਸ਼ਮਲਵ/ਪੁਆਇੰਟ", Meaning::Point),
    ("ਡਬਲ", Meaning::Repeat(2)),
    ("ਟ੍ਰਿਪਲ/ਟਰਿਪਲ", Meaning::Repeat(3)),
    ("ਕੁ", Meaning::About),
    ("ਵਜੇ/ਵੱਜੇ/ਵੱਜ/ਵਜ/ਵੱਜਣ/ਵਜਣ/ਵੱਜਕੇ/ਵਜਕੇ", Meaning::OClock),
    ("ਸੈਂਕੜਾ/ਸੈਂਕੜੇ/ਸੈਂਕੜਿਆਂ/ਸੈਂਕੜੀਆਂ/ਹਜ਼ਾਰਾਂ/ਹਜਾਰਾਂ/ਲੱਖਾਂ/ਲੱਖਾ/ਕਰੋੜਾਂ/ਅਰਬਾਂ/ਖਰਬਾਂ/ਨੀਲ/ਪਦਮ/ਸ਼ੰਖ", Meaning::Unread),
];
/// The ordinals that are not their number with ਵਾਂ.
const ORDINALS: [(&str, u64); 4] = [
    ("ਪਹਿਲਾ/ਪਹਿਲੀ/ਪਹਿਲੇ/ਇੱਕਵਾਂ/ਇੱਕਵੀਂ/ਇੱਕਵੇਂ", 1),
    ("ਦੂਜਾ/ਦੂਜੀ/ਦੂਜੇ/ਦੂਸਰਾ/ਦੂਸਰੀ/ਦੂਸਰੇ", 2),
    ("ਤੀਜਾ/ਤੀਜੀ/ਤੀਜੇ/ਤੀਸਰਾ/ਤੀਸਰੀ/ਤੀਸਰੇ", 3),
    ("ਚੌਥਾ/ਚੌਥੀ/ਚੌਥੇ", 4),
];

/// The form of each number below 100 that is written.
static WRITTEN: LazyLock<Vec<&str>> = LazyLock::new(|| SMALL.split_whitespace().map(first).collect());

/// The meaning of each word.
static MEANINGS: LazyLock<HashMap<String, Meaning>> = LazyLock::new(|| {
    let mut meanings = HashMap::new();
    let mut add = |forms: &str, meaning: Meaning| {
        for form in forms.split('/') {
            meanings.entry(form.to_owned()).or_insert(meaning);
        }
    };
    for (forms, meaning) in OTHERS {
        add(forms, meaning);
    }
    for (forms, scale) in SCALES {
        add(forms, Meaning::Scale(scale));
    }
    for (forms, n) in ORDINALS {
        add(forms, Meaning::Ordinal(n));
    }
    for (n, forms) in (0..).zip(SMALL.split_whitespace()) {
        for form in forms.split('/').flat_map(spellings) {
            add(&form, Meaning::Small(n));
            for stem in [stem(&form), &form].into_iter().filter(|_| n >= 5) {
                for ending in ENDINGS {
                    add(&format!("{stem}{ending}"), Meaning::Ordinal(n));
                }
            }
        }
    }
    for (forms, scale) in SCALES {
        for ending in ["ਵਾਂ", "ਵੀਂ", "ਵੇਂ"] {
            add(&format!("{}{ending}", first(forms)), Meaning::OrdinalScale(scale));
        }
    }
    meanings
});

fn first(forms: &str) -> &str {
    forms.split('/').next().unwrap_or(forms)
}

/// A word of a number, and its spellings by region: ਬਾਨਵੇਂ and ਬਾਣਵੇਂ, ਬਵੰਜਾ and ਬਵਿੰਜਾ, with and without the last bindi; and
/// as in Hindi: ਬਾਹਠ and ਬਾਸਠ, ਬਾਈ and ਬਾਈਸ.
fn spellings(form: &str) -> Vec<String> {
    let mut spellings = vec![form.to_owned()];
    if let Some(stem) = form.strip_suffix("ਨਵੇਂ") {
        spellings.extend(["ਣਵੇਂ", "ਨਵੇ", "ਣਵੇ"].map(|ending| format!("{stem}{ending}")));
    }
    if let Some(stem) = form.strip_suffix("ਵੰਜਾ") {
        spellings.push(format!("{stem}ਵਿੰਜਾ"));
    }
    if let Some(stem) = form.strip_suffix("ਹਠ") {
        spellings.push(format!("{stem}ਸਠ"));
    }
    if ["ਨੀ", "ਕੀ", "ਈ", "ਵੀ", "ਬੀ", "ਚੀ", "ਤੀ", "ਲੀ"].iter().any(|ending| form.ends_with(ending))
    {
        spellings.push(format!("{form}ਸ"));
    }
    spellings
}

/// What an ordinal's ending is added to: ਗਿਆਰਾਂ has ਗਿਆਰਵਾਂ, ਨੌਂ has ਨੌਵਾਂ.
fn stem(word: &str) -> &str {
    word.strip_suffix("ਾਂ").or_else(|| word.strip_suffix('ਂ')).unwrap_or(word)
}

/// What a word means in a number, and whether it is doubtful alone.
pub(super) fn meaning(word: &str) -> Option<(Meaning, bool)> {
    // ਬਾਰ੍ਹਾਂ is spelt with the breath that is heard, ਚਾਲ਼ੀ with the dot that is.
    let plain = || {
        MEANINGS
            .get(&word.replace("੍ਹ", "").replace("ਲ\u{a3c}", "ਲ"))
            .filter(|_| word.contains(['੍', '\u{a3c}']))
    };
    let meaning = *MEANINGS.get(word).or_else(plain)?;
    let is_doubtful = match meaning {
        Meaning::Small(_) => DOUBTFUL.contains(&word),
        Meaning::Adding(_)
        | Meaning::Point
        | Meaning::Repeat(_)
        | Meaning::About
        | Meaning::Unread
        | Meaning::Part(_) => true,
        _ => false,
    };
    Some((meaning, is_doubtful))
}

/// Whether letters behind a figure make it an ordinal.
pub(super) fn is_ending(letters: &str) -> bool {
    ENDINGS.contains(&letters)
}

/// The ending behind a figure that an ordinal in words has: ਵੀਂ of ਤੀਜੀ.
pub(super) fn ending(ordinal: &str) -> &'static str {
    match ordinal.trim_end_matches('ਂ').chars().next_back() {
        Some('ੀ') => "ਵੀਂ",
        Some('ੇ') => "ਵੇਂ",
        _ => "ਵਾਂ",
    }
}

/// What an ordinal in words has behind its number: ਵੀਂ of ਪੰਜਵੀਂ, ਜੀ of ਤੀਜੀ and of ਤੀਸਰੀ.
pub(super) fn own_ending(ordinal: &str) -> String {
    let ending = ending(ordinal);
    let consonant = ordinal.chars().rev().nth(1).filter(|_| !ordinal.ends_with('ਂ'));
    let Some(consonant) = consonant else { return ending.to_owned() };
    let vowel = ending.chars().nth(1).unwrap_or('ਾ');
    format!("{}{vowel}", if consonant == 'ਰ' { 'ਜ' } else { consonant })
}

/// An ordinal with the gender, number and case of an ending: ਤੀਜਾ with ਵੀਂ is ਤੀਜੀ. Other words stay.
pub(super) fn with_ending(words: &str, ending: &str) -> String {
    let last = words.rsplit(' ').next().unwrap_or(words);
    let vowel = ending.chars().nth(1).unwrap_or('ਾ');
    match (meaning(last), words.rfind('ਾ')) {
        (Some((Meaning::Ordinal(_) | Meaning::OrdinalScale(_), _)), Some(at)) => {
            let (head, tail) = words.split_at(at);
            format!("{head}{vowel}{}", &tail['ਾ'.len_utf8()..])
        }
        _ => words.to_owned(),
    }
}

/// The name of a scale.
pub(super) fn scale(scale: u64) -> &'static str {
    let scales = SCALES.iter().chain([&("ਮਿਲੀਅਨ", 1_000_000), &("ਟ੍ਰਿਲੀਅਨ", 1_000_000_000_000)]);
    scales.into_iter().find_map(|(forms, n)| (*n == scale).then(|| first(forms))).unwrap_or_default()
}

/// A number in words.
pub(super) fn words(number: &Number) -> String {
    match number {
        Number::Quarters(quarters) => mixed(*quarters),
        Number::Decimal(whole, digits) => decimal(*whole, digits),
        Number::Year(year) if *year < 2000 => match year % 100 {
            0 => format!("{} ਸੌ", small(year / 100)),
            rest => format!("{} ਸੌ {}", small(year / 100), small(rest)),
        },
        Number::Year(year) => cardinal(*year),
        Number::Ordinal(n) => ordinal(*n),
        Number::Clock(hour, minute) if minute % 15 == 0 => {
            format!("{} ਵਜੇ", mixed(4 * u64::from(*hour) + u64::from(*minute / 15)))
        }
        Number::Clock(hour, minute) => {
            format!("{} ਵੱਜ ਕੇ {} ਮਿੰਟ", small(u64::from(*hour)), small(u64::from(*minute)))
        }
    }
}

fn small(n: u64) -> &'static str {
    usize::try_from(n).ok().and_then(|n| WRITTEN.get(n)).copied().unwrap_or_default()
}

fn mixed(quarters: u64) -> String {
    let (whole, part) = (quarters / 4, quarters % 4);
    match (whole, part) {
        (_, 0) => cardinal(whole),
        (0, 1) => "ਚੌਥਾਈ".to_owned(),
        (0, 2) => "ਅੱਧਾ".to_owned(),
        (0, _) => "ਪੌਣਾ".to_owned(),
        (1, 1) => "ਸਵਾ".to_owned(),
        (1, 2) => "ਡੇਢ".to_owned(),
        (2, 2) => "ਢਾਈ".to_owned(),
        // Before a scale these words would count the scale: ਸਵਾ ਸੌ is 125.
        (99.., part) => decimal(
            whole,
            [[0, 0], [2, 5], [5, 0], [7, 5]]
                .get(usize::try_from(part).unwrap_or(0))
                .map_or(&[], |digits| digits),
        ),
        (_, 1) => format!("ਸਵਾ {}", cardinal(whole)),
        (_, 2) => format!("ਸਾਢੇ {}", cardinal(whole)),
        (_, _) => format!("ਪੌਣੇ {}", cardinal(whole + 1)),
    }
}

fn decimal(whole: u64, digits: &[u8]) -> String {
    let digits = digits.iter().map(|digit| format!(" {}", small(u64::from(*digit))));
    format!("{} ਦਸ਼ਮਲਵ{}", cardinal(whole), digits.collect::<String>())
}

fn cardinal(n: u64) -> String {
    if n < 100 {
        return small(n).to_owned();
    }
    let scale = SCALES.iter().find(|(_, scale)| n >= *scale);
    let (name, scale) = scale.map_or(("ਸੌ", 100), |(forms, scale)| (first(forms), *scale));
    let head = format!("{} {name}", cardinal(n / scale));
    if n.is_multiple_of(scale) { head } else { format!("{head} {}", cardinal(n % scale)) }
}

fn ordinal(n: u64) -> String {
    let (head, last) = if n > 100 { (n - n % 100, n % 100) } else { (0, n) };
    let irregular = ORDINALS.iter().find(|(_, other)| *other == last);
    match irregular {
        Some(_) if head > 0 && last == 1 => format!("{} ਇੱਕਵਾਂ", cardinal(head)),
        Some((forms, _)) if head > 0 => format!("{} {}", cardinal(head), first(forms)),
        Some((forms, _)) => first(forms).to_owned(),
        None => format!("{}ਵਾਂ", stem(&cardinal(n))),
    }
}

/// All words of numbers.
pub(super) fn forms() -> impl Iterator<Item = (&'static str, Meaning)> {
    MEANINGS.iter().map(|(form, meaning)| (form.as_str(), *meaning))
}
