//! `GET /v1/realtime` and `GET /v1/realtime/translations`: open sockets for live transcription and translation.

use akhar_jobs::{
    JobId,
    store::{self, StreamCursor, TakenOver},
};
use akhar_platform::database::retry_transient;
use akhar_requests::{LIVE, Operation};
use axum::{
    Extension,
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, Uri},
    response::Response,
};
use serde::Deserialize as _;
use serde_json::json;
use sqlx::PgConnection;
use tracing::Instrument as _;
use utoipa::OpenApi;
use uuid::Uuid;

use super::{
    PATH,
    connection::{Connection, MAX_EVENT_BYTES, MAX_READ_BYTES},
    events::EventPlace,
    secrets,
    session::Session,
    socket::serve,
    sound::MAX_WAITING_BYTES,
    transcription::TranscriptionSession,
    translation::TranslationSession,
};
use crate::{
    app::App,
    auth::{
        caller::Caller,
        presented::{PROTOCOL, SocketKey, socket_key},
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

/// The memory of a connection: an event, the sound in it, and what waits for the database.
const CONNECTION_BYTES: usize = MAX_READ_BYTES + MAX_EVENT_BYTES + MAX_WAITING_BYTES;

problems! {
    /// The problems of opening a socket.
    RealtimeProblems at PATH, RealtimeQuery::violation() => Unauthorized, OutOfScope, NotFound, JobDeleted, InvalidInput, QuotaExceeded,
    AccountBusy, TooManyStreams, Internal, Busy, Draining, Unavailable,
}

problems! {
    /// The problems of opening a socket for translation.
    TranslationProblems at "/v1/realtime/translations", TranslationQuery::violation() => Unauthorized, OutOfScope, NotFound, JobDeleted,
    InvalidInput, QuotaExceeded, AccountBusy, TooManyStreams, Internal, Busy, Draining, Unavailable,
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

fields! {
    /// The parameters of a socket for translation.
    TranslationQuery {
        /// The model.
        model: Model = field("model").required().wrong("llama"),
        /// The id of a session to take up again, within a minute after its connection broke.
        session: SessionId = field("session"),
        /// Of a session that is taken up again: the `event_id` of the last event that the client knows.
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

/// The part of the OpenAPI document that describes these routes.
#[derive(OpenApi)]
#[openapi(paths(transcribe, translate))]
pub(crate) struct Document;

/// A request to open a socket.
pub(crate) type Opening =
    (Caller, RequestContext, Option<Extension<Place>>, Result<WebSocketUpgrade, WebSocketUpgradeRejection>);

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
pub(crate) async fn transcribe(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
    opening: Opening,
) -> Result<Response, Problem> {
    let RealtimeQuery { _intent: _, model, session, starting_after } = query::parse(&uri)?;
    let (of_secret, is_former) = begun(&headers, false)?;
    let begins = of_secret.unwrap_or_else(|| Session::Transcription(TranscriptionSession::default()));
    let begins = match (begins, model) {
        (Session::Transcription(session), Some(model)) => Session::Transcription(session.with_model(model)),
        (begins, _) => begins,
    };
    open(app, opening, (begins, is_former), (session, starting_after)).await
}

/// Switches to a socket, on which the client sends sound and gets its translation.
#[utoipa::path(
    get,
    path = "/v1/realtime/translations",
    operation_id = "open-realtime-translation",
    tag = "openai",
    summary = "Translate live sound over a WebSocket, with the events of OpenAI's Realtime API",
    description = "For programs that use OpenAI's live translation: `session.update`, `session.input_audio_buffer.append` and \
        `session.close` are taken, and `session.output_transcript.delta` is the translation. It is text only: no sound is sent.",
    params(TranslationQuery),
    responses((status = 101, description = "The socket is open."), TranslationProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn translate(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
    opening: Opening,
) -> Result<Response, Problem> {
    let TranslationQuery { model, session, starting_after } = query::parse(&uri)?;
    let of_model = |model| Session::Translation(TranslationSession::new(model));
    let begins = begun(&headers, true)?.0.or_else(|| model.map(of_model));
    let begins = begins.ok_or_else(|| Problem::internal("a required parameter is absent"))?;
    open(app, opening, (begins, false), (session, starting_after)).await
}

/// The session that the request's secret begins, `None` if its key is none, and whether the client asks for the former names.
fn begun(headers: &HeaderMap, is_translation: bool) -> Result<(Option<Session>, bool), Problem> {
    let Some(SocketKey { session, is_former, .. }) = socket_key(headers) else { return Ok((None, false)) };
    let Some((session, is_former_secret)) = session.as_deref().map(secrets::session).transpose()? else {
        return Ok((None, is_former));
    };
    if session.is_translation() != is_translation {
        let detail = "The secret is for a session of the other kind: transcription or translation.";
        return Err(Problem::of(ProblemType::OutOfScope).with_detail(detail));
    }
    Ok((Some(session), is_former || is_former_secret))
}

async fn open(
    app: App,
    opening: Opening,
    (begins, is_former): (Session, bool),
    (session, starting_after): (Option<SessionId>, Option<EventPlace>),
) -> Result<Response, Problem> {
    let (caller, context, place, upgrade) = opening;
    let upgrade = upgrade.map_err(|rejection| {
        let detail = format!("Upgrade is not websocket, or the request is no opening handshake: {rejection}");
        Violation::new("Upgrade", Code::Missing, detail)
    })?;
    if app.shutdown.soft.is_cancelled() {
        return Err(Problem::of(ProblemType::Draining));
    }
    let stream = app.streams.open(&caller).ok_or_else(|| {
        let detail = "Your account has as many sockets and streams of events open as it may. Close one.";
        Problem::of(ProblemType::TooManyStreams).with_detail(detail)
    })?;
    let memory = app.body_memory(LIVE, caller.account_id).reserve(CONNECTION_BYTES)?;
    let seen = starting_after.filter(|_| session.is_some()).unwrap_or_default();
    let (session_id, session, resumed) = match session {
        None => (JobId(Uuid::now_v7()), begins, None),
        Some(SessionId(id)) => {
            let (session, resumed) = resume(&app, &caller, (id, begins.is_translation()), seen).await?;
            (id, session, Some(resumed))
        }
    };
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
        seen,
        _memory: memory,
        _place: place.map(|Extension(place)| place),
    };
    let span = tracing::Span::current();
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .max_message_size(MAX_READ_BYTES)
        .max_frame_size(MAX_READ_BYTES)
        .on_failed_upgrade(|error| tracing::debug!(%error, "a socket was not opened"));
    Ok(upgrade.on_upgrade(async move |socket| {
        let _token = token;
        serve(connection, socket).instrument(span).await;
    }))
}

/// Takes over a session of the caller's account, of which the client has seen the events up to `seen`.
async fn resume(
    app: &App,
    caller: &Caller,
    (id, is_translation): (JobId, bool),
    seen: EventPlace,
) -> Result<(Session, TakenOver), Problem> {
    let no_session = || {
        let detail = format!("The job {id} is no session of this kind of live transcription.");
        Problem::of(ProblemType::NotFound).with_detail(detail)
    };
    if find(app, caller, id).await?.operation != Operation::LiveTranscription {
        return Err(no_session());
    }
    let deleted = || Problem::of(ProblemType::JobDeleted);
    let parameters =
        retry_transient(|_| store::parameters(&app.database.pool, id)).await?.ok_or_else(deleted)?;
    let session = Session::deserialize(&parameters["shown"]).map_err(Problem::internal)?;
    if session.is_translation() != is_translation {
        return Err(no_session());
    }
    if seen.n > 0 {
        let last = [StreamCursor { job: id, after: seen.n - 1 }];
        let follow = async |db: &mut PgConnection| store::follow_outputs(db, &last).await;
        let followed = retry_transient(|_| app.database.pool.with(follow)).await?;
        if followed.iter().flatten().all(|seen| seen.events.is_empty()) {
            let detail = "starting_after is an event that the session does not have";
            return Err(Violation::new("starting_after", Code::NotAnEvent, detail).into());
        }
    }
    let taken = retry_transient(|_| store::take_over(&app.database.pool, id)).await?;
    Ok((session, taken.ok_or_else(deleted)?))
}
