//! Results that are as large as those of many hours of speech.

use uuid::Uuid;

use crate::{
    Form, Stack,
    http::send,
    speech::{silence, wav},
};

/// A job of the account of `key` whose result has a transcription of `n_chars` characters. A worker is needed.
pub async fn long_result(stack: &Stack, key: &str, n_chars: usize) -> Uuid {
    let request = stack.post_as(key, "speech-recognition", &Form::upload(&wav(&silence(1))));
    let job = send(request.header("prefer", "respond-async")).await.job();
    stack.job_is(job, "succeeded").await;
    sqlx::query(
        "update jobs set outcome = jsonb_set(outcome, '{transcription}', to_jsonb(repeat('a', $2))) where id = $1",
    )
    .bind(job)
    .bind(i32::try_from(n_chars).expect("a few characters"))
    .execute(&stack.db)
    .await
    .expect("a longer transcription");
    job
}
