//! What is copied of a text, by examples.

use proptest::prelude::*;

use super::{
    lexicon::Lexicon,
    placeholders::{Masked, items, mask},
};
use crate::numbers::{self, Language};

const NAMES: &str = "Moga\tਮੋਗਾ\tboth\nMoga\tਮੋਗੇ\tpa\nNew Delhi\tਨਵੀਂ ਦਿੱਲੀ\tboth\nDelhi\tਦਿੱਲੀ\tboth\n\
     delhi\tਦਿੱਲੀ\ten\nKaran\tਕਰਨ\ten\nFirefox\tFirefox\ten\nFatehgarh Sahib\tਫ਼ਤਹਿਗੜ੍ਹ ਸਾਹਿਬ\tboth";

fn masked(text: &str, language: &str) -> Masked {
    let language = Language::of(language).unwrap();
    mask(
        text,
        items(text, language, &Lexicon::parse(NAMES).unwrap(), Some(&numbers::phrases(text, language))),
    )
}

/// A text with its placeholders as `<n0>` and `<w0>`.
fn shown(text: &str) -> String {
    let one = |c: char| match c {
        '\u{e000}'..='\u{e009}' => format!("<n{}>", u32::from(c) - 0xe000),
        '\u{e010}'..='\u{e019}' => format!("<w{}>", u32::from(c) - 0xe010),
        _ => c.to_string(),
    };
    text.chars().map(one).collect()
}

fn check(language: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let masked = masked(text, language);
        assert_eq!(shown(&masked.text), *expected, "{text:?}");
        let placeholders = masked.text.chars().filter(|c| ('\u{e000}'..='\u{e01f}').contains(c));
        assert!(placeholders.eq(masked.values.iter().map(|(placeholder, _)| *placeholder)), "{text:?}");
    }
}

#[test]
fn what_is_copied_of_english() {
    check(
        "en",
        &[
            ("It is 6:15 on 14/05/2025, 14-5-2025 or 2025-05-14.", "It is <n0> on <n1>, <n2> or <n3>."),
            (
                "Pay ₹1,500.50, $20, €5 or £7.25; 50% off, 12.5 %.",
                "Pay <n0>, <n1>, <n2> or <n3>; <n4> off, <n5> %.",
            ),
            ("Call +91 98765 43210, 98765-43210 or 1800 123 4567.", "Call <n0>, <n1> or <n2>."),
            ("in 2020 500 people, 2 3 and 20 14th", "in <n0> people, <n1> <n2> and <n3> <n4>th"),
            ("-5°C, +3, −4, 7-9, 2019–20, 1/2, 10x20", "<n0>°C, <n1>, <n2>, <n3>, <n4>, <n5>, <w0>"),
            ("Pay ₹1,50,000/- or 5/6", "Pay <n0> or <n1>"),
            ("the 14th, 5kg, 10am, 10AM, 4G, 64GB", "the <n0>th, <n1>kg, <n2>, <n3>, <w0>, <w1>"),
            ("IPv4, COVID-19, mp3, H.264, B2B, A4-size", "<w0>, <w1>, <w2>, H.<n0>, <w3>, <w4>"),
            ("See https://a.org/x?y=1. Mail me@b.co.in, pay 73@axis!", "See <w0>. Mail <w1>, pay <w2>!"),
            (
                "firefox.com and mozilla.org/en/ are not example.community",
                "<w0> and <w1> are not example.community",
            ),
            (
                "%1$s of %2$d, {{x}} {y} %{z} <TAG> </b> <br/> 100%",
                "<w0> of <w1>, <w2> <w3> <w4> <w5> <w6> <w7> <n0>",
            ),
            ("%1$s_%2$s.txt, %dx, %discount and a%s", "<w0>_<w1>.txt, %dx, %discount and a<w2>"),
            ("Zürich, naïve, 東京 and 😀! Привет мир.", "Zürich, naïve, <w0> and <w1>! <w2> <w3>."),
            ("Take \u{e000} \u{e010} \u{f8ff} x\u{e001}y", "Take <w0> <w1> <w2> x<w3>y"),
            (
                "From New Delhi to delhi's Moga, moga, Fatehgarh Sahib.",
                "From <w0> to <w1>'s <w2>, moga, <w3>.",
            ),
            ("Karan uses Firefox's New  Delhi Express_Delhi", "<w0> uses <w1>'s New  <w2> Express_Delhi"),
            ("no numbers at all, or 0", "no numbers at all, or <n0>"),
            ("", ""),
        ],
    );
}

