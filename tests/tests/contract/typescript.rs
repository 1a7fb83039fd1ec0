//! A client in TypeScript whose types openapi-typescript makes of the served OpenAPI document.

use akhar_tests::{
    Stack,
    http::picture,
    root,
    scripts::{NodeFolder, json, output},
    speech::recording,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;

#[tokio::test]
async fn a_generated_typescript_client_compiles_and_uses_every_operation() {
    let stack = Stack::start().await;
    let folder = NodeFolder::new(stack.folder(), "typescript");
    output(folder.program(&stack, "generate.mjs")).await;
    // Checks every program in the folder, with the strictest settings. Node.js removes the types when it runs them.
    output(folder.program(&stack, "node_modules/typescript/bin/tsc")).await;
    let fixtures = root().join("tests/fixtures");
    let files = ["images/digit-5.png", "images/letter-ka.png", "audio/pa-two-sentences.wav"];
    let mut client = folder.program(&stack, "client.ts");
    client.args(files.map(|file| fixtures.join(file)));
    let result = json(client).await;

    let labels = |name: &str| {
        let predictions = result[name].as_array().expect("predictions");
        (predictions[0]["label"].as_str().expect("a label").to_owned(), predictions.len())
    };
    assert_eq!((labels("digits"), labels("letters")), (("੫".to_owned(), 2), ("ਕ".to_owned(), 2)));
    let png = BASE64_STANDARD.decode(result["handwriting"]["image"].as_str().expect("a picture"));
    assert_eq!(picture(&png.expect("base64")).width(), 300);
    let transcription = &result["transcription"];
    assert_eq!(
        transcription["timestamps"].as_array().map(Vec::len),
        Some(recording("pa-two-sentences.wav").said.len())
    );
    assert!(transcription["translation"].is_string(), "{transcription}");

    let job = &result["job"];
    assert_eq!((&job["state"], &job["result"]), (&json!("succeeded"), transcription));
    assert!(result["listed"].as_array().expect("ids").contains(&job["id"]), "{}", result["listed"]);
    let subtitles = result["subtitles"].as_str().expect("a text");
    assert!(subtitles.starts_with("1\n00:00:00,"), "{subtitles}");
    let refused = &result["refused"];
    assert_eq!((&refused["status"], &refused["errors"][0]["code"]), (&json!(422), &json!("out_of_range")));
}
