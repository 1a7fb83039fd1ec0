//! Shahmukhi, without the signs of short vowels and of doubled letters, as it is usually printed.
//!
//! Words are looked up in `shahmukhi.tsv`, also with an ending of cases or numbers behind them. The others are written by
//! rules of sound, which cannot know which of several letters of the same sound a word from Arabic or Persian has.

use std::{collections::HashMap, sync::LazyLock};

use unicode_normalization::UnicodeNormalization as _;

use super::letters::{A, Letter, letters};

/// The words that the rules do not write as they are spelt.
static WORDS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("shahmukhi.tsv").lines();
    let words = lines.filter_map(|line| line.split_once('\t'));
    words.map(|(gurmukhi, shahmukhi)| (gurmukhi.nfc().collect(), shahmukhi)).collect()
});

/// Endings that a word that ends in a consonant can have.
const ENDINGS: [&str; 8] = ["ੀਆਂ", "ਾਂ", "ੋਂ", "ੀਂ", "ੇ", "ੀ", "ਾ", "ੋ"];

/// A word of Gurmukhi in Shahmukhi.
pub(super) fn word(gurmukhi: &str) -> String {
    if let Some(whole) = WORDS.get(gurmukhi) {
        return (*whole).to_owned();
    }
    let inflected = ENDINGS.iter().find_map(|ending| {
        let stem = gurmukhi.strip_suffix(ending)?;
        let ends_in_consonant = matches!(letters(stem).last(), Some(Letter::Consonant(_)));
        WORDS
            .get(stem)
            .filter(|_| ends_in_consonant)
            .map(|stem| (*stem).to_owned() + &by_rule(&letters(ending)))
    });
    inflected.unwrap_or_else(|| by_rule(&letters(gurmukhi)))
}

/// A mark as Shahmukhi has it, if it belongs to a text in that script.
pub(super) const fn mark(is_behind_word: bool, mark: char) -> char {
    match mark {
        '।' | '॥' => '۔',
        ',' if is_behind_word => '،',
        '?' if is_behind_word => '؟',
        ';' if is_behind_word => '؛',
        mark => mark,
    }
}

fn by_rule(letters: &[Letter]) -> String {
    let mut written = String::with_capacity(letters.len() * 2);
    for (nth, letter) in letters.iter().enumerate() {
        let before = nth.checked_sub(1).map(|nth| letters[nth]);
        let rest = &letters[nth + 1..];
        match *letter {
            Letter::Consonant(c) => {
                if c == 'ਹ' && before == Some(Letter::Virama) {
                    written.push('ھ');
                } else {
                    written.push_str(consonant(c));
                }
            }
            Letter::Sign(sign) => written.push_str(sign_of(sign, rest)),
            Letter::Vowel(vowel) => match before {
                None => written.push_str(first(vowel, rest)),
                Some(before) => written.push_str(after_vowel(vowel, before, rest)),
            },
            Letter::Nasal(_) => written.push_str(nasal(rest)),
            Letter::Addak | Letter::Virama => (),
            Letter::Other(c) => written.push(c),
        }
    }
    written
}

/// The sign of a vowel behind a consonant. Short vowels are only written where another vowel follows.
fn sign_of(sign: char, rest: &[Letter]) -> &'static str {
    let is_before_vowel = matches!(rest.first(), Some(Letter::Vowel(_)));
    match sign {
        'ਾ' => "ا",
        'ਿ' if is_before_vowel => "ی",
        'ੁ' if is_before_vowel => "و",
        'ਿ' | 'ੁ' => "",
        'ੇ' | 'ੈ' if rest.is_empty() => "ے",
        'ੀ' | 'ੇ' | 'ੈ' => "ی",
        _ => "و",
    }
}

/// A vowel at the start of a word.
fn first(vowel: char, rest: &[Letter]) -> &'static str {
    match vowel {
        'ਾ' => "آ",
        'ੇ' | 'ੈ' if rest.is_empty() => "اے",
        'ੀ' | 'ੇ' | 'ੈ' => "ای",
        'ੂ' | 'ੋ' | 'ੌ' => "او",
        _ => "ا",
    }
}

/// A vowel behind another one, which a hamza carries unless the first one ends in the sound of y or w.
fn after_vowel(vowel: char, before: Letter, rest: &[Letter]) -> &'static str {
    let (Letter::Sign(sound) | Letter::Vowel(sound)) = before else {
        return match vowel {
            'ਾ' => "آ",
            'ੇ' | 'ੈ' if rest.is_empty() => "ئے",
            'ਿ' | 'ੀ' | 'ੇ' | 'ੈ' => "ئی",
            A => "ا",
            _ => "ؤ",
        };
    };
    let is_like_y = matches!(sound, 'ਿ' | 'ੀ');
    match vowel {
        'ਾ' if is_like_y || sound == 'ੁ' => "ا",
        'ਾ' => "آ",
        'ਿ' if matches!(rest.first(), Some(Letter::Vowel('ਾ'))) => "ی",
        'ਿ' => "ئ",
        'ੇ' | 'ੈ' if rest.is_empty() => "ئے",
        'ੀ' | 'ੇ' | 'ੈ' => "ئی",
        A if sound == 'ਿ' => "",
        A => "ا",
        _ if is_like_y => "و",
        _ => "ؤ",
    }
}