#[test]
fn what_is_copied_of_panjabi() {
    check(
        "pa",
        &[
            ("ਕੀਮਤ ੪੫੦ ਰੁਪਏ, ₹1,500 ਜਾਂ ੧,੫੦੦.੫੦ ਹੈ।", "ਕੀਮਤ <n0> ਰੁਪਏ, <n1> ਜਾਂ <n2> ਹੈ।"),
            ("ਕੋਵਿਡ-19, 14ਵੀਂ, 5ਵਾਂ, ੬:੧੫ ਵਜੇ।", "ਕੋਵਿਡ-<n0>, <n1>ਵੀਂ, <n2>ਵਾਂ, <n3> ਵਜੇ।"),
            ("Mozilla VPN ਨੂੰ Wi-Fi ਤੋਂ, AT&T ਅਤੇ IPv6।", "<w0> ਨੂੰ <w1> ਤੋਂ, <w2> ਅਤੇ <w3>।"),
            ("ਕਰਨ ਮੋਗੇ ਵਿੱਚ, ਮੋਗਾ, ਮੋਗੇਂ, ਨਵੀਂ ਦਿੱਲੀ ਤੇ ਦਿੱਲੀ।", "ਕਰਨ <w0> ਵਿੱਚ, <w1>, ਮੋਗੇਂ, <w2> ਤੇ <w3>।"),
            ("ਅੱਜ 42°C, ੪੨°C ਤੇ 5°", "ਅੱਜ <n0>, <n1> ਤੇ <n2>°"),
            ("ਫ਼ਤਹਿਗੜ੍ਹ ਸਾਹਿਬ ਤੋਂ firefox.comਤੇ me@b.in।", "<w0> ਤੋਂ <w1>ਤੇ <w2>।"),
            ("ੴ ☬ ॐ हिन्दी", "ੴ <w0> <w1> <w2>"),
            ("ਫ਼ੋਨ +91 98765 43210। %1$s ਵਿੱਚੋਂ {{x}}।", "ਫ਼ੋਨ <n0>। <w0> ਵਿੱਚੋਂ <w1>।"),
            ("This is English text.", "<w0>."),
        ],
    );
}

#[test]
fn values_are_those_of_the_targets_script() {
    let values = |text: &str, language: &str| -> Vec<String> {
        masked(text, language).values.into_iter().map(|(_, value)| value).collect()
    };
    assert_eq!(values("੪੫੦", "pa"), ["450"]);
    assert_eq!(values("੪੫੦", "en"), ["੪੫੦"]);
    assert_eq!(values("Karan, New Delhi", "en"), ["ਕਰਨ", "ਨਵੀਂ ਦਿੱਲੀ"]);
    assert_eq!(values("ਮੋਗੇ", "pa"), ["Moga"]);
}

#[test]
fn numbers_in_words_are_written_in_the_target() {
    check(
        "pa",
        &[
            ("ਮੇਰਾ ਨੰਬਰ ਨੌਂ ਅੱਠ ਸੱਤ ਹੈ।", "ਮੇਰਾ ਨੰਬਰ <n0> ਹੈ।"),
            ("ਪੰਜਵੀਂ ਜਮਾਤ ਦੇ 5 ਲੱਖ ਬੱਚੇ", "<n0>ਵੀਂ ਜਮਾਤ ਦੇ <n1> ਬੱਚੇ"),
            ("ਮੋਗੇ ਵਿੱਚ ਦੋ ਲੱਖ, ਇੱਕ ਘਰ", "<w0> ਵਿੱਚ <n0>, ਇੱਕ ਘਰ"),
        ],
    );
    check("en", &[("the twenty-first of 5 thousand, two@x.com", "the <n0>th of <n1>, <w0>")]);
    let restored =
        |text: &str, language: &str, translation: &str| masked(text, language).restore(translation);
    assert_eq!(restored("ਪੰਜ ਚਾਰ ਆਏ", "pa", "\u{e000} came"), "Five four came");
    assert_eq!(restored("5 ਲੱਖ ਲੋਕ", "pa", "\u{e000} people"), "5 lakh people");
    assert_eq!(restored("third class", "en", "\u{e000}ਵੀਂ ਕਲਾਸ"), "ਤੀਜੀ ਕਲਾਸ");
    assert_eq!(restored("ਤੀਜੀ ਕਲਾਸ", "pa", "the \u{e000}th class"), "the third class");
    assert_eq!(restored("two men", "en", "ਘਰ\u{e000}ਬੰਦੇ"), "ਘਰ ਦੋ ਬੰਦੇ");
    for (text, translation, expected) in [
        ("ਸਾਢੇ ਪੰਜ ਵਜੇ", "at \u{e000} o'clock.", "at five thirty."),
        ("ਪੰਜ ਵਜੇ", "at \u{e000} o'clock", "at five o'clock"),
        ("ਦੋ ਤਿੰਨ ਵਜੇ", "at \u{e000} o’clock", "at two or three o’clock"),
        ("5:15 ਵਜੇ", "at \u{e000} o'clock", "at 5:15"),
    ] {
        assert_eq!(restored(text, "pa", translation), expected);
    }
    let alone = masked("Five four.", "en");
    assert_eq!(alone.restore(&alone.untranslated(Language::of("pa"))), "ਪੰਜ ਚਾਰ।");
    let figures = masked("54.", "en");
    assert_eq!(figures.restore(&figures.untranslated(Language::of("pa"))), "54.");
}

