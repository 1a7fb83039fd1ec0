//! Transcriptions as plain text and as subtitles.

use akhar_tests::{Form, Stack, http::send, speech::recording};

#[tokio::test]
async fn accept_chooses_text_and_subtitles() {
    let stack = Stack::start().await;
    let recording = recording("pa-two-sentences.wav");
    let form = Form::upload_and(&recording.bytes, "with-timestamps", "true").text("format", "spoken");
    let request = || stack.post("speech-recognition", &form);
    let json = send(request()).await;
    let (id, json) = (json.header("akhar-job").to_owned(), json.json());
    let segments = json["timestamps"].as_array().expect("segments");
    assert!(segments.len() >= 2, "{json}");

    for (media_type, first, separator) in
        [("application/x-subrip", "1\n00:00:0", ","), ("text/vtt", "WEBVTT\n\n00:00:0", ".")]
    {
        let result = stack.request("GET", &format!("/v1/jobs/{id}/result")).header("accept", media_type);
        let (direct, later) = (send(request().header("accept", media_type)).await, send(result).await);
        assert_eq!((direct.status, later.status), (200, 200));
        assert_eq!(later.header("content-type"), format!("{media_type}; charset=utf-8"));
        assert_eq!(direct.body, later.body);
        let text = String::from_utf8(later.body.into()).expect("UTF-8");
        assert!(text.starts_with(first), "{text}");
        assert_eq!(text.matches(" --> ").count(), segments.len(), "{text}");
        for segment in segments {
            let ms = (segment["end"].as_f64().expect("seconds") * 1e3).round();
            let end = format!("{:02}{separator}{:03}", (ms / 1e3).floor() % 60.0, ms % 1e3);
            let line = segment["transcription"].as_str().expect("text");
            assert!(text.contains(&format!("{end}\n{line}\n")), "{text}");
        }
    }

    let plain = send(request().header("accept", "text/plain")).await;
    assert_eq!(plain.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(Some(String::from_utf8_lossy(&plain.body).as_ref()), json["transcription"].as_str());
}

#[tokio::test]
async fn subtitles_need_timestamps() {
    let stack = Stack::with().workers(0).start().await;
    let form = Form::upload(&recording("pa-school.wav").bytes);
    let refused =
        stack.refused(stack.post("speech-recognition", &form).header("accept", "text/vtt"), 406).await;
    assert!(refused.json["detail"].as_str().is_some_and(|d| d.contains("with-timestamps")), "{refused:?}");
    stack.jobs_are(0, "queued").await;
}
