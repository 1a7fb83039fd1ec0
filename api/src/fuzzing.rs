//! Entry points for the fuzz targets of `tests/fuzz/`: each takes the bytes of a request, parses them as a handler does, and
//! writes the problem of those that are refused. They are not part of the program.

#![expect(clippy::missing_panics_doc, reason = "a target panics on a defect")]

use std::{convert::Infallible, sync::Arc};

use akhar_jobs::{Queue, uploads::UploadStore};
use akhar_platform::{
    config::Config,
    database::{Database, Pool, Servers},
    reload::LiveConfig,
    shutdown::Shutdown,
};
use akhar_requests::{Bounded, QUICK, StrokeColor};
use akhar_webhooks::UrlRules;
use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts as _, Request},
    http::{HeaderName, HeaderValue, Uri},
};
use uuid::Uuid;

use crate::{
    app::App,
    http::{
        chunked::post_in_chunks,
        context::{RequestContext, RequestInfo},
        representation::Representation,
        request_line,
    },
    input::{
        field::{File, field},
        fields::fields,
        form::{self, Form},
        query,
    },
    jobs::{get, list},
    operations::{
        form::Checked,
        handwriting_generator::form::{HandwritingForm, SentText},
        recognition::form::RecognitionForm,
        speech_recognition::form::SpeechForm,
    },
    problems::{Problem, Violation},
    ui::playground::DemoKey,
};

fields! {
    /// A field of each kind.
    AnyForm {
        /// Text.
        text: SentText = field("text").required(),
        /// A number.
        number: Bounded<f64, 1, 10_000> = field("number"),
        /// A boolean.
        boolean: bool = field("boolean"),
        /// A choice.
        choice: StrokeColor = field("choice"),
    }
}

impl Form for AnyForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    /// Which fields have a valid value.
    type Checked = [bool; 4];

    fn check(self, _: &mut Vec<Violation>) -> Option<[bool; 4]> {
        Some([self.text.is_some(), self.number.is_some(), self.boolean.is_some(), self.choice.is_some()])
    }
}

/// The longest piece in which a body arrives, bytes.
const LONGEST_PIECE: usize = 64;

/// The state that handlers share. Its database cannot be reached, and no form needs it.
#[derive(Debug, Clone)]
pub struct State(App);

impl State {
    /// Creates the state. Call it within a runtime. `None` if the address of the database is not valid.
    pub fn new() -> Option<Self> {
        let unreachable = Servers::parse("postgres://nobody@127.0.0.1:1/nothing").ok()?;
        Some(Self(App::new(
            LiveConfig::fixed(Config::default()),
            Database::of_pool(Pool::new(unreachable, 10)),
            UploadStore::in_database(),
            &Shutdown::default(),
            DemoKey::none(),
        )))
    }

    /// A form of recognition or of speech, in pieces or in chunks over a connection, as the first byte says. The parser panics
    /// if its work is not linear.
    pub async fn multipart(&self, data: &[u8]) {
        let Some((kind, body)) = data.split_first() else { return };
        let content_type = "multipart/form-data; boundary=B";
        match kind % 4 {
            0 => self.read::<RecognitionForm>(content_type, body).await,
            1 => self.read::<SpeechForm>(content_type, body).await,
            2 => self.read_chunked::<RecognitionForm>(content_type, body).await,
            _ => self.read_chunked::<SpeechForm>(content_type, body).await,
        }
    }

    /// A form of handwriting.
    pub async fn handwriting_form(&self, data: &[u8]) {
        self.read::<HandwritingForm>("application/json", data).await;
    }

    /// A JSON object with a field of each kind.
    pub async fn json(&self, data: &[u8]) {
        let Some(request) = request("application/json", data) else { return };
        let memory = self.0.body_memory(QUICK, Uuid::nil());
        if let Err(problem) = form::read::<AnyForm>(request, 0, &memory, &self.0.url_rules).await {
            write(problem);
        }
    }

    async fn read<F: Form>(&self, content_type: &str, data: &[u8]) {
        let Some(request) = request(content_type, data) else { return };
        self.check::<F>(request).await;
    }

    async fn read_chunked<F: Form>(&self, content_type: &str, data: &[u8]) {
        let Some((length, body)) = pieces(data) else { return };
        post_in_chunks(content_type, body, length, async |request| self.check::<F>(request).await).await;
    }

    async fn check<F: Form>(&self, request: Request) {
        if let Err(problem) = Checked::<F>::from_request(request, &self.0).await {
            write(problem);
        }
    }
}

/// Headers, one on each line, after a line with the path.
pub async fn headers(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let uri = lines.next().and_then(|line| Uri::try_from(line).ok()).unwrap_or_default();
    let _ = query::unexpected(&uri); // it must not panic
    if let Err(problem) = get::wait(&uri) {
        write(problem);
    }
    if let Err(problem) = list::page(&uri) {
        write(problem);
    }
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.uri = uri;
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(&line[colon + 1..]);
        if let (Ok(name), Ok(value)) = (name, value) {
            parts.headers.append(name, value);
        }
    }
    let mut request = Request::from_parts(parts, ());
    if let Err(problem) = request_line::check(&mut request) {
        write(problem);
    }
    let (mut parts, ()) = request.into_parts();
    parts.extensions.insert(RequestInfo::new(&parts.headers, parts.uri.path()));
    let rules = Arc::new(UrlRules::default());
    let Ok(context) = RequestContext::from_request_parts(&mut parts, &rules).await else { return };
    for offered in [
        Representation::JSON,
        Representation::PICTURE,
        Representation::PICTURE_AND_SVG,
        Representation::TEXT,
        Representation::SEGMENTS,
    ] {
        if let Err(problem) = context.negotiate(offered) {
            write(problem);
        }
    }
    let limit = std::time::Duration::from_secs(30);
    assert!(context.preferences.wait_within(limit) <= limit);
    let _ = context.preferences.applied(); // it must not panic
}

/// A request whose body arrives in pieces, whose length the first byte of `data` gives.
fn request(content_type: &str, data: &[u8]) -> Option<Request> {
    let (length, body) = pieces(data)?;
    let pieces: Vec<_> = body.chunks(length).map(|piece| Ok::<_, Infallible>(piece.to_vec())).collect();
    let body = Body::from_stream(futures::stream::iter(pieces));
    Request::post("/v1/models/x?y=1").header("content-type", content_type).body(body).ok()
}

/// The length of the pieces of a body, which the first byte gives, and the body.
fn pieces(data: &[u8]) -> Option<(usize, &[u8])> {
    let (first, body) = data.split_first()?;
    Some((usize::from(*first) % LONGEST_PIECE + 1, body))
}

fn write(problem: Problem) {
    let _ = serde_json::to_vec(&problem.body("/", "request")); // it must not panic
}
