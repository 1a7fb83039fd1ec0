use proptest::prelude::*;

use super::{phrase::scales, *};

fn found(text: &str, from: Language) -> Vec<(String, String)> {
    find(text, from)
        .iter()
        .map(|run| (text[run.start..run.end].to_owned(), run.words(from.other())))
        .collect()
}

fn numbers(run: &Run) -> Vec<Vec<Number>> {
    run.groups.iter().map(|group| group.said.iter().map(|said| said.number.clone()).collect()).collect()
}

fn translated(text: &str, from: Language) -> Vec<String> {
    found(text, from).into_iter().map(|(_, words)| words).collect()
}

#[test]
fn panjabi_numbers_become_english_ones() {
    for (text, words) in [
        ("ਪੰਜ ਚਾਰ ਤਿੰਨ ਦੋ", "five four three two"),
        ("ਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ ਹੈ", "nine eight seven six five"),
        ("ਸਿਫ਼ਰ ਸਿਫ਼ਰ ਇੱਕ", "zero zero one"),
        ("ਉਸ ਕੋਲ ਦੋ ਲੱਖ ਪੰਜਾਹ ਹਜ਼ਾਰ ਰੁਪਏ ਹਨ", "two hundred and fifty thousand"),
        ("ਤਿੰਨ ਕਰੋੜ ਵੀਹ ਲੱਖ", "thirty-two million"),
        ("ਡੇਢ ਸੌ ਬੰਦੇ", "one hundred and fifty"),
        ("ਢਾਈ ਹਜ਼ਾਰ", "two thousand five hundred"),
        ("ਸਾਢੇ ਤਿੰਨ ਲੱਖ", "three hundred and fifty thousand"),
        ("ਸਾਢੇ ਤਿੰਨ ਕਿਲੋ", "three and a half"),
        ("ਸਵਾ ਸੌ ਸਾਲ", "one hundred and twenty-five"),
        ("ਉਹ ਸਾਢੇ ਤਿੰਨ ਵਜੇ ਆਇਆ", "three thirty"),
        ("ਪੌਣੇ ਚਾਰ ਵਜੇ", "three forty-five"),
        ("ਡੇਢ ਵਜੇ", "one thirty"),
        ("ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ ਵਿੱਚ", "nineteen eighty-four"),
        ("ਪੰਦਰਾਂ ਸੌ ਪੰਜਾਹ ਰੁਪਏ", "one thousand five hundred and fifty"),
        ("ਦੋ ਹਜ਼ਾਰ ਛੱਬੀ", "two thousand and twenty-six"),
        ("ਪੰਜਵੀਂ ਜਮਾਤ", "fifth"),
        ("ਇੱਕੀਵੀਂ ਸਦੀ", "twenty-first"),
        ("ਦੋ ਤਿੰਨ ਦਿਨ", "two or three"),
        ("ਢਾਈ ਤਿੰਨ ਸਾਲ", "two and a half or three"),
        ("ਮੇਰਾ ਨੰਬਰ ਦੋ ਤਿੰਨ ਹੈ", "two three"),
        ("ਅਠਾਨਵੇਂ ਛਿਹੱਤਰ ਪੰਜਾਹ", "ninety-eight seventy-six fifty"),
        ("ਤਿੰਨ ਦਸ਼ਮਲਵ ਇੱਕ ਚਾਰ", "three point one four"),
        ("ਦੋ ਦਸ਼ਮਲਵ ਪੰਜ ਲੱਖ", "two hundred and fifty thousand"),
        ("ਦੋ ਲੱਖ ਕਰੋੜ", "two thousand billion"),
        ("ਦੋ ਸੌ ਤਿੰਨ ਸੌ", "two hundred three hundred"),
        ("ਇੱਕ ਹਜ਼ਾਰ ਇੱਕ", "one thousand and one"),
        ("ਡਬਲ ਪੰਜ ਸੱਤ", "five five seven"),
        ("ਇੱਕ", "one"),
        (" ਸੌ", "one hundred"),
        ("ਬਾਈ ਰੁਪਏ", "twenty-two"),
        ("ਇਹ ਬੱਤੀ ਤੋਂ ਵੱਧ ਹਨ", "thirty-two"),
        ("ਇਕੱਤਰ ਕਿਤਾਬਾਂ", "seventy-one"),
        ("ਬੱਤੀ ਸਿਤਾਰਿਆਂ ਵਿੱਚੋਂ", "thirty-two"),
        ("ਗੜਬੜ ਕੋਡ ਬਾਈ ਹੈ", "twenty-two"),
        ("ਸਕ੍ਰੀਨ 'ਤੇ ਟੈਪ ਕਰੋ ਦੋ.", "two"),
        ("ਫ਼ਿਲਮ (ਦੋ) ਵਿੱਚ", "two"),
    ] {
        assert_eq!(translated(text, Language::Panjabi), [words], "{text}");
    }
}

