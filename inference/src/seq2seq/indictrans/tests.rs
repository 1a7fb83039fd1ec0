use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::{testing::golden, text::folded};

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    language: String,
    text: String,
    prepared: String,
    finished: String,
}

#[test]
fn texts_are_prepared_and_finished_as_the_toolkit_does() {
    let golden: Golden = golden("seq2seq/indictrans2/preparation.json");
    assert!(golden.cases.len() >= 80);
    let mut wrong = Vec::new();
    for case in &golden.cases {
        let language = Language::of(&case.language).unwrap();
        let prepared = prepare(&folded(&case.text), language, &[]);
        let finished = finish(&case.prepared, language, &[]);
        if (&prepared, &finished) != (&case.prepared, &case.finished) {
            wrong.push(format!(
                "{}\n  {prepared}\n  {}\n  {finished}\n  {}\n",
                case.text, case.prepared, case.finished
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

fn marked(text: &str, language: Language) -> String {
    let masked = mask(text, language);
    prepare(&masked.text, language, &masked.placeholders())
}

#[test]
fn addresses_and_long_numbers_are_marked_and_the_rest_is_translated() {
    let english = |text| marked(text, Language::English);
    assert_eq!(
        english("Write to a.b@example.com or see https://x.y/z."),
        "Write to < ID1 > or see < ID2 > ."
    );
    assert_eq!(
        english("It cost ₹1,50,000 on 12/05/2024, 5 of 9876543210."),
        "It cost < ID1 > on < ID2 > , 5 of 9876543210 ."
    );
    assert_eq!(
        english("Two 4G phones, COVID-19, 50% and 100.5%"),
        "Two 4G phones , COVID-19 , 50 % and < ID1 >"
    );
    assert_eq!(english("Tap %1$s {name} 😀"), "Tap < ID1 > < ID2 > < ID3 >");
    let panjabi = marked("੧੨:੩੦:੪੫ ਵਜੇ VPN ਤੇ example.com ਖੋਲ੍ਹੋ", Language::Panjabi);
    assert_eq!(panjabi, "< ID1 > वजे VPN ते < ID2 > खोल्हो");
}

#[test]
fn marks_become_placeholders_however_the_network_writes_them() {
    let placeholders = ['\u{e010}', '\u{e000}'];
    for written in
        ["< ID1 > , < ID2 > ।", "<ID1> , [ ID2 ] ।", "< आईडी1 > , आई . डी . 2 ।", "[id1] , < आयडी 2 > ।"]
    {
        assert_eq!(finish(written, Language::Panjabi, &placeholders), "\u{e010}, \u{e000}।", "{written}");
    }
    assert_eq!(finish("< ID3 > and ID1", Language::English, &placeholders), "< ID3 > and ID1");
}

proptest! {
    #[test]
    fn what_is_copied_comes_back(text in "[0੩9 .,:+₹$%@/a7Zਕਂ੍{}<>_😀\u{e003}()'\"-]{0,25}") {
        for language in [Language::English, Language::Panjabi] {
            let masked = mask(&text, language);
            if language == Language::English {
                prop_assert_eq!(masked.restore(&masked.text), text.trim());
            }
            let placeholders = masked.placeholders();
            let finished = finish(&prepare(&masked.text, language, &placeholders), language, &placeholders);
            for placeholder in placeholders {
                prop_assert!(finished.contains(placeholder), "{finished:?}");
            }
        }
    }

    #[test]
    fn any_text_is_prepared_with_single_spaces(text in ".{0,40}") {
        for language in [Language::English, Language::Panjabi] {
            let prepared = prepare(&text, language, &[]);
            prop_assert!(!prepared.contains("  "), "{prepared:?}");
            finish(&text, language, &['\u{e000}']);
        }
    }

    #[test]
    fn a_second_round_changes_no_panjabi(text in "[ਅ-ਹਾ-ੌ]{1,6}( [ਅ-ਹਾ-ੌ]{1,6}){0,4}[।?!]") {
        let text = folded(&text);
        let once = finish(&prepare(&text, Language::Panjabi, &[]), Language::Panjabi, &[]);
        prop_assert_eq!(finish(&prepare(&once, Language::Panjabi, &[]), Language::Panjabi, &[]), once);
    }
}
