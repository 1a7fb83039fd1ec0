//! Every field at its limits and beyond them, the defaults, and fields with wrong types, duplicated or
//! misspelt.

use akhar_tests::{Stack, http::send};
use serde_json::{Value, json};

use super::{GREETING, greeting_and, write, write_raw};
use crate::violations;

/// The fields that are numbers, with their minimum, maximum and default.
const MEASURES: [(&str, f64, f64, f64); 6] = [
    ("line-space", 120.0, 150.0, 125.0),
    ("char-space", 30.0, 50.0, 35.0),
    ("word-space", 70.0, 100.0, 75.0),
    ("page-width", 300.0, 950.0, 550.0),
    ("page-length", 300.0, 950.0, 550.0),
    ("stroke-width", 1.0, 8.0, 2.5),
];

const INKS: [&str; 6] = ["black", "blue", "pink", "green", "yellow", "brown"];

/// Sends a greeting with one more field, which must be refused with this code. Returns the details.
async fn refused(stack: &Stack, field: &str, value: Value, code: &str) -> String {
    let problem = stack.refused(write(stack, &greeting_and(field, value)), 422).await;
    assert_eq!(problem.errors(), violations([(field, code)]), "{}", problem.json);
    assert_eq!(problem.slug, "invalid-input");
    problem.details()
}

