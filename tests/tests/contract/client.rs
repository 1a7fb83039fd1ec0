//! The product's client understands the service: every operation, every request about a job, every kind of
//! error.

use std::time::Duration;

use akhar_client::{
    Answer, ClientError, HandwritingRequest, JobResultBody, JobState, Png, Retries, SpeechRequest, Warnings,
};
use akhar_tests::{Stack, http::picture, images::fixture_of, speech::recording, until};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// The result of an answer. Panics if the operation did not finish while the request waited.
fn done<T: std::fmt::Debug>(answer: Result<Answer<T>, ClientError>) -> T {
    match answer {
        Ok(Answer::Done(result)) => result,
        other => panic!("not done: {other:?}"),
    }
}

#[tokio::test]
async fn every_operation_is_answered() {
    let stack = Stack::start().await;
    let client = stack.client(&stack.key);
    let (digit, letter) = (fixture_of("੫"), fixture_of("ਕ"));
    let digits = done(client.digit_recognition(digit.bytes, Some(2)).await).predictions;
    assert_eq!((digits.len(), &*digits[0].label), (2, "੫"));
    let letters = done(client.alphabet_recognition(letter.bytes, None).await).predictions;
    assert_eq!((letters.len(), &*letters[0].label), (3, "ਕ"));

    let mut request =
        HandwritingRequest { text: "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ".to_owned(), ..Default::default() };
    let plain = done(client.handwriting_generator(&request).await);
    let strokes = plain.points.into_strokes().expect("strokes");
    assert!(plain.image.is_none() && !strokes.x.is_empty() && strokes.x.len() == strokes.y.len());
    request = HandwritingRequest { page_width: Some(300.0), with_image: true, ..request };
    let Some(Png(png)) = done(client.handwriting_generator(&request).await).image else {
        panic!("no picture")
    };
    assert_eq!(picture(&png).width(), 300);

    let request = SpeechRequest { with_timestamps: true, ..SpeechRequest::default() };
    let speech = done(client.speech_recognition(recording("pa-school.wav").bytes, &request).await);
    assert_eq!(speech.warnings, Warnings::default());
    let speech = speech.body;
    assert!(!speech.transcription.is_empty() && speech.translation.is_none(), "{speech:?}");
    assert!(speech.timestamps.is_some_and(|segments| segments.iter().all(|s| s.start < s.end)));
}

#[tokio::test]
async fn the_client_can_read_wait_for_and_cancel_a_job() {
    let mut stack = Stack::with().workers(0).start().await;
    let client = stack.client(&stack.key).asynchronous();
    let image = fixture_of("੫").bytes;
    let submit = async || match client.digit_recognition(image.clone(), None).await {
        Ok(Answer::Accepted(job)) => *job,
        other => panic!("not accepted: {other:?}"),
    };
    let (job, other) = (submit().await, submit().await);
    assert_eq!((job.state, &*job.operation, job.attempt), (JobState::Queued, "digit-recognition", 0));
    assert_eq!(
        client.delete_job(other.id).await.expect("it is queued").expect("a job").state,
        JobState::Cancelled
    );
    stack.add_worker().await;
    let ended = client.job(job.id, 30).await.expect("the job");
    assert_eq!(ended.state, JobState::Succeeded);
    assert!(matches!(ended.result, Some(JobResultBody::Predictions(_))), "{ended:?}");
    assert!(matches!(client.job_result(job.id).await, Ok(JobResultBody::Predictions(_))));
    assert!(client.delete_job(job.id).await.expect("it has ended").is_none());
}

