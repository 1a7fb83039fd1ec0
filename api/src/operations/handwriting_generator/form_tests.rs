//! Tests the handwriting form: defaults, ranges, violations, and that its OpenAPI schema agrees with them.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use super::*;
use crate::router::tests::app;

/// The parameters that the form returns, or the problem's status and its pairs of field and code.
async fn read(query: &str, body: &Value) -> Result<HandwritingParameters, (u64, Value)> {
    let request = Request::post(format!("/{query}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    match HandwritingForm::from_request(request, &app()).await {
        Ok(form) => Ok(form.0),
        Err(problem) => {
            let body = serde_json::to_value(problem.body("/", "r")).unwrap();
            let errors = body["errors"].as_array().cloned().unwrap_or_default();
            let pairs = errors.iter().map(|e| json!([e["field"], e["code"]])).collect();
            Err((body["status"].as_u64().unwrap(), pairs))
        }
    }
}

fn plain() -> HandwritingParameters {
    HandwritingParameters {
        text: "ਸਤਿ".to_owned(),
        line_space: 125.0,
        char_space: 35.0,
        word_space: 75.0,
        page_width: 550.0,
        page_length: 550.0,
        picture: None,
    }
}

#[tokio::test]
async fn only_the_text_is_required() {
    assert_eq!(read("", &json!({"text": "ਸਤਿ"})).await, Ok(plain()));
    let picture = Picture { stroke_color: StrokeColor::Black, stroke_width: 2.5 };
    assert_eq!(
        read("", &json!({"text": "ਸਤਿ", "with-image": true})).await,
        Ok(HandwritingParameters { picture: Some(picture), ..plain() })
    );
    assert_eq!(read("", &json!({})).await, Err((422, json!([["text", "missing"]]))));
}

#[tokio::test]
async fn every_field_sets_its_parameter() {
    let all = json!({"text": "\u{a36}ਾ", "line-space": 120, "char-space": 30.5, "word-space": 100, "page-width": 300,
        "page-length": 950.0, "with-image": true, "stroke-color": "pink", "stroke-width": 8});
    let written = HandwritingParameters {
        text: "\u{a38}\u{a3c}ਾ".to_owned(),
        line_space: 120.0,
        char_space: 30.5,
        word_space: 100.0,
        page_width: 300.0,
        page_length: 950.0,
        picture: Some(Picture { stroke_color: StrokeColor::Pink, stroke_width: 8.0 }),
    };
    assert_eq!(read("", &all).await, Ok(written));
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
        "page-length": [], "with-image": "true", "stroke-color": "Black", "stroke-width": 0.5, "colour": 1});
    let all = json!([
        ["colour", "unknown"],
        ["top-k", "unknown"],
        ["text", "too_short"],
        ["text", "character_not_allowed"],
        ["text", "no_letter"],
        ["line-space", "out_of_range"],
        ["char-space", "wrong_type"],
        ["word-space", "wrong_type"],
        ["page-width", "out_of_range"],
        ["page-length", "wrong_type"],
        ["with-image", "wrong_type"],
        ["stroke-color", "not_a_choice"],
        ["stroke-width", "out_of_range"]
    ]);
    assert_eq!(read("?top-k=1", &wrong).await, Err((422, all)));
}

#[test]
fn the_schema_has_the_ranges_and_defaults_that_are_checked() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    let schema = &document["components"]["schemas"]["HandwritingForm"];
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["text"]), &json!(false)));
    let properties = &schema["properties"];
    let names: Vec<&str> = properties.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(FIELDS.iter().all(|f| names.contains(f)) && names.len() == FIELDS.len(), "{names:?}");
    for measure in [LINE_SPACE, CHAR_SPACE, WORD_SPACE, PAGE_WIDTH, PAGE_LENGTH, STROKE_WIDTH] {
        let number = |name: &str| properties[measure.name][name].as_f64().unwrap();
        assert_eq!(number("minimum")..=number("maximum"), measure.range, "{}", measure.name);
        assert_eq!(number("default").to_bits(), measure.default.to_bits(), "{}", measure.name);
    }
    let colors = StrokeColor::ALL.map(StrokeColor::name);
    assert_eq!(properties[STROKE_COLOR]["enum"], json!(colors));
}
