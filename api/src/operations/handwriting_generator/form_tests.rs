//! Tests the handwriting form: defaults, ranges, violations, and that its OpenAPI schema agrees with them.

use akhar_requests::Bounded;
use serde_json::{Value, json};

use super::*;
use crate::{input::fields::Fields as _, operations::form};

/// The parameters that the form returns, or the problem's status and its pairs of field and code.
async fn read(query: &str, body: &Value) -> Result<HandwritingParameters, (u64, Value)> {
    form::tests::read::<HandwritingForm>(query, "application/json", body.to_string()).await
}

fn of<const MIN: u16, const MAX: u16>(number: f64) -> Bounded<f64, MIN, MAX> {
    Bounded::new(number).unwrap()
}

fn plain() -> HandwritingParameters {
    HandwritingParameters {
        text: PanjabiText::parse("ਸਤਿ", None).unwrap(),
        line_space: of(125.0),
        char_space: of(35.0),
        word_space: of(75.0),
        page_width: of(550.0),
        page_length: of(550.0),
        picture: None,
        seed: None,
    }
}

#[tokio::test]
async fn only_the_text_is_required() {
    assert_eq!(read("", &json!({"text": "ਸਤਿ"})).await, Ok(plain()));
    let picture = Picture { stroke_color: StrokeColor::Black, stroke_width: of(2.5), with_svg: false };
    assert_eq!(
        read("", &json!({"text": "ਸਤਿ", "with-image": true})).await,
        Ok(HandwritingParameters { picture: Some(picture), ..plain() })
    );
    assert_eq!(read("", &json!({})).await, Err((422, json!([["text", "missing"]]))));
}

#[tokio::test]
async fn every_field_sets_its_parameter() {
    let all = json!({"text": "\u{a36}ਾ", "line-space": 120, "char-space": 30.5, "word-space": 100, "page-width": 300,
        "page-length": 950.0, "with-image": true, "stroke-color": "pink", "stroke-width": 8, "seed": u32::MAX});
    let written = HandwritingParameters {
        text: PanjabiText::parse("\u{a38}\u{a3c}ਾ", None).unwrap(),
        line_space: of(120.0),
        char_space: of(30.5),
        word_space: of(100.0),
        page_width: of(300.0),
        page_length: of(950.0),
        picture: Some(Picture { stroke_color: StrokeColor::Pink, stroke_width: of(8.0), with_svg: false }),
        seed: Some(u32::MAX),
    };
    assert_eq!(read("", &all).await, Ok(written));
}

#[tokio::test]
async fn figures_are_written_in_either_script_if_they_are_asked_for() {
    let text = async |figures: &str| {
        let form = json!({"text": "15 ਅਗਸਤ", "figures": figures});
        read("", &form).await.map(|parameters| parameters.text.as_str().to_owned())
    };
    assert_eq!(text("gurmukhi").await.as_deref(), Ok("੧੫ ਅਗਸਤ"));
    assert_eq!(text("latin").await.as_deref(), Ok("15 ਅਗਸਤ"));
    assert_eq!(
        text("roman").await,
        Err((422, json!([["text", "character_not_allowed"], ["figures", "not_a_choice"]])))
    );
}

#[tokio::test]
async fn the_stroke_is_checked_with_and_without_a_picture() {
    let plain_stroke = json!({"text": "ਸਤਿ", "stroke-color": "brown", "stroke-width": 1});
    assert_eq!(read("", &plain_stroke).await, Ok(plain()));
    for with_image in [true, false] {
        let wrong =
            json!({"text": "ਸਤਿ", "with-image": with_image, "stroke-color": "red", "stroke-width": 8.01});
        let both = json!([["stroke-color", "not_a_choice"], ["stroke-width", "out_of_range"]]);
        assert_eq!(read("", &wrong).await, Err((422, both)));
    }
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    let wrong = json!({"text": "a", "line-space": 119, "char-space": "35", "word-space": null, "page-width": 951,
        "page-length": [], "with-image": "true", "stroke-color": "Black", "stroke-width": 0.5, "seed": -1, "colour": 1});
    let all = json!([
        ["text", "too_short"],
        ["text", "character_not_allowed"],
        ["text", "no_letter"],
        ["colour", "unknown"],
        ["top-k", "unknown"],
        ["line-space", "out_of_range"],
        ["char-space", "wrong_type"],
        ["word-space", "wrong_type"],
        ["page-width", "out_of_range"],
        ["page-length", "wrong_type"],
        ["with-image", "wrong_type"],
        ["stroke-color", "not_a_choice"],
        ["stroke-width", "out_of_range"],
        ["seed", "out_of_range"]
    ]);
    assert_eq!(read("?top-k=1", &wrong).await, Err((422, all)));
}

#[test]
fn the_schema_has_the_fields_with_their_ranges_and_defaults() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    let schema = &document["components"]["schemas"]["HandwritingForm"];
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["text"]), &json!(false)));
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), HandwritingForm::ALL.len());
    for (name, [minimum, maximum, default]) in [
        ("line-space", [120.0, 150.0, 125.0]),
        ("char-space", [30.0, 50.0, 35.0]),
        ("word-space", [70.0, 100.0, 75.0]),
        ("page-width", [300.0, 950.0, 550.0]),
        ("page-length", [300.0, 950.0, 550.0]),
        ("stroke-width", [1.0, 8.0, 2.5]),
    ] {
        let number = |key: &str| properties[name][key].as_f64().unwrap();
        assert_eq!(number("minimum")..=number("maximum"), minimum..=maximum, "{name}");
        assert_eq!(number("default").to_bits(), default.to_bits(), "{name}");
    }
    assert_eq!(properties["stroke-color"]["enum"], json!(StrokeColor::ALL.map(StrokeColor::name)));
}
