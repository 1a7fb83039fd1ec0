//! The letters of a word in Gurmukhi, in the order in which they are typed.

/// A consonant, a vowel or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    /// A consonant. One with nukta is the one character that Unicode also has for it.
    Consonant(char),
    /// A vowel that stands alone, such as ਆ, as the sign that it has behind a consonant. ਅ, which has none, is [`A`].
    Vowel(char),
    /// The sign of a vowel behind a consonant.
    Sign(char),
    /// A bindi, tippi, adak bindi or visarga.
    Nasal(char),
    /// Doubles the next consonant.
    Addak,
    /// Joins two consonants.
    Virama,
    /// A character that is no letter of today's Panjabi, or a nukta at a wrong place.
    Other(char),
}

/// The vowel ਅ.
pub(super) const A: char = 'ਅ';

/// The consonants with nukta: with two characters, and with one.
const WITH_NUKTA: [(char, char); 6] = [
    ('ਸ', '\u{0A36}'),
    ('ਖ', '\u{0A59}'),
    ('ਗ', '\u{0A5A}'),
    ('ਜ', '\u{0A5B}'),
    ('ਫ', '\u{0A5E}'),
    ('ਲ', '\u{0A33}'),
];
const NUKTA: char = '\u{0A3C}';

/// The letters of a word in NFC, in which a nukta follows its consonant.
pub(super) fn letters(word: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::with_capacity(word.len() / 3);
    for c in word.chars() {
        let letter = match c {
            'ਕ'..='ਨ' | 'ਪ'..='ਰ' | 'ਲ' | 'ਵ' | 'ਸ' | 'ਹ' | 'ੜ' => Letter::Consonant(c),
            NUKTA => {
                let of = |base: char| WITH_NUKTA.iter().find(|(plain, _)| *plain == base);
                if let Some(Letter::Consonant(base)) = letters.last_mut()
                    && let Some((_, whole)) = of(*base)
                {
                    *base = *whole;
                    continue;
                }
                Letter::Other(c)
            }
            A => Letter::Vowel(A),
            'ਆ' => Letter::Vowel('ਾ'),
            'ਇ' => Letter::Vowel('ਿ'),
            'ਈ' => Letter::Vowel('ੀ'),
            'ਉ' => Letter::Vowel('ੁ'),
            'ਊ' => Letter::Vowel('ੂ'),
            'ਏ' => Letter::Vowel('ੇ'),
            'ਐ' => Letter::Vowel('ੈ'),
            'ਓ' => Letter::Vowel('ੋ'),
            'ਔ' => Letter::Vowel('ੌ'),
            'ਾ'..='ੂ' | 'ੇ' | 'ੈ' | 'ੋ' | 'ੌ' => Letter::Sign(c),
            'ਁ'..='ਃ' | 'ੰ' => Letter::Nasal(c),
            'ੱ' => Letter::Addak,
            '੍' => Letter::Virama,
            _ => Letter::Other(c),
        };
        letters.push(letter);
    }
    letters
}