/// A nasal: n, before lips m, and at the end the nasal n. Before n and m it only doubles them.
fn nasal(rest: &[Letter]) -> &'static str {
    match rest.first() {
        None => "ں",
        Some(Letter::Consonant('ਨ' | 'ਮ')) => "",
        Some(Letter::Consonant('ਬ' | 'ਪ')) => "م",
        Some(_) => "ن",
    }
}

const fn consonant(gurmukhi: char) -> &'static str {
    match gurmukhi {
        'ਕ' => "ک",
        'ਖ' => "کھ",
        'ਗ' => "گ",
        'ਘ' => "گھ",
        'ਙ' => "نگ",
        'ਚ' => "چ",
        'ਛ' => "چھ",
        'ਜ' => "ج",
        'ਝ' => "جھ",
        'ਞ' => "نج",
        'ਟ' => "ٹ",
        'ਠ' => "ٹھ",
        'ਡ' => "ڈ",
        'ਢ' => "ڈھ",
        'ਤ' => "ت",
        'ਥ' => "تھ",
        'ਦ' => "د",
        'ਧ' => "دھ",
        'ਨ' | 'ਣ' => "ن",
        'ਪ' => "پ",
        'ਫ' => "پھ",
        'ਬ' => "ب",
        'ਭ' => "بھ",
        'ਮ' => "م",
        'ਯ' => "ی",
        'ਰ' => "ر",
        'ਲ' | '\u{0A33}' => "ل",
        'ਵ' => "و",
        'ੜ' => "ڑ",
        'ਸ' => "س",
        'ਹ' => "ہ",
        '\u{0A36}' => "ش",
        '\u{0A59}' => "خ",
        '\u{0A5A}' => "غ",
        '\u{0A5B}' => "ز",
        '\u{0A5E}' => "ف",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shahmukhi(gurmukhi: &str) -> String {
        word(&gurmukhi.nfc().collect::<String>())
    }

    #[test]
    fn words_are_written_by_rule() {
        for (gurmukhi, written) in [
            ("ਪੰਜਾਬ", "پنجاب"),
            ("ਵਿੱਚ", "وچ"),
            ("ਨੂੰ", "نوں"),
            ("ਮੈਂ", "میں"),
            ("ਕੰਪਨੀ", "کمپنی"),
            ("ਕੰਮ", "کم"),
            ("ਪੜ੍ਹਾਈ", "پڑھائی"),
            ("ਆਇਆ", "آیا"),
            ("ਗਿਆ", "گیا"),
            ("ਗਈ", "گئی"),
            ("ਕਿਉਂ", "کیوں"),
            ("ਹੋਏ", "ہوئے"),
            ("ਦੀਆਂ", "دیاں"),
            ("ਜਾਓ", "جاؤ"),
            ("ਓਥੇ", "اوتھے"),
            ("ਭਰਾ", "بھرا"),
        ] {
            assert_eq!(shahmukhi(gurmukhi), written, "{gurmukhi}");
        }
    }

    #[test]
    fn words_of_the_list_have_their_own_spelling_also_with_endings() {
        for (gurmukhi, written) in [
            ("ਔਰਤ", "عورت"),
            ("ਔਰਤਾਂ", "عورتاں"),
            ("ਸਵਾਲ", "سوال"),
            ("ਮਤਲਬ", "مطلب"),
            ("ਇਲਾਕਾ", "علاقہ"),
            ("ਕਿ", "کہ"),
        ] {
            assert_eq!(shahmukhi(gurmukhi), written, "{gurmukhi}");
        }
    }

    #[test]
    fn most_names_of_cldr_are_spelt_as_there() {
        // CLDR has signs of short vowels in some names.
        let plain = |name: &str| name.replace(['\u{064F}', '\u{0650}', '\u{064E}'], "");
        let names = include_str!("../../../tests/fixtures/scripts/cldr.tsv").lines();
        let names = names.filter_map(|line| line.split_once('\t'));
        let others: Vec<_> = names.filter(|(gurmukhi, name)| shahmukhi(gurmukhi) != plain(name)).collect();
        assert_eq!(
            others.iter().map(|(gurmukhi, _)| *gurmukhi).collect::<Vec<_>>(),
            ["ਨਸਤਾਲੀਕ", "ਮਈ", "ਰੁਪਇਆ"]
        );
    }

    #[test]
    fn the_list_has_each_word_once_and_only_words_that_the_rules_miss() {
        assert_eq!(WORDS.len(), include_str!("shahmukhi.tsv").lines().count());
        let is_by_rule = |gurmukhi: &str, written: &str| by_rule(&letters(gurmukhi)) == written;
        let superfluous: Vec<_> =
            WORDS.iter().filter(|(gurmukhi, written)| is_by_rule(gurmukhi, written)).collect();
        assert!(superfluous.is_empty(), "{superfluous:?}");
    }
}