#[test]
fn a_sign_and_the_parts_of_a_sum_stay_with_their_number() {
    let values = |text: &str, language: &str| {
        let masked = masked(text, language);
        (shown(&masked.text), masked.values.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|"))
    };
    for (language, text, expected, value) in [
        ("en", "The balance is minus four hundred rupees.", "The balance is <n0> rupees.", "ਮਨਫ਼ੀ ਚਾਰ ਸੌ"),
        ("en", "Minus 10 degrees", "<n0> degrees", "ਮਨਫ਼ੀ 10"),
        ("en", "minus ₹400", "<n0>", "ਮਨਫ਼ੀ ₹400"),
        ("en", "from minus five to minus two", "from <n0> to <n1>", "ਮਨਫ਼ੀ ਪੰਜ|ਮਨਫ਼ੀ ਦੋ"),
        ("en", "Five minus three is two.", "<n0> is <n1>.", "ਪੰਜ ਮਨਫ਼ੀ ਤਿੰਨ|ਦੋ"),
        ("en", "The score was minus one.", "The score was <n0>.", "ਮਨਫ਼ੀ ਇੱਕ"),
        ("pa", "ਸਕੋਰ ਮਨਫ਼ੀ ਇੱਕ ਸੀ", "ਸਕੋਰ <n0> ਸੀ", "minus one"),
        ("en", "all minus the tax", "all minus the tax", ""),
        ("pa", "ਤਾਪਮਾਨ ਮਨਫ਼ੀ ਦਸ ਡਿਗਰੀ ਹੈ", "ਤਾਪਮਾਨ <n0> ਡਿਗਰੀ ਹੈ", "minus ten"),
        ("pa", "ਮਾਈਨਸ ੧੦ ਡਿਗਰੀ", "<n0> ਡਿਗਰੀ", "minus 10"),
        ("pa", "ਰਿਣ ਪੰਜ ਡਿਗਰੀ", "<n0> ਡਿਗਰੀ", "minus five"),
        ("pa", "ਰਿਣ ਪੰਜ ਲੱਖ ਰੁਪਏ", "ਰਿਣ <n0> ਰੁਪਏ", "five hundred thousand"),
        ("pa", "ਪੰਜ ਰੁਪਏ ਪੰਜਾਹ ਪੈਸੇ ਲੱਗੇ", "<n0> ਲੱਗੇ", "five rupees and fifty paise"),
        ("pa", "5 ਰੁਪਏ ਅਤੇ 50 ਪੈਸੇ ਲੱਗੇ", "<n0> ਲੱਗੇ", "5 rupees and 50 paise"),
        ("pa", "ਪੰਜਾਹ ਪੈਸੇ", "<n0>", "fifty paise"),
        ("pa", "ਪੰਜ ਰੁਪਏ ਤੇ ਪੰਜਾਹ ਬੰਦੇ", "<n0> ਰੁਪਏ ਤੇ <n1> ਬੰਦੇ", "five|fifty"),
        ("en", "five rupees and fifty paise", "<n0> rupees", "ਪੰਜ ਰੁਪਏ ਪੰਜਾਹ ਪੈਸੇ"),
        ("en", "five dollars twenty cents", "<n0> dollars", "ਪੰਜ ਡਾਲਰ ਵੀਹ ਸੈਂਟ"),
        ("en", "two pounds and forty pence", "<n0> pounds", "ਦੋ ਪੌਂਡ ਚਾਲੀ ਪੈਂਸ"),
        ("en", "forty pence", "<n0>", "ਚਾਲੀ ਪੈਂਸ"),
        ("pa", "ਪੰਜ ਯੂਰੋ ਵੀਹ ਸੈਂਟ ਲੱਗੇ", "<n0> ਲੱਗੇ", "five euros and twenty cents"),
        ("pa", "ਪੰਜ ਪੌਂਡ ਵੀਹ ਪੈਂਸ ਲੱਗੇ", "<n0> ਲੱਗੇ", "five pounds and twenty pence"),
        ("en", "at seven p.m. today", "at <n0> today", "ਸ਼ਾਮ ਸੱਤ ਵਜੇ"),
        ("en", "at 7-9 pm.", "at <n0>.", "ਰਾਤ 7-9 ਵਜੇ"),
    ] {
        assert_eq!(values(text, language), (expected.to_owned(), value.to_owned()), "{text}");
    }
    for (translation, expected) in [
        ("ਬੱਸ \u{e000} ਵਜੇ ਆਉਂਦੀ ਹੈ", "ਬੱਸ ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ 'ਤੇ ਆਉਂਦੀ ਹੈ"),
        ("ਮੀਟਿੰਗ \u{e000} ਵਜੇ ਹੈ", "ਮੀਟਿੰਗ ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ 'ਤੇ ਹੈ"),
        ("\u{e000} ਵੱਜੇ ਹਨ", "ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ ਹੋਏ ਹਨ"),
        ("\u{e000}", "ਅੱਠ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ"),
    ] {
        assert_eq!(masked("five past eight", "en").restore(translation), expected);
    }
    let sum = masked("It cost five rupees and fifty paise.", "en");
    assert_eq!(sum.restore("ਮੁੱਲ \u{e000} ਰੁਪਏ ਹੈ।"), "ਮੁੱਲ ਪੰਜ ਰੁਪਏ ਪੰਜਾਹ ਪੈਸੇ ਹੈ।");
    let sum = masked("It cost 5 rupees 50 paise.", "en");
    assert_eq!(sum.restore("ਮੁੱਲ \u{e000} ਰੁਪਏ ਹੈ।"), "ਮੁੱਲ 5 ਰੁਪਏ 50 ਪੈਸੇ ਹੈ।");
}

#[test]
fn ten_of_a_kind_are_replaced() {
    let text = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 a1";
    let masked = masked(text, "en");
    assert_eq!(masked.values.len(), 11);
    assert!(masked.text.ends_with(", 10, 11 \u{e010}") && masked.is_full);
}

#[test]
fn words_of_two_scripts_are_set_apart() {
    let values = [
        ('\u{e000}', "5"),
        ('\u{e010}', "a@b.in"),
        ('\u{e011}', "%1$s"),
        ('\u{e012}', "ਮੋਗਾ"),
        ('\u{e013}', "<b>"),
    ];
    let values = values.map(|(placeholder, value)| (placeholder, value.to_owned())).to_vec();
    let masked = Masked { values, ..Masked::default() };
    let mixed = "\u{e010}.ਘਰ ਘਰ_\u{e010} \u{e011}_ਘਰ";
    assert_eq!(masked.apart(mixed), "\u{e010}. ਘਰ ਘਰ_ \u{e010} \u{e011}_ ਘਰ");
    let kept =
        "\u{e010}, ਘਰ। \u{e011}-ਮਿੰਟ \u{e000}ਵਾਂ \u{e012}ਨੂੰ \u{e013}ਘਰ, ਘਰ\u{e013} \u{e010}\u{e010} ਘਰ \u{e011}";
    assert_eq!(masked.apart(kept), kept);
}

#[test]
fn a_lexicon_says_which_line_is_wrong() {
    assert!(Lexicon::parse("").is_ok());
    for text in ["Moga\tਮੋਗਾ\tboth\nDelhi\tਦਿੱਲੀ", "Moga\tਮੋਗਾ\tboth\nDelhi\tਦਿੱਲੀ\tto"]
    {
        let error = Lexicon::parse(text).unwrap_err();
        assert!(error.starts_with("line 2 is "), "{error}");
    }
}

proptest! {
    #[test]
    fn a_masked_text_comes_back(text in "[0੩9 .,:+₹$%@/a7Zਕਂ੍{}<>_😀\u{e003}()'-]{0,25}") {
        let text = text.trim();
        let masked = mask(text, items(text, Language::English, &Lexicon::default(), None));
        prop_assert_eq!(masked.restore(&masked.text), text);
    }
}