#[test]
fn english_numbers_become_panjabi_ones() {
    for (text, words) in [
        ("My number is nine eight seven six five.", "ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ"),
        ("two hundred and five people", "ਦੋ ਸੌ ਪੰਜ"),
        ("two hundred fifty thousand", "ਦੋ ਲੱਖ ਪੰਜਾਹ ਹਜ਼ਾਰ"),
        ("thirty-two million", "ਤਿੰਨ ਕਰੋੜ ਵੀਹ ਲੱਖ"),
        ("a hundred", "ਇੱਕ ਸੌ"),
        ("He came at half past three", "ਸਾਢੇ ਤਿੰਨ ਵਜੇ"),
        ("quarter to four", "ਪੌਣੇ ਚਾਰ ਵਜੇ"),
        ("at eight forty five", "ਪੌਣੇ ਨੌਂ ਵਜੇ"),
        ("six thirty pm", "ਸਾਢੇ ਛੇ ਵਜੇ"),
        ("ten o’clock", "ਦਸ ਵਜੇ"),
        ("twenty past three", "ਤਿੰਨ ਵੱਜ ਕੇ ਵੀਹ ਮਿੰਟ"),
        ("at six oh five", "ਛੇ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ"),
        ("two point five million", "ਪੱਚੀ ਲੱਖ"),
        ("two and a half million", "ਪੱਚੀ ਲੱਖ"),
        ("in nineteen eighty four", "ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ"),
        ("in nineteen oh five", "ਉੱਨੀ ਸੌ ਪੰਜ"),
        ("twenty twenty-six", "ਦੋ ਹਜ਼ਾਰ ਛੱਬੀ"),
        ("the twenty-first century", "ਇੱਕੀਵਾਂ"),
        ("three and a half kilos", "ਸਾਢੇ ਤਿੰਨ"),
        ("three point one four", "ਤਿੰਨ ਦਸ਼ਮਲਵ ਇੱਕ ਚਾਰ"),
        ("double five seven oh", "ਪੰਜ ਪੰਜ ਸੱਤ ਸਿਫ਼ਰ"),
        ("One two three", "ਇੱਕ ਦੋ ਤਿੰਨ"),
        ("two crore five lakh", "ਦੋ ਕਰੋੜ ਪੰਜ ਲੱਖ"),
        ("the eleventh day", "ਗਿਆਰਵਾਂ"),
        ("four thousand and sixty", "ਚਾਰ ਹਜ਼ਾਰ ਸੱਠ"),
    ] {
        assert_eq!(translated(text, Language::English), [words], "{text}");
    }
}

#[test]
fn words_that_are_usually_no_numbers_stay() {
    for text in [
        "ਇੱਕ ਆਦਮੀ ਆਇਆ",
        "ਬੱਤੀ ਜਗਾ ਦਿਓ",
        "ਇੱਕ ਬੱਤੀ ਜਗਾ",
        "ਮੈਨੂੰ ਦੱਸ",
        "ਮੈਂ ਦੱਸ ਦੇਵਾਂ",
        "ਦੂਜਾ ਬੰਦਾ",
        "ਇੱਕ ਦੂਜੇ ਨੂੰ",
        "ਬਾਈ ਜੀ ਆਏ",
        "ਸਵਾ ਕੀ ਹੈ",
        "ਉਹ ਵਜੇ",
        "ਸਾਡੇ ਘਰ",
        "ਸਾਊਦੀ ਅਰਬ ਵਿੱਚ",
        "ਕਈ ਹਜ਼ਾਰ ਲੋਕ",
        "5 ਲੱਖ ਲੋਕ",
        "ਉਹ ਸੌ ਗਿਆ",
        "ਇਹ ਬੰਦ ਕਰ ਦੋ।",
        "ਇਹ ਭਰ ਦੋ ਤਾਂ ਜੋ",
        "ਇੱਕ ਤੀਜੀ",
        "ਰੁਪਏ ਦੋ-ਹਫ਼ਤਾਵਾਰੀ ਭੇਜੋ",
        "ਪਹਿਲਾ",
    ] {
        assert_eq!(translated(text, Language::Panjabi), <[&str; 0]>::default(), "{text}");
    }
    for text in [
        "no one came",
        "wait a second",
        "one second",
        "a point",
        "half of it",
        "and to a quarter",
        "oh no",
        "double room",
        "a third of it",
        "third-party",
        "third parties",
        "a few thousand people",
        "5 million people",
        "per hundred",
        "second",
    ] {
        assert_eq!(translated(text, Language::English), <[&str; 0]>::default(), "{text}");
    }
}

#[test]
fn scales_behind_a_figure_keep_their_size() {
    assert_eq!(scales(" ਲੱਖ ਰੁਪਏ", Language::Panjabi), (" ਲੱਖ".len(), " lakh".to_owned()));
    assert_eq!(scales(" lakh crore.", Language::English), (" lakh crore".len(), " ਲੱਖ ਕਰੋੜ".to_owned()));
    assert_eq!(scales(" million", Language::English).1, " ਮਿਲੀਅਨ");
    assert_eq!(scales(" ਬਿਲੀਅਨ", Language::Panjabi).1, " billion");
    assert_eq!(scales(" people", Language::English), (0, String::new()));
}

