//! An HTTP client with a method for each operation and each request about a job.

use bytes::Bytes;
use reqwest::{
    Body, Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_LENGTH, RETRY_AFTER},
    multipart::{Form, Part},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{
    GroupBody, HandwritingBody, JobBody, JobResultBody, JobState, JobsBody, PredictionsBody,
    TranscriptionBody, TranslationBody, UploadBody, WARNINGS_HEADER, Warnings,
    error::ClientError,
    recording::{RecordingSource, SpeechRequest},
    retries::{Retries, repeat},
    subtitles::Layout,
    texts::{HandwritingRequest, TranslationRequest},
};

/// The longest wait of one request for the end of a job, seconds.
const LONGEST_WAIT_S: u8 = 60;
/// The most bytes of an answer. The result of a recording of four hours with all its words has a tenth of them.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// A client for one server and one API key.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: SecretString,
    is_asynchronous: bool,
    /// Further headers of requests that make jobs.
    headers: Vec<(&'static str, String)>,
    retries: Option<Retries>,
}

/// The answer to an operation.
#[derive(Debug, Clone)]
pub enum Answer<T> {
    /// The operation's response.
    Done(T),
    /// The job, if it had not ended when the server stopped waiting for it.
    Accepted(Box<JobBody>),
}

/// The transcription of a recording, and the warnings about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcribed {
    /// The operation's response.
    pub body: TranscriptionBody,
    /// What is unusual about the recording, and which parts of the texts are probably wrong.
    pub warnings: Warnings,
}

impl Client {
    /// Creates a client for the server at `base`, such as `http://127.0.0.1:8080`. `http` sets the time limits and
    /// TLS.
    pub fn new(http: reqwest::Client, base: impl Into<String>, key: impl Into<SecretString>) -> Self {
        Self {
            http,
            base: base.into(),
            key: key.into(),
            is_asynchronous: false,
            headers: Vec::new(),
            retries: None,
        }
    }

    /// Repeats requests after errors that may pass, as `retries` says: requests about jobs, and speech recognition and
    /// translation with an `Idempotency-Key`. A repetition of these has no further effect. Other requests are sent once, because the
    /// server may have run the job of the first one.
    #[must_use]
    pub fn retrying(self, retries: Retries) -> Self {
        Self { retries: Some(retries), ..self }
    }

    /// Makes all operations return [`Answer::Accepted`] at once, without waiting for the result.
    #[must_use]
    pub fn asynchronous(self) -> Self {
        Self { is_asynchronous: true, ..self }
    }

    /// Counts the jobs of all operations in this group. [`Self::group`] has the counts.
    #[must_use]
    pub fn in_group(mut self, name: impl Into<String>) -> Self {
        self.headers.push(("akhar-group", name.into()));
        self
    }

