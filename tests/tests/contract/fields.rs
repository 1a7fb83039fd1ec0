//! The fields of a recognition request: the limits of `top-k`, and missing, duplicated and misspelt fields.

use akhar_tests::{Form, Stack, http::send, images::fixtures};

use crate::{operations, violations};

#[tokio::test]
async fn top_k_is_an_integer_from_1_to_5_with_the_default_3() {
    let stack = Stack::start().await;
    for image in operations() {
        let plain = stack.recognise(image.operation, &image.bytes).await.predictions();
        assert_eq!((plain.len(), &plain[0].0), (3, &image.label));
        for k in 1..=5 {
            let form = Form::upload_and(&image.bytes, "top-k", &k.to_string());
            let predictions = send(stack.post(image.operation, &form)).await.predictions();
            assert_eq!((predictions.len(), &predictions[0].0), (k, &image.label));
            let n = k.min(3);
            assert_eq!(
                predictions[..n].iter().map(|p| &p.0).collect::<Vec<_>>(),
                plain[..n].iter().map(|p| &p.0).collect::<Vec<_>>()
            );
        }
        for bad in ["0", "6", "-1", "2.5", "1e0", "x", " ", "٣", "੩", "null", "99999999999999999999"] {
            let form = Form::upload_and(&image.bytes, "top-k", bad);
            let problem = stack.refused(stack.post(image.operation, &form), 422).await;
            let fields: Vec<String> = problem.errors().into_iter().map(|(field, _)| field).collect();
            assert_eq!(fields, ["top-k"], "top-k {bad:?}: {}", problem.json);
        }
    }
}

#[tokio::test]
async fn fields_can_be_in_any_order_but_not_duplicated_or_misnamed() {
    let stack = Stack::start().await;
    for image in operations() {
        let (operation, bytes) = (image.operation, image.bytes.as_slice());
        let either_order = Form::default().text("top-k", "2").file("file", bytes);
        assert_eq!(send(stack.post(operation, &either_order)).await.predictions().len(), 2);

        let refused = async |form: Form, field: &str, code: &str, mentions: &str| {
            let problem = stack.refused(stack.post(operation, &form), 422).await;
            assert_eq!(problem.errors(), violations([(field, code)]), "{}", problem.json);
            assert!(problem.details().contains(mentions), "{mentions:?}: {}", problem.json);
        };
        refused(Form::default(), "file", "missing", "").await;
        refused(Form::default().text("top-k", "3"), "file", "missing", "").await;
        refused(Form::upload(bytes).file("file", bytes), "file", "duplicated", "").await;
        refused(Form::upload_and(bytes, "top-k", "3").text("top-k", "3"), "top-k", "duplicated", "").await;
        for (name, near) in
            [("Top-K", "top-k"), ("top_k", "top-k"), ("topk", "top-k"), ("FILE2", "file"), ("files", "file")]
        {
            refused(Form::upload_and(bytes, name, "3"), name, "unknown", near).await;
        }
        let misnamed = stack.refused(stack.post(operation, &Form::default().file("FILE", bytes)), 422).await;
        assert_eq!(misnamed.errors(), violations([("FILE", "unknown"), ("file", "missing")]));
    }
}

#[tokio::test]
async fn all_violations_are_reported_at_once() {
    let stack = Stack::start().await;
    for image in operations() {
        let form = Form::upload_and(b"GIF89a......", "top-k", "9").text("colour", "blue").text("top_k", "1");
        let problem = stack.refused(stack.post(image.operation, &form), 415).await;
        let all = [
            ("file", "unsupported_media_type"),
            ("top-k", "out_of_range"),
            ("colour", "unknown"),
            ("top_k", "unknown"),
        ];
        assert_eq!(problem.errors(), violations(all), "{}", problem.json);
    }
}

#[tokio::test]
async fn the_character_of_every_fixture_is_recognised() {
    let stack = Stack::start().await;
    for image in fixtures() {
        let predictions = stack.recognise(image.operation, &image.bytes).await.predictions();
        assert_eq!(predictions[0].0, image.label, "{}: {predictions:?}", image.name);
    }
}
