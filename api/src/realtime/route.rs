//! `GET /v1/realtime`: opens a socket for live transcription.

use akhar_jobs::{
    JobId,
    store::{self, TakenOver},
};
use akhar_platform::database::retry_transient;
use akhar_requests::{Operation, SPEECH, live::LiveParameters};
use axum::{
    extract::{
        Extension, State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, Uri},
    response::Response,
};
use serde_json::json;
use tracing::Instrument as _;
use utoipa::OpenApi;
use uuid::Uuid;

use super::{
    PATH,
    connection::{Connection, MAX_EVENT_BYTES, Resumed},
    events::EventPlace,
    secrets,
    session::Session,
    socket::serve,
    sound::MAX_WAITING_BYTES,
};
use crate::{
    app::App,
    auth::{
        caller::Caller,
        presented::{PROTOCOL, socket_key},
    },
    http::{context::RequestContext, peer::Place},
    input::{
        field::field,
        fields::{Fields as _, fields},
        query,
        value::{Rule, Value, choices, rule},
    },
    jobs::get::find,
    openai::options::Model,
    problems::{Code, Problem, ProblemType, Violation, responses::problems},
};

/// The memory of a connection: an event, the sound that is in it, and what waits for the database.
const CONNECTION_BYTES: usize = 2 * MAX_EVENT_BYTES + MAX_WAITING_BYTES;
/// The header by which clients of the version before ask for its names.
const BETA: &str = "openai-beta";
const BETA_REALTIME: &str = "realtime=v1";

problems! {
    /// The problems of opening a socket.
    RealtimeProblems at PATH, RealtimeQuery::violation() => Unauthorized, OutOfScope, NotFound, JobDeleted, InvalidInput, QuotaExceeded,
    AccountBusy, TooManyStreams, Internal, Busy, Draining, Unavailable,
}

/// What a session does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intent;

impl Intent {
    const ALL: [Self; 1] = [Self];
}

choices! {
    Intent: |_: Self| "transcription", None;
}

fields! {
    /// The parameters of a socket.
    RealtimeQuery {
        /// What the session does.
        _intent: Intent = field("intent").required(),
        /// The model, until the client names another.
        model: Model = field("model").wrong("llama"),
        /// The id of a session to take up again, within a minute after its connection broke.
        session: SessionId = field("session"),
        /// Of a session that is taken up again: the `event_id` of the last event that the client knows. The default is to send all
        /// of them.
        starting_after: EventPlace = field("starting_after"),
    }
}

/// The id of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionId(JobId);

impl Value for SessionId {
    fn rule() -> Rule {
        rule(
            "the id of a session, sess_…",
            json!({"type": "string", "examples": ["sess_019d0f6e8e527d0ca4f55b2b3f6d3c11"]}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        let id = text.strip_prefix("sess_").and_then(|id| Uuid::try_parse(id).ok());
        id.map(|id| Self(JobId(id))).ok_or(Code::NotAnId)
    }
}

impl Value for EventPlace {
    fn rule() -> Rule {
        rule(
            "the event_id of an event about the sound, event_…",
            json!({"type": "string", "examples": ["event_12_0"]}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::parse(text).ok_or(Code::NotAnEvent)
    }
}

/// The part of the OpenAPI document that describes this route.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Switches to a socket, on which the client sends sound and gets its text.
#[utoipa::path(
    get,
    path = "/v1/realtime",
    operation_id = "open-realtime",
    tag = "openai",
    summary = "Transcribe live sound over a WebSocket, with the events of OpenAI's Realtime API",
    description = "For programs that use OpenAI's Realtime API for transcription: `session.update`, `input_audio_buffer.append`, \
        `commit` and `clear` are taken, and the transcription comes as `conversation.item.input_audio_transcription.delta` and \
        `completed`. The page Live transcription lists all events.",
    params(RealtimeQuery),
    responses((status = 101, description = "The socket is open."), RealtimeProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    uri: Uri,
    headers: HeaderMap,
    place: Option<Extension<Place>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let RealtimeQuery { _intent: _, model, session, starting_after } = query::parse(&uri)?;
    let upgrade = upgrade.map_err(|rejection| {
        let detail = format!("Upgrade is not websocket, or the request is no opening handshake: {rejection}");
        Problem::violations(vec![Violation::new("Upgrade", Code::Missing, detail)])
    })?;
    if app.shutdown.soft.is_cancelled() {
        return Err(Problem::of(ProblemType::Draining));
    }
    let stream = app.streams.open(&caller).ok_or_else(|| {
        let detail = "Your account has as many sockets and streams of events open as it may. Close one.";
        Problem::of(ProblemType::TooManyStreams).with_detail(detail)
    })?;
    let memory = app.body_memory(SPEECH, caller.account_id).reserve(CONNECTION_BYTES)?;
    let presented = socket_key(&headers);
    let secret = presented.as_ref().and_then(|presented| presented.session.as_deref());
    let (of_secret, is_of_former) =
        secret.map(secrets::session).transpose()?.unwrap_or((Session::new(), false));
    let is_former = is_of_former
        || presented.is_some_and(|presented| presented.is_former)
        || headers.get_all(BETA).iter().any(|value| value == BETA_REALTIME);
    let session_of_model = model.map_or(of_secret, Session::of_model);
    let (session_id, session, resumed) = match session {
        None => (JobId(Uuid::now_v7()), session_of_model, None),
        Some(SessionId(id)) => {
            let (session, resumed) = resume(&app, &caller, id, starting_after.unwrap_or_default()).await?;
            (id, session, Some(resumed))
        }
    };
    let place = place.map(|Extension(place)| place);
    let token = app.tasks.token();
    let connection = Connection {
        app,
        caller,
        context,
        stream,
        session_id,
        session,
        is_former,
        resumed,
        _memory: memory,
        _place: place,
    };
    let span = tracing::Span::current();
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .max_message_size(MAX_EVENT_BYTES)
        .max_frame_size(MAX_EVENT_BYTES)
        .on_failed_upgrade(|error| tracing::debug!(%error, "a socket was not opened"));
    Ok(upgrade.on_upgrade(async move |socket| {
        let _token = token;
        serve(connection, socket).instrument(span).await;
    }))
}

/// Finds where a session of the caller's account goes on.
async fn resume(
    app: &App,
    caller: &Caller,
    id: JobId,
    seen: EventPlace,
) -> Result<(Session, Resumed), Problem> {
    if find(app, caller, id).await?.operation != Operation::LiveTranscription {
        let detail = format!("The job {id} is no session of live transcription.");
        return Err(Problem::of(ProblemType::NotFound).with_detail(detail));
    }
    let taken = retry_transient(|_| store::take_over(&app.database.pool, id)).await?;
    let Some(TakenOver { writer, n_stored, n_bytes, parameters }) = taken else {
        return Err(Problem::of(ProblemType::JobDeleted));
    };
    let parameters: LiveParameters = serde_json::from_value(parameters).map_err(Problem::internal)?;
    let n_bytes = u64::try_from(n_bytes).unwrap_or(0);
    Ok((Session::of(&parameters), Resumed { seen, n_parts: n_stored, n_bytes, writer }))
}