#[tokio::test]
async fn numbers_are_accepted_within_their_range_and_refused_beyond_it() {
    let stack = Stack::start().await;
    for (field, least, most, default) in MEASURES {
        for n in [least, least + 0.01, f64::midpoint(least, most), most - 0.01, most, default] {
            send(write(&stack, &greeting_and(field, n))).await.strokes();
        }
        // A whole number can be written without decimals.
        let whole = format!(r#"{{"text":"{GREETING}","{field}":{most}}}"#);
        send(write_raw(&stack, "application/json", whole)).await.strokes();
        for n in [least - 0.01, least - 1.0, most + 0.01, most + 1.0, 0.0, -least, 1e300] {
            let details = refused(&stack, field, n.into(), "out_of_range").await;
            let (low, high) = (least.to_string(), most.to_string());
            assert!(
                details.contains(&low) && details.contains(&high),
                "the detail names the limits: {details}"
            );
        }
        let too_large = format!(r#"{{"text":"{GREETING}","{field}":1e999}}"#);
        let problem = stack.refused(write_raw(&stack, "application/json", too_large), 422).await;
        assert_eq!(problem.errors(), violations([(field, "out_of_range")]));
    }
}

#[tokio::test]
async fn a_field_with_another_json_type_is_refused() {
    let stack = Stack::with().workers(0).start().await;
    for (field, _, _, default) in MEASURES {
        for value in [json!(default.to_string()), json!(null), json!(true), json!([default]), json!({})] {
            let details = refused(&stack, field, value.clone(), "wrong_type").await;
            assert!(details.contains(field) && details.contains("a number from"), "{value}: {details}");
        }
    }
    for value in [json!("true"), json!("false"), json!(1), json!(0), json!(null), json!([]), json!({})] {
        refused(&stack, "with-image", value, "wrong_type").await;
    }
    for value in [json!(1), json!(null), json!(false), json!(["black"]), json!({"black": 1})] {
        refused(&stack, "stroke-color", value, "wrong_type").await;
    }
    for value in [json!(12), json!(null), json!(true), json!([GREETING]), json!({"text": GREETING})] {
        refused(&stack, "text", value, "wrong_type").await;
    }
    let details = refused(&stack, "line-space", json!("125"), "wrong_type").await;
    assert_eq!(details, r#"line-space is "125" (a string), expected a number from 120 to 150"#);
    stack.jobs_are(0, "queued").await;
}

#[tokio::test]
async fn the_ink_is_one_of_six_colours() {
    let stack = Stack::with().workers(0).start().await;
    let later = |fields: &Value| write(&stack, fields).header("prefer", "respond-async");
    for ink in INKS {
        send(later(&greeting_and("stroke-color", ink))).await.job();
    }
    for (other, near) in [
        ("Black", "black"),
        ("BLUE", "blue"),
        ("gren", "green"),
        ("red", "brown"),
        ("", "black"),
        ("#000000", "pink"),
    ] {
        let details = refused(&stack, "stroke-color", other.into(), "not_a_choice").await;
        assert!(details.contains(near), "{other}: {details}");
    }
}

#[tokio::test]
async fn a_missing_field_has_its_default() {
    let stack = Stack::with().workers(0).start().await;
    let accepted = async |fields: &Value| -> Value {
        let id = send(write(&stack, fields).header("prefer", "respond-async")).await.job();
        let sqlx::types::Json(parameters) = stack.row("select parameters from jobs where id = $1", id).await;
        parameters
    };
    let mut expected = json!({"operation": "handwriting-generator", "text": GREETING, "picture": null});
    for (field, _, _, default) in &MEASURES[..5] {
        expected[*field] = (*default).into();
    }
    assert_eq!(accepted(&json!({"text": GREETING})).await, expected);
    // The colour and width of strokes have no effect without a picture.
    let stroke = json!({"text": GREETING, "stroke-color": "pink", "stroke-width": 8, "with-image": false});
    assert_eq!(accepted(&stroke).await, expected);
    expected["picture"] = json!({"stroke-color": "black", "stroke-width": 2.5});
    assert_eq!(accepted(&greeting_and("with-image", true)).await, expected);
}

#[tokio::test]
async fn duplicated_and_misnamed_fields_are_refused() {
    let stack = Stack::with().workers(0).start().await;
    for (doubled, field) in [
        (r#""text":"ਸਤਿ""#, "text"),
        (r#""line-space":130"#, "line-space"),
        (r#""with-image":false"#, "with-image"),
        (r#""line\u002dspace":130"#, "line-space"),
    ] {
        let body = format!(r#"{{"text":"ਸਤਿ","line-space":130,"with-image":false,{doubled}}}"#);
        let problem = stack.refused(write_raw(&stack, "application/json", body), 422).await;
        assert_eq!(problem.errors(), violations([(field, "duplicated")]), "{}", problem.json);
    }
    for (name, near) in [
        ("line_space", "line-space"),
        ("lineSpace", "line-space"),
        ("Page-Width", "page-width"),
        ("page-height", "page-length"),
        ("stroke-colour", "stroke-color"),
        ("withImage", "with-image"),
        ("Text", "text"),
    ] {
        let details = refused(&stack, name, 1.into(), "unknown").await;
        assert!(details.contains(&format!("\"{near}\"")), "{name}: {details}");
    }
    let request = stack.request("POST", &format!("{}?text=x", super::PATH)).json(&json!({"text": GREETING}));
    assert_eq!(stack.refused(request, 422).await.errors(), violations([("text", "unknown")]));
    let problem = stack.refused(write(&stack, &json!({})), 422).await;
    assert_eq!(problem.errors(), violations([("text", "missing")]));
    stack.jobs_are(0, "queued").await;
}

#[tokio::test]
async fn all_violations_are_reported_at_once() {
    let stack = Stack::with().workers(0).start().await;
    let fields = json!({
        "text": "a", "line-space": 119, "char-space": 51, "word-space": "75", "page-width": null, "page-length": 951,
        "with-image": "yes", "stroke-color": "red", "stroke-width": 0.9, "colour": "blue",
    });
    let all = [
        ("text", "too_short"),
        ("text", "character_not_allowed"),
        ("text", "no_letter"),
        ("line-space", "out_of_range"),
        ("char-space", "out_of_range"),
        ("word-space", "wrong_type"),
        ("page-width", "wrong_type"),
        ("page-length", "out_of_range"),
        ("with-image", "wrong_type"),
        ("stroke-color", "not_a_choice"),
        ("stroke-width", "out_of_range"),
        ("colour", "unknown"),
    ];
    let problem = stack.refused(write(&stack, &fields), 422).await;
    assert_eq!(problem.errors(), violations(all), "{}", problem.json);
}
