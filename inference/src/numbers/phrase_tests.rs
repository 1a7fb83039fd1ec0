//! Numbers as a translation has them, by examples.

use super::*;

/// Each number of a text, with what stands for it.
fn shown(text: &str, language: Language) -> Vec<(String, String, bool)> {
    let one = |phrase: &Phrase| {
        let words = format!("{}{}", phrase.words, phrase.ending);
        (text[phrase.start..phrase.end].to_owned(), words, phrase.is_whole)
    };
    phrases(text, language).iter().map(one).collect()
}

fn check(language: Language, text: &str, expected: &[(&str, &str)]) {
    let found = shown(text, language);
    let found: Vec<(&str, &str)> = found.iter().map(|(source, words, _)| (&source[..], &words[..])).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn minutes_before_and_behind_an_hour_are_a_time() {
    for (text, source, words) in [
        ("The meeting is at ten to six tomorrow.", "ten to six", "ਪੰਜ ਵੱਜ ਕੇ ਪੰਜਾਹ ਮਿੰਟ"),
        ("It is twenty-five to three.", "twenty-five to three", "ਦੋ ਵੱਜ ਕੇ ਪੈਂਤੀ ਮਿੰਟ"),
        ("He left at five to eleven.", "five to eleven", "ਦਸ ਵੱਜ ਕੇ ਪਚਵੰਜਾ ਮਿੰਟ"),
        ("At ten to one o'clock", "ten to one o'clock", "ਬਾਰਾਂ ਵੱਜ ਕੇ ਪੰਜਾਹ ਮਿੰਟ"),
        ("It's twenty to four this evening.", "twenty to four", "ਤਿੰਨ ਵੱਜ ਕੇ ਚਾਲੀ ਮਿੰਟ"),
        ("Come before twenty to four.", "twenty to four", "ਤਿੰਨ ਵੱਜ ਕੇ ਚਾਲੀ ਮਿੰਟ"),
        ("We meet ten minutes to six.", "ten minutes to six", "ਪੰਜ ਵੱਜ ਕੇ ਪੰਜਾਹ ਮਿੰਟ"),
        ("at 10 minutes past 6", "10 minutes past 6", "ਛੇ ਵੱਜ ਕੇ ਦਸ ਮਿੰਟ"),
        ("five past eight", "five past eight", "ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ"),
    ] {
        check(Language::English, text, &[(source, words)]);
    }
    for (text, source, words) in [
        ("ਛੇ ਵੱਜ ਕੇ ਦਸ ਮਿੰਟ ਹੋਏ ਹਨ।", "ਛੇ ਵੱਜ ਕੇ ਦਸ ਮਿੰਟ ਹੋਏ", "six ten ਵੱਜ ਗਏ"),
        ("ਉਹ 6 ਵੱਜਕੇ 05 ਮਿੰਟ 'ਤੇ ਆਇਆ", "6 ਵੱਜਕੇ 05 ਮਿੰਟ 'ਤੇ", "six oh five ਵਜੇ"),
        ("ਪੰਜ ਵੱਜਣ ਵਿੱਚ ਦਸ ਮਿੰਟ ਬਾਕੀ ਹਨ।", "ਪੰਜ ਵੱਜਣ ਵਿੱਚ ਦਸ ਮਿੰਟ ਬਾਕੀ", "four fifty ਵੱਜ ਗਏ"),
        ("ਇੱਕ ਵੱਜਣ ਤੋਂ ਵੀਹ ਮਿੰਟ ਪਹਿਲਾਂ ਆਓ", "ਇੱਕ ਵੱਜਣ ਤੋਂ ਵੀਹ ਮਿੰਟ ਪਹਿਲਾਂ", "twelve forty ਵਜੇ"),
    ] {
        check(Language::Panjabi, text, &[(source, words)]);
    }
}

#[test]
fn a_range_is_no_time_and_what_may_be_either_is_not_whole() {
    for text in [
        "The shop is open from ten to six.",
        "Ten to six people came.",
        "at five to eleven shops",
        "It is ten to six degrees.",
        "Give me five to ten minutes.",
        "Come at three to four.",
        "a five to ten-year plan",
    ] {
        let found = shown(text, Language::English);
        assert!(found.len() == 2 && found.iter().all(|(_, _, is_whole)| *is_whole), "{text}: {found:?}");
    }
    for text in ["He works ten to six.", "We wait until five to eleven."] {
        let found = shown(text, Language::English);
        assert!(found.len() == 2 && !found.iter().any(|(_, _, is_whole)| *is_whole), "{text}: {found:?}");
    }
    let takes = "ਪੰਜ ਵੱਜਣ ਵਿੱਚ ਦਸ ਮਿੰਟ ਲੱਗਣਗੇ";
    assert_eq!(shown(takes, Language::Panjabi).len(), 2);
}

#[test]
fn a_number_that_is_not_written_in_figures_is_not_whole() {
    for (text, language) in [
        ("ਉਹ ਸਾਢੇ ਪੰਜ ਆਵੇਗਾ।", Language::Panjabi),
        ("ਦੋ ਹਜ਼ਾਰ ਅਤੇ ਅਠਾਰਾਂ", Language::Panjabi),
        ("two to three hundred and fifty rupees", Language::English),
    ] {
        let found = shown(text, language);
        assert!(!found.is_empty() && !found.iter().any(|(_, _, is_whole)| *is_whole), "{text}: {found:?}");
    }
    assert!(shown("ਇਹ ਢਾਈ ਸੌ ਰੁਪਏ ਦੀ ਹੈ", Language::Panjabi)[0].2);
}

#[test]
fn a_part_of_the_day_stands_before_the_time_in_panjabi() {
    for (source, words, rest, expected) in [
        ("seven", "ਸੱਤ", " p.m. today", "ਸ਼ਾਮ ਸੱਤ ਵਜੇ| today"),
        ("seven", "ਸੱਤ", " p.m.", "ਸ਼ਾਮ ਸੱਤ ਵਜੇ|."),
        ("nine", "ਨੌਂ", " p m", "ਰਾਤ ਨੌਂ ਵਜੇ|"),
        ("seven thirty", "ਸਾਢੇ ਸੱਤ ਵਜੇ", " PM", "ਸ਼ਾਮ ਸਾਢੇ ਸੱਤ ਵਜੇ|"),
        ("five past eight", "ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ", " am", "ਸਵੇਰੇ ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ|"),
        ("7:30", "7:30", "pm", "ਸ਼ਾਮ 7:30 ਵਜੇ|"),
        ("12", "12", "am", "ਰਾਤ 12 ਵਜੇ|"),
        ("12", "12", " noon", "12| noon"),
        ("17", "17", " pm", "17| pm"),
        ("7", "7", " amazing", "7| amazing"),
    ] {
        let (length, value) = with_behind(source, words, rest, Language::English);
        assert_eq!(format!("{value}|{}", &rest[length..]), expected, "{source}{rest}");
    }
}
