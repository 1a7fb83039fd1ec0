//! The text: its length in NFC, the allowed characters, and at least one letter or digit.

use akhar_tests::{Stack, http::send};
use serde_json::{Value, json};

use super::write;
use crate::violations;

#[tokio::test]
async fn texts_with_every_allowed_class_of_characters_are_written() {
    let stack = Stack::start().await;
    for text in [
        "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ",
        "ੴ ਸਤਿਨਾਮੁ।",
        "੧੨੩੪੫੬੭੮੯੦",
        "ਪਹਿਲੀ\nਦੂਜੀ॥",
        "ਕ੍\u{200d}ਖ\u{200c}",
        "ਕ.,?!-()'\":;",
        "ੳਅੲਸਹ",
        "ਸ\u{a3c}ਖ\u{a3c}ਗ\u{a3c}ਜ\u{a3c}ਫ\u{a3c}ਲ\u{a3c}",
        "\u{a36}\u{a59}\u{a5a}\u{a5b}\u{a5e}\u{a33}",
        "\u{a00}ਕ\u{a7f}",
        "ਿਕ",
        "੧ ",
    ] {
        let strokes = send(write(&stack, &json!({"text": text}))).await.strokes();
        assert!(!strokes.is_empty(), "{text}");
    }
}

/// Sends a text, which must be refused with these codes. Returns the details.
async fn refused<const N: usize>(stack: &Stack, text: &str, codes: [&str; N]) -> String {
    let problem = stack.refused(write(stack, &json!({"text": text})), 422).await;
    assert_eq!(problem.errors(), violations(codes.map(|code| ("text", code))), "{text:?}: {}", problem.json);
    problem.details()
}

#[tokio::test]
async fn a_text_has_2_to_100_characters_in_nfc() {
    let stack = Stack::start().await;
    for text in ["ਕਖ".to_owned(), "ਕ".repeat(100), "\u{a36}".to_owned(), "\u{a36}".repeat(50)] {
        send(write(&stack, &json!({"text": text}))).await.strokes();
    }
    for (text, code, n) in [
        ("ਕ".to_owned(), "too_short", "1"),
        ("ਕ".repeat(101), "too_long", "101"),
        ("\u{a36}".repeat(51), "too_long", "102"),
    ] {
        let details = refused(&stack, &text, [code]).await;
        assert!(details.contains(&format!(" {n} character")) && details.contains("2 to 100"), "{details}");
    }
    refused(&stack, "", ["too_short", "no_letter"]).await;
    let both = format!("{}\u{1f600}", "ਕ".repeat(100));
    refused(&stack, &both, ["too_long", "character_not_allowed"]).await;
}

#[tokio::test]
async fn a_text_is_kept_in_nfc() {
    let stack = Stack::with().workers(0).start().await;
    let request = write(&stack, &json!({"text": "\u{a36}ਾਮ"})).header("prefer", "respond-async");
    let id = send(request).await.job();
    let sqlx::types::Json(parameters): sqlx::types::Json<Value> =
        stack.row("select parameters from jobs where id = $1", id).await;
    assert_eq!(parameters["text"], "ਸ\u{a3c}ਾਮ");
}

#[tokio::test]
async fn the_first_character_that_is_not_allowed_is_named_with_its_position() {
    let stack = Stack::with().workers(0).start().await;
    for (text, character, code_point, position) in [
        ("ਕਖa", "a", "U+0061", 3),
        ("aਕਖ", "a", "U+0061", 1),
        ("ਕ1ਖ2", "1", "U+0031", 2),
        ("ਕ \u{1f600}", "\u{1f600}", "U+1F600", 3),
        // The position is counted in the text as it was sent, in which each of the two letters is one
        // character.
        ("\u{a36}\u{a36}x", "x", "U+0078", 3),
        ("ਕ\tਖ", "\\t", "U+0009", 2),
        ("ਕ\rਖ", "\\r", "U+000D", 2),
        ("ਕ\0", "\\0", "U+0000", 2),
        ("ਕ\u{200b}ਖ", "\\u{200b}", "U+200B", 2),
        ("ਕ\u{a0}ਖ", "\\u{a0}", "U+00A0", 2),
        ("\u{feff}ਕਖ", "\\u{feff}", "U+FEFF", 1),
        ("ਕ₹", "₹", "U+20B9", 2),
        ("ਕक", "क", "U+0915", 2),
        ("ਕ٣", "٣", "U+0663", 2),
        ("ਕ+ਖ", "+", "U+002B", 2),
    ] {
        let details = refused(&stack, text, ["character_not_allowed"]).await;
        for part in [format!("'{character}'"), code_point.to_owned(), format!("position {position},")] {
            assert!(details.contains(&part), "{text:?}: {part} in {details}");
        }
    }
    refused(&stack, "Sat Sri Akal", ["character_not_allowed", "no_letter"]).await;
}

#[tokio::test]
async fn what_the_service_writes_can_be_written_by_hand() {
    let stack = Stack::start().await;
    let text = "“15 ਅਗਸਤ 1947” – ਸਮਾਂ 5:30, ₹1,00,000…";
    let details = refused(&stack, text, ["character_not_allowed"]).await;
    assert!(details.contains("with the field figures (gurmukhi or latin)"), "{details}");
    let strokes = async |text: &str, figures: &str| {
        let body = json!({"text": text, "figures": figures, "seed": 7});
        send(write(&stack, &body)).await.strokes()
    };
    let gurmukhi = strokes(text, "gurmukhi").await;
    assert_eq!(gurmukhi, strokes("“੧੫ ਅਗਸਤ ੧੯੪੭” – ਸਮਾਂ ੫:੩੦, ₹੧,੦੦,੦੦੦…", "latin").await);
    assert_ne!(gurmukhi, strokes(text, "latin").await);
    let typographic = json!({"text": "‘ਕ’ — 50%", "figures": "latin"});
    send(write(&stack, &typographic)).await.strokes();
}

#[tokio::test]
async fn a_text_has_a_letter_or_a_digit() {
    let stack = Stack::with().workers(0).start().await;
    for text in ["  ", "\n\n", "।॥", "...", "ਿੀ", "ੰੱ", "\u{200c}\u{200d}", "()", "੍ਾ", "\u{a00}\u{a01}"]
    {
        refused(&stack, text, ["no_letter"]).await;
    }
    stack.jobs_are(0, "queued").await;
}

#[tokio::test]
async fn half_a_surrogate_pair_is_refused() {
    let stack = Stack::with().workers(0).start().await;
    let body = r#"{"text":"ਕਖ\ud83d"}"#;
    let problem = stack.refused(super::write_raw(&stack, "application/json", body), 422).await;
    assert_eq!(problem.errors(), violations([("text", "not_utf8")]));
}