    /// Gives the jobs of all operations this label.
    #[must_use]
    pub fn with_label(mut self, key: &str, value: &str) -> Self {
        self.headers.push(("akhar-label", format!("{key}={value}")));
        self
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

    /// Translates a text.
    pub async fn translation(
        &self,
        request: &TranslationRequest,
    ) -> Result<Answer<TranslationBody>, ClientError> {
        let is_safe = request.idempotency_key.is_some();
        let send = || {
            let operation = self.operation("translation").json(request);
            let key = request.idempotency_key.as_ref();
            answer(key.into_iter().fold(operation, |operation, key| operation.header("idempotency-key", key)))
        };
        self.safely(is_safe, send).await
    }

    /// Waits until a translation has ended, however long that takes, and returns its result.
    pub async fn ended_translation(&self, id: Uuid) -> Result<TranslationBody, ClientError> {
        self.ended_job(id).await?;
        self.get(&format!("/v1/jobs/{id}/result")).await
    }

    /// Transcribes an MP3 or WAV recording of at most [`MAX_RECORDING_BYTES`](crate::MAX_RECORDING_BYTES), or one that the server
    /// fetches or that is in its bucket.
    pub async fn speech_recognition(
        &self,
        recording: impl Into<RecordingSource>,
        request: &SpeechRequest,
    ) -> Result<Answer<Transcribed>, ClientError> {
        let recording = recording.into();
        let is_safe = request.idempotency_key.is_some();
        self.safely(is_safe, || transcribed(self.speech(&recording, request))).await
    }

    /// Submits a recording and returns its job, without waiting for the result. The job comes after those of callers
    /// that wait. [`Self::ended_job`] waits for it.
    pub async fn submit_speech_recognition(
        &self,
        recording: impl Into<RecordingSource>,
        request: &SpeechRequest,
    ) -> Result<JobBody, ClientError> {
        let recording = recording.into();
        let client = self.clone().asynchronous();
        let is_safe = request.idempotency_key.is_some();
        self.safely(is_safe, || read(client.speech(&recording, request))).await
    }

    /// Sends a recording of `n_bytes` bytes to the server's bucket, for [`RecordingSource::Upload`] of one request within a day. It
    /// may be larger than a request. Fails if the server has no bucket, or if the recording has another size.
    pub async fn upload(&self, recording: impl Into<Body>, n_bytes: u64) -> Result<Uuid, ClientError> {
        let reservation =
            self.request(Method::POST, "/v1/uploads").json(&serde_json::json!({"size": n_bytes}));
        let UploadBody { id, url, .. } = read(reservation).await?;
        let put = self.http.put(url).header(CONTENT_LENGTH, n_bytes).body(recording).send().await;
        // The URL is a secret.
        put.and_then(Response::error_for_status).map_err(reqwest::Error::without_url)?;
        Ok(id)
    }

    /// Returns a job. Waits up to `wait_s` seconds, at most 60, for the job to end.
    pub async fn job(&self, id: Uuid, wait_s: u8) -> Result<JobBody, ClientError> {
        self.get(&format!("/v1/jobs/{id}?wait={wait_s}")).await
    }

    /// Waits until a job has ended, however long that takes, and returns it.
    pub async fn ended_job(&self, id: Uuid) -> Result<JobBody, ClientError> {
        self.followed_job(id, LONGEST_WAIT_S, |_| ()).await
    }

    /// Waits until a job has ended, however long that takes, and returns it. `seen` gets the job at the latest every
    /// `interval_s` seconds, at most 60, and at its end.
    pub async fn followed_job(
        &self,
        id: Uuid,
        interval_s: u8,
        mut seen: impl FnMut(&JobBody),
    ) -> Result<JobBody, ClientError> {
        loop {
            let job = self.job(id, interval_s).await?;
            seen(&job);
            if !matches!(job.state, JobState::Queued | JobState::Running) {
                return Ok(job);
            }
        }
    }

    /// Returns the newest jobs of the account, at most `limit` (1 to 100), without their results.
    pub async fn jobs(&self, limit: u8) -> Result<JobsBody, ClientError> {
        self.get(&format!("/v1/jobs?limit={limit}")).await
    }

    /// Returns a group of jobs. Waits up to `wait_s` seconds, at most 60, for the end of its jobs.
    pub async fn group(&self, name: &str, wait_s: u8) -> Result<GroupBody, ClientError> {
        self.get(&format!("/v1/groups/{name}?wait={wait_s}")).await
    }

    /// Waits until all jobs of a group have ended, however long that takes, and returns the group.
    pub async fn ended_group(&self, name: &str) -> Result<GroupBody, ClientError> {
        loop {
            let group = self.group(name, LONGEST_WAIT_S).await?;
            if group.has_ended {
                return Ok(group);
            }
        }
    }

    /// Cancels the jobs of a group that have not ended, and returns the group.
    pub async fn cancel_group(&self, name: &str) -> Result<GroupBody, ClientError> {
        self.safely(true, || read(self.request(Method::DELETE, &format!("/v1/groups/{name}")))).await
    }

    /// Cancels the jobs of a group that have not ended, and deletes all of them.
    pub async fn delete_group(&self, name: &str) -> Result<(), ClientError> {
        let path = format!("/v1/groups/{name}?purge=true");
        self.safely(true, || async { send(self.request(Method::DELETE, &path)).await.map(drop) }).await
    }

    /// Returns the result of a job that has succeeded.
    pub async fn job_result(&self, id: Uuid) -> Result<JobResultBody, ClientError> {
        self.get(&format!("/v1/jobs/{id}/result")).await
    }

    /// Cancels a job that is queued or running, and returns the job. Deletes a job that has ended, and returns `None`. If it is
    /// repeated after an error, it may delete the job that it has cancelled.
    pub async fn delete_job(&self, id: Uuid) -> Result<Option<JobBody>, ClientError> {
        let delete = || async {
            let answer = send(self.request(Method::DELETE, &format!("/v1/jobs/{id}"))).await?;
            if answer.status() == StatusCode::NO_CONTENT { Ok(None) } else { json(answer).await.map(Some) }
        };
        self.safely(true, delete).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.safely(true, || read(self.request(Method::GET, path))).await
    }

    /// Makes an attempt, and repeats it after errors if that is safe.
    async fn safely<T, F: Future<Output = Result<T, ClientError>>>(
        &self,
        is_safe: bool,
        attempt: impl Fn() -> F,
    ) -> Result<T, ClientError> {
        match &self.retries {
            Some(retries) if is_safe => repeat(retries, attempt).await,
            _ => attempt().await,
        }
    }

    fn speech(&self, recording: &RecordingSource, request: &SpeechRequest) -> RequestBuilder {
        let form = match recording {
            RecordingSource::File(bytes) => upload(bytes.clone()),
            RecordingSource::Url(url) => Form::new().text("url", url.clone()),
            RecordingSource::Upload(id) => Form::new().text("upload", id.to_string()),
        };
        let mut form = form
            .text("with-translation", request.with_translation.to_string())
            .text("with-timestamps", request.with_timestamps.to_string());
        for (name, is_asked) in
            [("with-words", request.with_words), ("with-confidence", request.with_confidence)]
        {
            form = if is_asked { form.text(name, "true") } else { form };
        }
        if let Some(lang) = &request.lang {
            form = form.text("lang", lang.clone());
        }
        if let Some(digits) = &request.written {
            form = form.text("format", "written").text("digits", digits.clone());
        }
        if let Some(script) = &request.script {
            form = form.text("script", script.clone());
        }
        if request.split_channels {
            form = form.text("channels", "split");
        }
        if let Some(Layout { max_line_length, max_lines }) = request.subtitles {
            form = form.text("max-line-length", max_line_length.to_string());
            form = form.text("max-lines", max_lines.to_string());
        }
        for term in &request.keyterms {
            form = form.text("keyterms", term.clone());
        }
        let operation = self.operation("speech-recognition").multipart(form);
        match &request.idempotency_key {
            Some(key) => operation.header("idempotency-key", key),
            None => operation,
        }
    }

    async fn recognition(
        &self,
        operation: &str,
        image: Vec<u8>,
        top_k: Option<u8>,
    ) -> Result<Answer<PredictionsBody>, ClientError> {
        let mut form = upload(image.into());
        if let Some(k) = top_k {
            form = form.text("top-k", k.to_string());
        }
        answer(self.operation(operation).multipart(form)).await
    }

    fn operation(&self, name: &str) -> RequestBuilder {
        let request = self.request(Method::POST, &format!("/v1/models/{name}"));
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        if self.is_asynchronous { request.header("prefer", "respond-async") } else { request }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(self.key.expose_secret()).header(ACCEPT, "application/json")
    }
}

fn upload(file: Bytes) -> Form {
    let length = file.len() as u64;
    Form::new().part("file", Part::stream_with_length(Body::from(file), length).file_name("file"))
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<Answer<T>, ClientError> {
    answer_in(send(request).await?).await
}

async fn answer_in<T: DeserializeOwned>(response: Response) -> Result<Answer<T>, ClientError> {
    if response.status() == StatusCode::ACCEPTED {
        return Ok(Answer::Accepted(json(response).await?));
    }
    Ok(Answer::Done(json(response).await?))
}

async fn transcribed(request: RequestBuilder) -> Result<Answer<Transcribed>, ClientError> {
    let response = send(request).await?;
    let header = response.headers().get(WARNINGS_HEADER).and_then(|value| value.to_str().ok());
    let warnings = header.map(Warnings::read).unwrap_or_default();
    Ok(match answer_in(response).await? {
        Answer::Done(body) => Answer::Done(Transcribed { body, warnings }),
        Answer::Accepted(job) => Answer::Accepted(job),
    })
}

async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ClientError> {
    json(send(request).await?).await
}

async fn json<T: DeserializeOwned>(response: Response) -> Result<T, ClientError> {
    Ok(serde_json::from_slice(&body(response, MAX_ANSWER_BYTES).await?)?)
}

/// Sends a request and returns a successful response. An error response without an error document becomes
/// [`ClientError::Http`].
async fn send(request: RequestBuilder) -> Result<Response, ClientError> {
    let response = request.send().await?;
    let Err(error) = response.error_for_status_ref() else { return Ok(response) };
    let retry_after_s = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.parse().ok());
    match json(response).await {
        Ok(problem) => Err(ClientError::Problem { problem: Box::new(problem), retry_after_s }),
        Err(_) => Err(ClientError::Http { error, retry_after_s }),
    }
}

/// The body of a response. Fails if it has more than `max_bytes`, as one without an end has.
async fn body(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > max_bytes - body.len() {
            return Err(ClientError::TooLarge { max_bytes });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
