//! The forms of the answer: strokes, a picture, or both in one document; in the response or later.

use akhar_tests::{
    Stack,
    http::{picture, send, strokes},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{GREETING, greeting_and, picture_and, write};

/// The picture of a document that has strokes and a picture.
fn both(document: &Value) -> image::DynamicImage {
    assert!(!strokes(&document["points"]).is_empty());
    let image = document["image"].as_str().unwrap_or_else(|| panic!("no image: {document}"));
    picture(&BASE64_STANDARD.decode(image).expect("base64"))
}

#[tokio::test]
async fn strokes_are_points_on_the_page() {
    let stack = Stack::start().await;
    for width in [300, 550, 950] {
        let long = "ਕਖਗ ".repeat(25);
        let fields = json!({"text": long, "page-width": width, "page-length": 300});
        let answer = send(write(&stack, &fields)).await;
        assert!(answer.header("server-timing").contains("infer;dur="));
        assert_eq!(answer.json().as_object().map(serde_json::Map::len), Some(1), "points and nothing else");
        let strokes = answer.strokes();
        assert!(strokes.len() >= 75, "{} strokes", strokes.len());
        let is_on_page = |(x, y): &(f64, f64)| (0.0..=f64::from(width)).contains(x) && *y >= 0.0;
        assert!(strokes.iter().flatten().all(is_on_page), "page-width {width}");
    }
}

#[tokio::test]
async fn a_picture_has_the_page_s_width_and_the_height_of_whole_pages() {
    let stack = Stack::start().await;
    for (width, length) in [(300, 300), (550, 550), (950, 300), (300, 950)] {
        for text in [GREETING.to_owned(), "ਕਖਗ ".repeat(25)] {
            let fields =
                json!({"text": text, "with-image": true, "page-width": width, "page-length": length});
            let answer = send(write(&stack, &fields)).await;
            assert!(answer.body.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert!(answer.header("server-timing").contains("infer;dur="));
            let picture = answer.picture();
            assert_eq!(picture.width(), width);
            assert!(picture.height() > 0 && picture.height().is_multiple_of(length), "{}", picture.height());
            assert_eq!(answer.header("akhar-pages"), (picture.height() / length).to_string());
        }
    }
}

#[tokio::test]
async fn the_accept_header_chooses_between_a_picture_and_a_document() {
    let stack = Stack::start().await;
    let fields = greeting_and("with-image", true);
    let asked = async |accept: &str| send(write(&stack, &fields).header("accept", accept)).await;
    for png in [
        "*/*",
        "image/*",
        "image/png",
        "image/png, application/json",
        "application/json, image/png",
        "application/json;q=0.9, image/png",
        "text/html, */*;q=0.1",
    ] {
        asked(png).await.picture();
    }
    for document in [
        "application/json",
        "application/json, */*",
        "application/json, image/png;q=0.9",
        "image/png;q=0, */*",
    ] {
        let answer = asked(document).await;
        assert_eq!(answer.header("content-type"), "application/json", "{document}");
        assert_eq!(both(&answer.json()).width(), 550);
    }
    let refused = |fields: &Value, accept: &str| write(&stack, fields).header("accept", accept);
    for neither in ["text/html", "image/jpeg", "image/png;q=0, application/json;q=0", "nonsense"] {
        stack.refused(refused(&fields, neither), 406).await;
    }
    // A request without a picture can only be answered with a document.
    let strokes_only = json!({"text": GREETING});
    for json in ["*/*", "application/json", "image/png, application/json;q=0.1"] {
        send(write(&stack, &strokes_only).header("accept", json)).await.strokes();
    }
    for no_json in ["image/png", "image/*", "text/html"] {
        stack.refused(refused(&strokes_only, no_json), 406).await;
    }
    stack.jobs_are(14, "succeeded").await;
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 14, "a request that is not acceptable makes no job");
}

/// Sends an asynchronous request, waits for the end of its job, and returns the job's id.
async fn later(stack: &Stack, fields: &Value) -> Uuid {
    // A 202 has a JSON document, whatever the Accept header says.
    let request =
        write(stack, fields).header("prefer", "respond-async").header("accept", "*/*;q=0.1, image/png");
    let id = send(request).await.job();
    stack.job_is(id, "succeeded").await;
    id
}

#[tokio::test]
async fn an_asynchronous_picture_can_be_read_in_either_form() {
    let stack = Stack::start().await;
    let id = later(&stack, &picture_and("page-width", 320)).await;
    let result = format!("/v1/jobs/{id}/result");
    let answer = stack.get(&result).await;
    assert!(answer.header("server-timing").contains("infer;dur="));
    let alone = answer.picture();
    let document = send(stack.request("GET", &result).header("accept", "application/json")).await.json();
    assert_eq!(both(&document), alone, "the same picture");
    stack.refused(stack.request("GET", &result).header("accept", "text/html"), 406).await;
    let job = stack.get(&format!("/v1/jobs/{id}")).await;
    assert_eq!(job.header("content-type"), "application/json");
    let job = job.json();
    assert_eq!(job["operation"], "handwriting-generator");
    assert_eq!(job["result"], document, "the job's document has both");
}

#[tokio::test]
async fn asynchronous_strokes_can_be_read() {
    let stack = Stack::start().await;
    let request = write(&stack, &json!({"text": GREETING})).header("prefer", "respond-async");
    let id = send(request).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!((&job["state"], &job["result"]["image"]), (&"succeeded".into(), &Value::Null), "{job}");
    let result = format!("/v1/jobs/{id}/result");
    let answer = stack.get(&result).await;
    assert_eq!(answer.strokes(), strokes(&job["result"]["points"]));
    stack.refused(stack.request("GET", &result).header("accept", "image/png"), 406).await;
    let again = stack.get(&result).await;
    assert_eq!(answer.body, again.body, "the result stays the same");
}

#[tokio::test]
async fn an_error_is_a_problem_document_whatever_the_accept_header_says() {
    let stack = Stack::with().workers(0).start().await;
    let request = write(&stack, &greeting_and("with-image", true)).header("accept", "image/png");
    let id = send(request.header("prefer", "respond-async")).await.job();
    let result = format!("/v1/jobs/{id}/result");
    stack.refused(stack.request("GET", &result).header("accept", "image/png"), 409).await;
    let wrong = write(&stack, &picture_and("stroke-width", 9)).header("accept", "image/png");
    stack.refused(wrong, 422).await;
}
