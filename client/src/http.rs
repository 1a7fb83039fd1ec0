//! An HTTP client with a method for each operation and each request about a job.

use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, RETRY_AFTER},
    multipart::{Form, Part},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{HandwritingBody, JobBody, JobResultBody, PredictionsBody, ProblemBody, TranscriptionBody};

/// A client for one server and one API key.
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
    /// The operation's response.
    Done(T),
    /// The job, if it had not ended when the server stopped waiting for it.
    Accepted(Box<JobBody>),
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server answered with an error document.
    #[error("{}: {}", .problem.title, .problem.detail)]
    Problem {
        /// The error document.
        problem: Box<ProblemBody>,
        /// Seconds after which the same request may succeed, if the server sent `Retry-After`.
        retry_after_s: Option<u64>,
    },
    /// The server cannot be reached, or its response cannot be parsed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// The fields of a handwriting request. A field that is `None` has the server's default. Lengths are in pixels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of the HTTP interface")]
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

/// The fields of a speech recognition request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpeechRequest {
    /// The spoken language, `pa` or `en`. `None` means the server's default.
    pub lang: Option<String>,
    /// Whether to translate the text into the other language.
    pub with_translation: bool,
    /// Whether to return the segments with their times.
    pub with_timestamps: bool,
}

impl Client {
    /// Creates a client for the server at `base`, such as `http://127.0.0.1:8080`. `http` sets the time limits and
    /// TLS.
    pub fn new(http: reqwest::Client, base: impl Into<String>, key: impl Into<SecretString>) -> Self {
        Self { http, base: base.into(), key: key.into(), is_asynchronous: false }
    }

    /// Makes all operations return [`Answer::Accepted`] at once, without waiting for the result.
    #[must_use]
    pub fn asynchronous(self) -> Self {
        Self { is_asynchronous: true, ..self }
    }

    /// Recognises the letter in a PNG or JPEG image. `top_k` is the number of predictions, 1 to 5.
    pub async fn alphabet_recognition(
        &self,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        self.recognition("alphabet-recognition", image, top_k).await
    }

    /// Recognises the digit in a PNG or JPEG image. `top_k` is the number of predictions, 1 to 5.
    pub async fn digit_recognition(
        &self,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        self.recognition("digit-recognition", image, top_k).await
    }

    /// Writes text by hand. Returns the strokes, and a picture if `with_image` is true.
    pub async fn handwriting_generator(
        &self,
        request: &HandwritingRequest,
    ) -> Result<Answer<HandwritingBody>, ClientError> {
        answer(self.operation("handwriting-generator").json(request)).await
    }

    /// Transcribes an MP3 or WAV recording.
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

    /// Returns a job. Waits up to `wait_s` seconds, at most 60, for the job to end.
    pub async fn job(&self, id: Uuid, wait_s: u8) -> Result<JobBody, ClientError> {
        read(self.request(Method::GET, &format!("/v1/jobs/{id}?wait={wait_s}"))).await
    }

    /// Returns the result of a job that has succeeded.
    pub async fn job_result(&self, id: Uuid) -> Result<JobResultBody, ClientError> {
        read(self.request(Method::GET, &format!("/v1/jobs/{id}/result"))).await
    }

    /// Cancels a job that is queued, and returns the job.
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

/// Sends a request and returns a successful response. An error response without an error document becomes
/// [`ClientError::Http`].
async fn send(request: RequestBuilder) -> Result<Response, ClientError> {
    let response = request.send().await?;
    let Err(error) = response.error_for_status_ref() else { return Ok(response) };
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.parse().ok());
    match response.json().await {
        Ok(problem) => Err(ClientError::Problem { problem: Box::new(problem), retry_after_s: retry_after }),
        Err(_) => Err(error.into()),
    }
}
