//! Latin letters by ISO 15919, which writes every letter: also the a that is no longer said at the end of a word.
//!
//! A colon stands between letters that would otherwise be read as one: ਗਇਆ is "ga:iā", as ਗੈਆ is "gaiā". So words of today's
//! letters never look the same. The characters that Panjabi no longer uses stay as they are.

use super::letters::{A, Letter, letters};

/// What stands before a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A consonant, whose vowel is a unless a sign follows.
    Consonant(&'static str),
    /// A consonant that is joined to the next one.
    Joined(&'static str),
    /// An a.
    A,
    Other,
}

/// A word of Gurmukhi in Latin letters.
pub(super) fn word(gurmukhi: &str) -> String {
    let letters = letters(gurmukhi);
    let mut latin = String::with_capacity(gurmukhi.len());
    let mut before = Before::Other;
    for (nth, letter) in letters.iter().enumerate() {
        if matches!(before, Before::Consonant(_)) && !matches!(letter, Letter::Sign(_) | Letter::Virama) {
            latin.push('a');
            before = Before::A;
        }
        before = match *letter {
            Letter::Consonant(c) => {
                let c = consonant(c);
                if matches!(before, Before::Joined(first) if is_read_as_one(first, c)) {
                    latin.push(':');
                }
                latin.push_str(c);
                Before::Consonant(c)
            }
            Letter::Vowel(v) => {
                if before == Before::A && matches!(v, 'ਿ' | 'ੁ') {
                    latin.push(':');
                }
                latin.push_str(vowel(v));
                if v == A { Before::A } else { Before::Other }
            }
            Letter::Addak => {
                match letters.get(nth + 1) {
                    Some(Letter::Consonant(next)) => latin.push_str(unaspirated(consonant(*next))),
                    _ => latin.push('ੱ'),
                }
                Before::Other
            }
            Letter::Virama => {
                if let Before::Consonant(c) = before {
                    Before::Joined(c)
                } else {
                    latin.push('੍');
                    Before::Other
                }
            }
            Letter::Sign(sign) | Letter::Nasal(sign) => {
                latin.push_str(vowel(sign));
                Before::Other
            }
            Letter::Other(c) => {
                latin.push(c);
                Before::Other
            }
        };
    }
    if matches!(before, Before::Consonant(_)) {
        latin.push('a');
    }
    latin
}

/// Whether two consonants that are joined look like one with an h, or like a doubled one.
fn is_read_as_one(first: &str, second: &'static str) -> bool {
    first == unaspirated(second)
        || (second == "h" && matches!(first, "k" | "g" | "c" | "j" | "ṭ" | "ḍ" | "t" | "d" | "p" | "b"))
}

/// A consonant without its h, which an addak before it doubles.
fn unaspirated(consonant: &'static str) -> &'static str {
    if consonant == "h" { consonant } else { consonant.trim_end_matches(['h', '\u{035F}']) }
}

const fn consonant(gurmukhi: char) -> &'static str {
    match gurmukhi {
        'ਕ' => "k",
        'ਖ' => "kh",
        'ਗ' => "g",
        'ਘ' => "gh",
        'ਙ' => "ṅ",
        'ਚ' => "c",
        'ਛ' => "ch",
        'ਜ' => "j",
        'ਝ' => "jh",
        'ਞ' => "ñ",
        'ਟ' => "ṭ",
        'ਠ' => "ṭh",
        'ਡ' => "ḍ",
        'ਢ' => "ḍh",
        'ਣ' => "ṇ",
        'ਤ' => "t",
        'ਥ' => "th",
        'ਦ' => "d",
        'ਧ' => "dh",
        'ਨ' => "n",
        'ਪ' => "p",
        'ਫ' => "ph",
        'ਬ' => "b",
        'ਭ' => "bh",
        'ਮ' => "m",
        'ਯ' => "y",
        'ਰ' => "r",
        'ਲ' => "l",
        'ਵ' => "v",
        'ੜ' => "ṛ",
        'ਸ' => "s",
        'ਹ' => "h",
        '\u{0A33}' => "ḷ",
        '\u{0A36}' => "ś",
        '\u{0A59}' => "k\u{035F}h",
        '\u{0A5A}' => "ġ",
        '\u{0A5B}' => "z",
        '\u{0A5E}' => "f",
        _ => "",
    }
}

const fn vowel(sign: char) -> &'static str {
    match sign {
        A => "a",
        'ਾ' => "ā",
        'ਿ' => "i",
        'ੀ' => "ī",
        'ੁ' => "u",
        'ੂ' => "ū",
        'ੇ' => "ē",
        'ੈ' => "ai",
        'ੋ' => "ō",
        'ੌ' => "au",
        'ਂ' => "ṁ",
        'ੰ' => "ṃ",
        'ਁ' => "m\u{0310}",
        'ਃ' => "ḥ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    /// The letters of a word that [`word`] has written: the longest that the Latin letters can be.
    fn gurmukhi(latin: &str) -> String {
        let all = |letters: &str| -> Vec<(String, char)> {
            let of = |c: char| [consonant(c), vowel(c)].concat();
            letters.chars().map(|c| (of(c), c)).filter(|(latin, _)| !latin.is_empty()).collect()
        };
        let consonants =
            all("ਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜਸਹ\u{0A33}\u{0A36}\u{0A59}\u{0A5A}\u{0A5B}\u{0A5E}");
        let vowels = all("ਅਾਿੀੁੂੇੈੋੌ");
        let nasals = all("ਂੰਁਃ");
        let longest = |of: &[(String, char)], rest: &str| {
            let found = of.iter().filter(|(latin, _)| rest.starts_with(latin.as_str()));
            found.max_by_key(|(latin, _)| latin.len()).map(|(latin, c)| (latin.len(), *c))
        };
        let mut word = String::new();
        let mut rest = latin;
        let mut is_consonant = false; // a consonant stands before
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix(':') {
                rest = after;
            } else if let Some((n, sign)) = longest(&nasals, rest) {
                word.push(sign);
                is_consonant = false;
                rest = &rest[n..];
            } else if let Some((n, c)) = longest(&consonants, rest) {
                let next = longest(&consonants, &rest[n..]);
                let is_doubled = next.is_some_and(|(_, next)| consonant(c) == unaspirated(consonant(next)));
                if is_doubled {
                    word.push('ੱ');
                } else {
                    word.extend(is_consonant.then_some('੍'));
                    word.push(c);
                    is_consonant = true;
                }
                rest = &rest[n..];
            } else {
                let (n, sign) = longest(&vowels, rest).unwrap();
                let alone = "ਅਆਇਈਉਊਏਐਓਔ".chars().nth(vowels.iter().position(|(_, c)| *c == sign).unwrap());
                match (is_consonant, sign) {
                    (true, A) => (),
                    (true, sign) => word.push(sign),
                    (false, _) => word.extend(alone),
                }
                is_consonant = false;
                rest = &rest[n..];
            }
        }
        word.extend(is_consonant.then_some('੍'));
        word.nfc().collect()
    }

    #[test]
    fn words_are_written_by_the_standard() {
        for (gurmukhi, latin) in [
            ("ਸਤਿ", "sati"),
            ("ਸ੍ਰੀ", "srī"),
            ("ਅਕਾਲ", "akāla"),
            ("ਪੰਜਾਬੀ", "paṃjābī"),
            ("ਪੱਕਾ", "pakkā"),
            ("ਅੱਖ", "akkha"),
            ("ਹਾਂ", "hāṁ"),
            ("ਪੜ੍ਹਾਈ", "paṛhāī"),
            ("ਖ਼ੁਸ਼", "k\u{035F}huśa"),
            ("ਗਇਆ", "ga:iā"),
            ("ਲਈ", "laī"),
            ("ਕ੍ਹ", "k:ha"),
            ("ਪ੍ਰਸ੍ਹ", "prasha"),
            ("ੴ", "ੴ"),
        ] {
            assert_eq!(word(&gurmukhi.nfc().collect::<String>()), latin);
        }
    }

    #[test]
    fn frequent_words_are_those_of_another_program() {
        // It writes bindi and tippi alike, or as the nasal that follows, and divides letters with other signs.
        let alike = |latin: &str| {
            latin.replace('ṃ', "ṁ").replace("ṁm", "mm").replace("ṁn", "nn").replace([':', '_'], "")
        };
        for line in include_str!("../../../tests/fixtures/scripts/iso15919.tsv").lines() {
            let (gurmukhi, latin) = line.split_once('\t').expect("two words");
            assert_eq!(alike(&word(gurmukhi)), alike(latin), "{gurmukhi}");
            assert_eq!(super::tests::gurmukhi(&word(gurmukhi)), gurmukhi);
        }
    }

    proptest! {
        #[test]
        fn the_letters_can_be_told_from_the_latin_ones(
            word in "([ਅਆਇਈਉਊਏਐਓਔ][ਂੰਁਃ]?|ੱ?(([ਸਖਗਜਫਲ]਼?|[ਕ-ਨਪ-ਰਵਹੜ])੍){0,2}([ਸਖਗਜਫਲ]਼?|[ਕ-ਨਪ-ਰਵਹੜ])[ਾ-ੂੇੈੋੌ]?[ਂੰਁਃ]?){1,6}(ਸ੍)?",
        ) {
            let word: String = word.nfc().collect();
            prop_assert_eq!(gurmukhi(&super::word(&word)), word);
        }
    }
}
