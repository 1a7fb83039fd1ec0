//! Divides a text into sentences: translation models learn from single sentences and lose parts of longer texts.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

/// Words that a point shortens, in lower case. A single letter before a point is one, too.
const SHORTENED: &str = "mr mrs ms dr prof st sr jr vs no gen col capt lt rev ਡਾ ਪ੍ਰੋ ਸ੍ਰ ਸ੍ਰੀ ਸ਼੍ਰੀ ਨੰ";
/// How Panjabi writes Latin initials ("ਆਰ. ਕੇ. ਨਾਰਾਇਣ"), without those that are also words at the end of a sentence.
const INITIALS: &str = "ਏ ਬੀ ਡੀ ਈ ਐਫ ਐੱਫ ਐਚ ਐੱਚ ਆਈ ਜੇ ਕੇ ਐਲ ਐੱਲ ਐਮ ਐੱਮ ਐਨ ਐੱਨ ਪੀ ਆਰ ਐਸ ਐੱਸ ਟੀ ਯੂ ਵੀ ਐਕਸ ਵਾਈ";

/// The sentences of a text without the white space around them. They end where UAX #29 says, but only at white space, not
/// behind a word that a point shortens, and not before a number or within a sentence around quoted speech.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, _) in text.split_sentence_bound_indices() {
        let (before, after) = text[start..].split_at(at - start);
        if before.ends_with(char::is_whitespace) && is_end(before.trim_end(), after) {
            sentences.push(before.trim());
            start = at;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// An English sentence in capitals in small letters, of which models know more words. Other sentences stay.
pub(super) fn in_small(sentence: &str) -> Cow<'_, str> {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || "'’,.!?:;".contains(c))
    };
    let words = || sentence.split(' ').filter(|word| is_word(word));
    let is_in_capitals = !sentence.contains(|c: char| c.is_alphabetic() && !c.is_ascii_uppercase())
        && words().filter(|word| word.len() > 1).count() > 2
        && words().any(|word| word.len() > 3);
    if !is_in_capitals {
        return Cow::Borrowed(sentence);
    }
    let small = |(n, word): (usize, &str)| match word.split_at_checked(1) {
        Some((first, rest)) if is_word(word) && (n == 0 || word == "I" || word.starts_with("I'")) => {
            first.to_owned() + &rest.to_lowercase()
        }
        Some(_) if is_word(word) => word.to_lowercase(),
        _ => word.to_owned(),
    };
    Cow::Owned(sentence.split(' ').enumerate().map(small).collect::<Vec<_>>().join(" "))
}

/// Whether a sentence ends between two texts, where UAX #29 allows it.
fn is_end(before: &str, after: &str) -> bool {
    let next = after.chars().find(|c| c.is_alphanumeric());
    let is_quoted = before.ends_with(['"', '\'', '”', '’', '»', ')']);
    if is_quoted && next.is_some_and(char::is_lowercase) {
        return false;
    }
    let Some(rest) = before.strip_suffix('.') else { return true };
    let word = rest.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().to_lowercase();
    let is_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let is_listed = SHORTENED.split(' ').chain(INITIALS.split(' ')).any(|listed| listed == word);
    let is_shortened = is_letter || is_listed || word.contains('.');
    !is_shortened && !next.is_some_and(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_divided_at_the_ends_of_its_sentences() {
        assert_eq!(
            sentences("Yes. I am coming!  Where are you?"),
            ["Yes.", "I am coming!", "Where are you?"]
        );
        assert_eq!(
            sentences("ਹਾਂ। ਮੈਂ ਆ ਰਿਹਾ ਹਾਂ। ਤੁਸੀਂ ਕਿੱਥੇ ਹੋ? ਘਰ ਹਾਂ."),
            ["ਹਾਂ।", "ਮੈਂ ਆ ਰਿਹਾ ਹਾਂ।", "ਤੁਸੀਂ ਕਿੱਥੇ ਹੋ?", "ਘਰ ਹਾਂ."]
        );
        assert_eq!(sentences("where are you? i am here"), ["where are you?", "i am here"]);
        assert_eq!(sentences(" "), [""; 0]);
    }

    #[test]
    fn a_sentence_in_capitals_is_read_in_small_letters() {
        for (text, expected) in [
            ("MY BAG IS LOST!", "My bag is lost!"),
            ("SEND TO INFO@A.IN THAT I'M ILL", "Send to INFO@A.IN that I'm ill"),
            ("NASA AND ISRO met", "NASA AND ISRO met"),
            ("USB HUB", "USB HUB"),
            ("ਘਰ LED SMART TV SCREEN", "ਘਰ LED SMART TV SCREEN"),
        ] {
            assert_eq!(in_small(text), expected);
        }
    }

    #[test]
    fn a_point_that_shortens_a_word_ends_nothing() {
        for text in [
            "Dr. Singh lives in the U.S. with J. Kaur.",
            "See No. 5 at 7.30 p.m. Today",
            "ਡਾ. ਸਿੰਘ ਨੇ ਆਰ. ਕੇ. ਨਾਰਾਇਣ ਨੂੰ ਕਿਹਾ।",
            "\"Stop!\" he said.",
            "Open www.example.com/a.html or file.txt now",
            "ਵੈੱਬਸਾਈਟ.ਕਾਮ ਖੋਲ੍ਹੋ",
        ] {
            assert_eq!(sentences(text), [text]);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[a-cA-Cਕਖ੧1.?!।\"' ]{0,40}") {
            let all = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(all(&sentences(&text).join(" ")), all(&text));
        }
    }
}
