//! What a word of a text consists of, its digits in Latin, and one spelling for letters that look alike.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// What a vowel's carrier and a sign on it look like: the letter that is meant.
const VOWELS: [(char, char, char); 9] = [
    ('ਅ', '\u{a3e}', 'ਆ'),
    ('ਅ', '\u{a48}', 'ਐ'),
    ('ਅ', '\u{a4c}', 'ਔ'),
    ('ੲ', '\u{a3f}', 'ਇ'),
    ('ੲ', '\u{a40}', 'ਈ'),
    ('ੲ', '\u{a47}', 'ਏ'),
    ('ੳ', '\u{a41}', 'ਉ'),
    ('ੳ', '\u{a42}', 'ਊ'),
    ('ੳ', '\u{a4b}', 'ਓ'),
];
const NUKTA: char = '\u{a3c}';
const SIHARI: char = '\u{a3f}';

/// The text in NFC and in the one spelling that all steps behind it read, where the web has several that look alike: ਉ typed as
/// ੳ with a sign, a tippi, bindi, addak or nukta typed at another place among the signs of its letter, and ਿ typed before its
/// letter. Joiners within Gurmukhi and characters without a width are left out; U+200B is a space.
///
/// The letters are those of chapter 12 of the Unicode Standard, table "Gurmukhi Vowel Letters".
pub(crate) fn folded(text: &str) -> String {
    let mut folded: Vec<char> = Vec::with_capacity(text.len());
    let mut rest = text.nfc().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        match c {
            '\u{feff}' | '\u{2060}' | '\u{ad}' => (),
            '\u{200b}' => folded.push(' '),
            '\u{200c}' | '\u{200d}' if is_within_gurmukhi(folded.last().copied(), next) => (),
            SIHARI if !folded.last().copied().is_some_and(is_gurmukhi) && next.is_some_and(is_letter) => {
                folded.extend(rest.next());
                if rest.peek() == Some(&NUKTA) {
                    folded.extend(rest.next());
                }
                put_vowel(&mut folded, c);
            }
            '\u{a3e}'..='\u{a4c}' => put_vowel(&mut folded, c),
            NUKTA => {
                let at = behind_last(&folded, |sign| is_vowel_sign(sign) || is_top_sign(sign));
                let is_dotted = at > 0 && matches!(folded[at - 1], 'ਸ' | 'ਖ' | 'ਗ' | 'ਜ' | 'ਫ' | 'ਲ');
                folded.insert(if is_dotted { at } else { folded.len() }, c);
            }
            _ => folded.push(c),
        }
    }
    // What is left out can have stood between a letter and its mark.
    folded.into_iter().nfc().collect()
}

/// Whether a joiner between two characters changes nothing of Gurmukhi. Behind a virama it says how that is written.
fn is_within_gurmukhi(before: Option<char>, behind: Option<char>) -> bool {
    before != Some('\u{a4d}') && [before, behind].into_iter().flatten().any(is_gurmukhi)
}

/// Puts a vowel sign behind its letter and before a tippi, bindi or addak that is there.
fn put_vowel(folded: &mut Vec<char>, sign: char) {
    let at = behind_last(folded, is_top_sign);
    let carrier = at.checked_sub(1).and_then(|at| folded.get_mut(at));
    if let Some(carrier) = carrier
        && let Some((.., vowel)) = VOWELS.iter().find(|(other, with, _)| other == carrier && *with == sign)
    {
        *carrier = *vowel;
    } else {
        folded.insert(at, sign);
    }
}

/// The place behind the last character that is none of these.
fn behind_last(folded: &[char], is_sign: impl Fn(char) -> bool) -> usize {
    folded.iter().rposition(|c| !is_sign(*c)).map_or(0, |at| at + 1)
}

const fn is_gurmukhi(c: char) -> bool {
    matches!(c, '\u{a00}'..='\u{a7f}')
}

const fn is_letter(c: char) -> bool {
    matches!(c, '\u{a05}'..='\u{a39}' | '\u{a59}'..='\u{a5e}' | '\u{a72}' | '\u{a73}')
}

const fn is_vowel_sign(c: char) -> bool {
    matches!(c, '\u{a3e}'..='\u{a4c}')
}

/// Bindis, tippi and addak.
const fn is_top_sign(c: char) -> bool {
    matches!(c, '\u{a01}' | '\u{a02}' | '\u{a70}' | '\u{a71}')
}

/// Whether the character continues a word: a letter, a digit, a mark or an underscore.
pub(crate) fn continues_a_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() || is_combining_mark(c)
}

/// The Latin digit of a digit in the script whose digits begin with `zero`; `None` for other characters.
pub(crate) fn latin_digit(c: char, zero: char) -> Option<char> {
    char::from_digit(u32::from(c).checked_sub(u32::from(zero))?, 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::is_nfc;

    use super::*;

    #[test]
    fn spellings_that_look_alike_become_one() {
        for (typed, meant) in [
            ("ੳੁੱਨੀ ਸੌ", "ਉੱਨੀ ਸੌ"),
            ("ੲਿੱਕ ਲੱਖ", "ਇੱਕ ਲੱਖ"),
            ("ੳੁਹ ਅਾੲੀ, ਅੈਨਕ ੳੂਠ ਅੌਖਾ ੳੋਹ ੲੇਕੜ", "ਉਹ ਆਈ, ਐਨਕ ਊਠ ਔਖਾ ਓਹ ਏਕੜ"),
            ("ੳ\u{a70}\u{a41}", "ਉ\u{a70}"),
            ("ਨ\u{a70}\u{a42}", "ਨੂੰ"),
            ("ਫਾ\u{a3c}", "ਫ\u{a3c}ਾ"),
            ("\u{a36}", "ਸ\u{a3c}"),
            ("\u{a3f}ਵੱਚ", "ਵਿੱਚ"),
            ("\u{a3f}ੲਕ", "ਇਕ"),
            ("\u{a3f}ਜ\u{a3c}ਦ", "ਜ\u{a3c}ਿਦ"),
            ("ਪੰ\u{200c}ਜ ਸੌ\u{200d}", "ਪੰਜ ਸੌ"),
            ("ਪੰਜ\u{200b}ਸੌ\u{feff}", "ਪੰਜ ਸੌ"),
            ("wo\u{ad}rd", "word"),
        ] {
            assert_eq!(folded(typed), meant, "{typed}");
        }
    }

    #[test]
    fn what_is_spelt_in_one_way_stays() {
        for text in [
            "ੳ ਅ ੲ",
            "ੳਾ",
            "ਡਾ\u{a3c}",
            "ਕ੍\u{200c}ਤ",
            "ਸ੍ਰੀ ਪੜ੍ਹ",
            "ਸਿੰਘ  ਜੀ\t।\n",
            "👨\u{200d}👩",
            "می\u{200c}خواهم",
            "ਿ",
            "ਕ ਿ",
        ] {
            assert_eq!(folded(text), text);
        }
    }

    proptest! {
        #[test]
        fn a_folded_text_is_in_nfc_and_stays(text in "([ੳਅੲਕਸਜ਼ਾ-ੌਂੰੱ੍ \u{200b}-\u{200d}]|\\PC){0,20}") {
            let once = folded(&text);
            prop_assert!(is_nfc(&once), "{:?}", once);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
