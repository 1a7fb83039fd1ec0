//! The picture as SVG.

use akhar_tests::{
    Stack,
    http::{Answer, send},
};
use serde_json::json;

use super::{greeting_and, picture_and, write};

/// The SVG of an answer.
fn svg(answer: &Answer) -> String {
    assert_eq!(answer.header("content-type"), "image/svg+xml; charset=utf-8", "{}", answer.text());
    answer.text()
}

#[tokio::test]
async fn an_svg_has_the_strokes_in_their_order_with_colour_and_widths() {
    let stack = Stack::start().await;
    let mut fields = picture_and("seed", 7);
    for (name, value) in
        [("stroke-color", json!("blue")), ("stroke-width", json!(4)), ("page-width", json!(300))]
    {
        fields[name] = value;
    }
    let answer = send(write(&stack, &fields).header("accept", "image/svg+xml")).await;
    assert!(answer.header("server-timing").contains("infer;dur="));
    let n_pages: u32 = answer.header("akhar-pages").parse().expect("a number");
    let text = svg(&answer);
    let size = format!(r#"width="300" height="{0}" viewBox="0 0 300 {0}""#, 550 * n_pages);
    assert!(text.contains(&size) && text.contains(r##"stroke="#1f3fa8""##), "{text}");

    let strokes = send(write(&stack, &fields).header("accept", "application/json")).await.json();
    let firsts: Vec<_> = text.split("<g>").skip(1).collect();
    assert_eq!(firsts.len(), strokes["points"]["x"].as_array().expect("strokes").len());
    for (group, i) in firsts.iter().zip(0..) {
        let [x, y] = ["x", "y"].map(|axis| &strokes["points"][axis][i][0]);
        let first = format!(r#"d="M{x} {y}L"#).replace(".0 ", " ").replace(".0L", "L");
        assert!(group.contains(&first), "stroke {i} begins at {first}: {group}");
    }
    let widths =
        text.split("path stroke-width=\"").skip(1).map(|rest| rest.split('"').next().expect("a number"));
    let widths: Vec<f64> = widths.map(|width| width.parse().expect("a number")).collect();
    assert!(widths.iter().all(|width| (4.0 * 0.84 - 0.01..=4.0 * 1.12 + 0.01).contains(width)), "{widths:?}");
    assert!(widths.iter().any(|width| (width - widths[0]).abs() > 0.1), "a slow pen is wider");
}

#[tokio::test]
async fn only_a_request_that_prefers_an_svg_gets_one() {
    let stack = Stack::start().await;
    let fields = picture_and("seed", 7);
    let asked = |accept: &str| write(&stack, &fields).header("accept", accept);
    for accept in [
        "image/svg+xml",
        "image/svg+xml, image/png;q=0.9, */*;q=0.1",
        "image/png;q=0, image/*",
        "image/*,image/svg+xml",
    ] {
        svg(&send(asked(accept)).await);
    }
    for accept in ["image/png, image/svg+xml", "image/svg+xml;q=0.9, */*", "*/*", "image/*"] {
        send(asked(accept)).await.picture();
    }
    let without = write(&stack, &greeting_and("seed", 7)).header("accept", "image/svg+xml");
    let problem = stack.refused(without, 406).await;
    assert!(problem.json["detail"].to_string().contains("with-image"), "{}", problem.json);
}

#[tokio::test]
async fn the_result_of_a_job_is_an_svg_if_its_request_preferred_one() {
    let stack = Stack::start().await;
    let later = async |accept: &str| {
        let request = write(&stack, &picture_and("seed", 7)).header("prefer", "respond-async");
        let id = send(request.header("accept", accept)).await.job();
        stack.job_is(id, "succeeded").await;
        format!("/v1/jobs/{id}/result")
    };
    let result = later("image/svg+xml").await;
    let asked = |path: &str, accept: &str| stack.request("GET", path).header("accept", accept);
    let drawn = svg(&send(asked(&result, "image/svg+xml")).await);
    assert_eq!(
        drawn,
        svg(&send(write(&stack, &picture_and("seed", 7)).header("accept", "image/svg+xml")).await)
    );
    send(asked(&result, "*/*")).await.picture();
    let document = send(asked(&result, "application/json")).await.json();
    assert_eq!(
        document.as_object().map(serde_json::Map::len),
        Some(2),
        "points and image, as without an SVG"
    );

    let problem = stack.refused(asked(&later("image/png").await, "image/svg+xml"), 406).await;
    assert!(problem.json["detail"].to_string().contains("An SVG is made"), "{}", problem.json);
}
