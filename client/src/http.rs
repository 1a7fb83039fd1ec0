//! The client: an operation's parameters or a job's id come in, a body or the problem goes out.

use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, RETRY_AFTER},
    multipart::{Form, Part},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{HandwritingBody, JobBody, JobResultBody, PredictionsBody, ProblemBody, TranscriptionBody};

/// A client of one service with one API key.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: SecretString,
    is_asynchronous: bool,
}

/// The answer to an operation.
#[derive(Debug, Clone)]
pub enum Answer<T> {
    /// The operation's own response.
    Done(T),
    /// The job, which had not ended when the service stopped waiting for it.
    Accepted(Box<JobBody>),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The service answered with an error.
    #[error("{}: {}", .problem.title, .problem.detail)]
    Problem {
        /// The error document.
        problem: Box<ProblemBody>,
        /// Seconds to wait before the same request may succeed, if the service says so.
        retry_after_s: Option<u64>,
    },
    /// The service cannot be reached, or its answer cannot be read.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// What to write by hand. What is `None` has the service's default. Lengths are pixels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of the interface")]
pub struct HandwritingRequest {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub char_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_length: Option<f64>,
    pub with_image: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stroke_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stroke_width: Option<f64>,
}

/// How to transcribe a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpeechRequest {
    /// The language spoken, `pa` or `en`. `None`: the service's default.
    pub lang: Option<String>,
    /// Whether to translate the text into the other language.
    pub with_translation: bool,
    /// Whether to return the segments with their times.
    pub with_timestamps: bool,
}

impl Client {
    /// A client of the service at `base`, such as `http://127.0.0.1:8080`. Time limits and TLS are `http`'s.
    pub fn new(http: reqwest::Client, base: impl Into<String>, key: impl Into<SecretString>) -> Self {
        Self { http, base: base.into(), key: key.into(), is_asynchronous: false }
    }

    /// The same client, whose operations are answered with [`Answer::Accepted`] at once.
    #[must_use]
    pub fn asynchronous(self) -> Self {
        Self { is_asynchronous: true, ..self }
    }

    /// The letters that an image, PNG or JPEG, may show.
    pub async fn alphabet_recognition(
        &self,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        self.recognition("alphabet-recognition", image, top_k).await
    }

    /// The digits that an image, PNG or JPEG, may show.
    pub async fn digit_recognition(
        &self,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        self.recognition("digit-recognition", image, top_k).await
    }

    /// Text as handwriting: strokes, and with `with_image` a picture too.
    pub async fn handwriting_generator(
        &self,
        request: &HandwritingRequest,
    ) -> Result<Answer<HandwritingBody>, ClientError> {
        answer(self.operation("handwriting-generator").json(request)).await
    }

    /// The text of a recording, MP3 or WAV.
    pub async fn speech_recognition(
        &self,
        recording: Vec<u8>,
        request: &SpeechRequest,
    ) -> Result<Answer<TranscriptionBody>, ClientError> {
        let mut form = upload(recording)
            .text("with-translation", request.with_translation.to_string())
            .text("with-timestamps", request.with_timestamps.to_string());
        if let Some(lang) = &request.lang {
            form = form.text("lang", lang.clone());
        }
        answer(self.operation("speech-recognition").multipart(form)).await
    }

    /// A job as it is now, or once it has ended if that is within `wait_s` seconds (60 at most).
    pub async fn job(&self, id: Uuid, wait_s: u8) -> Result<JobBody, ClientError> {
        read(self.request(Method::GET, &format!("/v1/jobs/{id}?wait={wait_s}"))).await
    }

    /// The result of a job that has succeeded.
    pub async fn job_result(&self, id: Uuid) -> Result<JobResultBody, ClientError> {
        read(self.request(Method::GET, &format!("/v1/jobs/{id}/result"))).await
    }

    /// Cancels a job that is queued.
    pub async fn cancel_job(&self, id: Uuid) -> Result<JobBody, ClientError> {
        read(self.request(Method::DELETE, &format!("/v1/jobs/{id}"))).await
    }

    async fn recognition(
        &self,
        operation: &str,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        let mut form = upload(image);
        if let Some(k) = top_k {
            form = form.text("top-k", k.to_string());
        }
        answer(self.operation(operation).multipart(form)).await
    }

    fn operation(&self, name: &str) -> RequestBuilder {
        let request = self.request(Method::POST, &format!("/v1/models/{name}"));
        if self.is_asynchronous { request.header("prefer", "respond-async") } else { request }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(self.key.expose_secret()).header(ACCEPT, "application/json")
    }
}

fn upload(file: Vec<u8>) -> Form {
    Form::new().part("file", Part::bytes(file).file_name("file"))
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<Answer<T>, ClientError> {
    let response = send(request).await?;
    if response.status() == StatusCode::ACCEPTED {
        return Ok(Answer::Accepted(response.json().await?));
    }
    Ok(Answer::Done(response.json().await?))
}

async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ClientError> {
    Ok(send(request).await?.json().await?)
}

/// The response of a success; a response that is an error without an error document is an error of HTTP.
async fn send(request: RequestBuilder) -> Result<Response, ClientError> {
    let response = request.send().await?;
    let Err(error) = response.error_for_status_ref() else { return Ok(response) };
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.parse().ok());
    match response.json().await {
        Ok(problem) => Err(ClientError::Problem { problem: Box::new(problem), retry_after_s: retry_after }),
        Err(_) => Err(error.into()),
    }
}