#[test]
fn an_ordinal_takes_the_form_of_the_ending_behind_it() {
    for (words, rest, expected) in [
        ("ਤੀਜਾ", "ਵੀਂ ਧੀ", "ਤੀਜੀ ਧੀ"),
        ("ਇੱਕੀਵਾਂ", "ਵੀਂ ਸਦੀ", "ਇੱਕੀਵੀਂ ਸਦੀ"),
        ("ਪੰਜਵਾਂ", "ਵੇਂ ਦਿਨ", "ਪੰਜਵੇਂ ਦਿਨ"),
        ("ਪੰਜਵਾਂ", " ਦਿਨ", "ਪੰਜਵਾਂ ਦਿਨ"),
        ("ਬਾਰਾਂ", "ਵੀਂ ਕਲਾਸ", "ਬਾਰਾਂ ਕਲਾਸ"),
        ("ਬਾਰਾਂ", "ਮਿੰਟ", "ਬਾਰਾਂ ਮਿੰਟ"),
        ("twenty-first", "th century", "twenty-first century"),
        ("third", "-th day", "third day"),
        ("two", "-year plan", "two-year plan"),
        ("ਸਾਢੇ ਤਿੰਨ ਵਜੇ", " ਵਜੇ ਆਇਆ", "ਸਾਢੇ ਤਿੰਨ ਵਜੇ ਆਇਆ"),
    ] {
        let (placed, n_replaced) = placed(words, rest);
        assert_eq!(placed + &rest[n_replaced..], expected);
    }
    let endings = |text: &str| find(text, Language::Panjabi).iter().map(|run| run.ending).collect::<Vec<_>>();
    assert_eq!(endings("ਤੀਜੀ ਧੀ, ਪੰਜਵੇਂ ਦਿਨ, ਚੌਥਾ, ਬਾਰਾਂ"), ["ਵੀਂ", "ਵੇਂ", "ਵਾਂ", ""]);
}

#[test]
fn all_words_are_in_nfc() {
    use unicode_normalization::is_nfc;

    for n in 0..100 {
        assert!(is_nfc(&Number::whole(n).words(Language::Panjabi)));
    }
    assert!(panjabi::forms().all(|(form, _)| is_nfc(form)));
}

#[test]
fn numbers_beside_each_other_are_one_run() {
    assert_eq!(translated("ਦੋ, ਚਾਰ ਅਤੇ ਛੇ", Language::Panjabi), ["two, four", "six"]);
    assert_eq!(translated("It is one, two, three four.", Language::English), ["ਇੱਕ, ਦੋ, ਤਿੰਨ ਚਾਰ"]);
    assert_eq!(translated("two and four", Language::English), ["ਦੋ", "ਚਾਰ"]);
    assert_eq!(translated("march fourth nineteen eighty", Language::English), ["ਚੌਥਾ", "ਉੱਨੀ ਸੌ ਅੱਸੀ"]);
}

fn any_number() -> impl Strategy<Value = Number> {
    let size = prop_oneof![0..100_u64, 0..10_000_u64, 0..100_000_000_000_u64];
    prop_oneof![
        size.clone().prop_map(Number::whole),
        (1..99_u64, 1..4_u64).prop_map(|(n, part)| Number::Quarters(4 * n + part)),
        (0..10_000_u64, prop::collection::vec(0..10_u8, 1..4))
            .prop_map(|(n, digits)| Number::Decimal(n, digits)),
        (3..10_000_u64).prop_map(Number::Ordinal),
    ]
}

proptest! {
    #[test]
    fn a_number_in_words_is_read_as_itself(number in any_number()) {
        for language in [Language::English, Language::Panjabi] {
            let words = number.words(language);
            let runs = find(&words, language);
            prop_assert_eq!(runs.len(), 1, "{}", words);
            prop_assert_eq!(numbers(&runs[0]), [vec![number.clone()]], "{}", words);
        }
    }

    #[test]
    fn digits_keep_their_order(digits in prop::collection::vec(0..10_u64, 1..12)) {
        let numbers: Vec<Number> = digits.into_iter().map(Number::whole).collect();
        for language in [Language::English, Language::Panjabi] {
            let words = numbers.iter().map(|number| number.words(language)).collect::<Vec<_>>().join(" ");
            let runs = find(&words, language);
            prop_assert_eq!(runs.len(), 1);
            prop_assert_eq!(self::numbers(&runs[0]), std::slice::from_ref(&numbers));
        }
    }

    #[test]
    fn any_text_has_runs_on_its_boundaries(text in "[ਇੱਕਦੋਪੰਜਸੌ a-z-]{0,40}|(one|two|hundred|and|a|half|past|to|point|ਸੌ|ਡੇਢ|ਸਾਢੇ|ਪੰਜ|ਹਜ਼ਾਰ| |-|,){0,20}") {
        for language in [Language::English, Language::Panjabi] {
            for run in find(&text, language) {
                prop_assert!(!text[run.start..run.end].is_empty() && !run.words(language).is_empty());
            }
        }
    }
}