#[tokio::test]
async fn the_client_returns_the_problem_document_of_an_error() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_WAITING", 1).start().await;
    let client = stack.client(&stack.key).asynchronous();
    let problem = |result: Result<(), ClientError>| match result {
        Err(ClientError::Problem { problem, retry_after_s }) => (problem, retry_after_s),
        other => panic!("no problem: {other:?}"),
    };
    let (unknown, retry_after_s) = problem(client.job(Uuid::now_v7(), 0).await.map(drop));
    assert_eq!((unknown.slug(), unknown.status, retry_after_s), ("not-found", 404, None));
    let (invalid, _) = problem(client.digit_recognition(fixture_of("੫").bytes, Some(6)).await.map(drop));
    assert_eq!((invalid.slug(), &*invalid.errors[0].code), ("invalid-input", "out_of_range"));
    let submit = async || client.digit_recognition(fixture_of("੫").bytes, None).await.map(drop);
    submit().await.expect("there is room for one");
    let (full, retry_after_s) = problem(submit().await);
    assert_eq!((full.slug(), retry_after_s), ("queue-full", Some(1)));
}

#[tokio::test]
async fn the_client_repeats_what_is_safe_while_the_api_restarts() {
    let mut stack = Stack::start().await;
    let (errors, seen) = std::sync::mpsc::channel();
    let retries = Retries::within(Duration::from_secs(60)).on_error(move |error| {
        // Nobody listens when the test is over.
        let _ended = errors.send(error.status());
    });
    let client = stack.client(&stack.key).retrying(retries);
    let request = SpeechRequest { idempotency_key: Some("a-key".to_owned()), ..SpeechRequest::default() };
    let clip = recording("pa-school.wav").bytes;
    stack.api.kill().await;
    let (theirs, sent, again) = (client.clone(), clip.clone(), request.clone());
    let submitted = tokio::spawn(async move { theirs.submit_speech_recognition(sent, &again).await });
    let status = until("the request fails for the first time", async || seen.try_recv().ok()).await;
    assert_eq!(status, None, "there is no response");
    let unsafe_request = client.speech_recognition(clip.clone(), &SpeechRequest::default()).await;
    assert!(
        matches!(unsafe_request, Err(ClientError::Http { .. })),
        "it is not repeated: {unsafe_request:?}"
    );
    stack.restart_api().await;
    let job = submitted.await.expect("no panic").expect("a job");
    let ended = client.ended_job(job.id).await.expect("the job");
    assert_eq!(ended.state, JobState::Succeeded);
    let repeated = client.submit_speech_recognition(clip, &request).await.expect("the same job");
    assert_eq!((repeated.id, client.jobs(10).await.expect("jobs").jobs.len()), (job.id, 1));
}

#[tokio::test]
async fn the_client_comes_back_when_a_proxy_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let server = format!("http://{}", listener.local_addr().expect("an address"));
    let proxy = AbortOnDropHandle::new(tokio::spawn(async move {
        let (mut caller, _) = listener.accept().await.expect("a caller");
        caller.read_u8().await.expect("a request");
        let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 61\r\ncontent-length: 0\r\n\r\n";
        caller.write_all(answer).await.expect("an answer");
        std::future::pending::<()>().await;
    }));
    let client = akhar_client::Client::new(akhar_tests::http::client(), server, "ak_x");
    let client = client.retrying(Retries::within(Duration::from_secs(60)));
    let error = client.job(Uuid::nil(), 0).await.expect_err("a proxy's error");
    drop(proxy);
    assert_eq!(
        (error.status(), error.retry_after_s()),
        (Some(503), Some(61)),
        "it is not asked again too early"
    );
}

#[tokio::test]
async fn an_answer_without_an_end_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let server = format!("http://{}", listener.local_addr().expect("an address"));
    let endless = AbortOnDropHandle::new(tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            caller.read_u8().await.expect("a request");
            let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            while caller.write_all(&answer).await.is_ok() {
                answer = [&b"10000\r\n"[..], &vec![b' '; 0x10000], b"\r\n"].concat();
            }
        }
    }));
    let client = akhar_client::Client::new(akhar_tests::http::client(), server, "ak_x");
    let error = client.job(Uuid::nil(), 0).await.expect_err("there is no answer");
    assert!(matches!(error, ClientError::TooLarge { .. }) && !error.may_pass(), "{error}");
    drop(endless);
}
