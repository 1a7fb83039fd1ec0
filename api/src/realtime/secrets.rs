//! `POST /v1/realtime/client_secrets`, `…/transcription_sessions` and `…/translations/client_secrets`: make short-lived secrets, with which a web page
//! or an app opens sockets. A secret is a token, with the session that it begins behind a dot.

use std::time::Duration;

use akhar_requests::{Operation, QUICK};
use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use uuid::Uuid;

use super::{
    fields::{checked, wrong_type},
    session::Session,
    transcription::TranscriptionSession,
    translation::TranslationSession,
};
use crate::{
    app::App,
    auth::{caller::Caller, scope::ANY_ORIGIN},
    http::context::AcceptsJson,
    input::json,
    openai::options::Model,
    problems::{Code, Problem, ProblemType, Violation, responses::problems},
    tokens,
};

/// How long secrets work, seconds.
const LIFETIME_S: u64 = 600;
const SHORTEST_S: u64 = 10;
const LONGEST_S: u64 = 7200;
/// The most bytes of a session in a secret, which has to fit into a header.
const MAX_SESSION_BYTES: usize = 4096;

problems! {
    /// The problems of making a secret.
    SecretProblems at "/v1/realtime/client_secrets", [too_long()] => MalformedBody, Unauthorized, OutOfScope, NotAcceptable, BodyTimeout,
    TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// What a secret says behind its token.
#[derive(Serialize, Deserialize)]
struct Content {
    session: Session,
    is_former: bool,
}

/// The part of the OpenAPI document that describes these routes.
#[derive(OpenApi)]
#[openapi(paths(of_client, of_transcription_session, of_translation))]
pub(crate) struct Document;

/// Responds with a secret for sessions of the present names.
#[utoipa::path(
    post,
    path = "/v1/realtime/client_secrets",
    operation_id = "create-client-secret",
    tag = "openai",
    summary = "Create a short-lived secret for live transcription",
    description = "As in OpenAI's API: `session` is what the socket begins with, and `expires_after.seconds` (10 to 7200, by default \
        600) how long the secret opens sockets, which outlive it.",
    request_body(content = Object, content_type = "application/json", example = json!({
        "session": {"type": "transcription", "audio": {"input": {"transcription": {"model": "speech-pa"}}}},
        "expires_after": {"anchor": "created_at", "seconds": 600}})),
    responses(
        (status = 200, description = "The secret: `value`, `expires_at` and `session`.", body = Object,
            example = json!({"value": "at_3f9ZQm1x_0N9uJp6y4Vb2sR8kXwQ1cT7gHdLzEoAiM5nBfUqYtKv.e30", "expires_at": 1_796_634_600,
                "session": {"type": "transcription"}})),
        SecretProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn of_client(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    request: Request,
) -> Result<Response, Problem> {
    let mut body = read(&app, &caller, request).await?;
    let mut session = Session::Transcription(TranscriptionSession::default());
    if let Some(update) = body.remove("session") {
        session = session.updated(update, false)?;
    }
    respond(&app, &caller, session, &body).await
}

/// Responds with a secret for sessions that translate.
#[utoipa::path(
    post,
    path = "/v1/realtime/translations/client_secrets",
    operation_id = "create-translation-secret",
    tag = "openai",
    summary = "Create a short-lived secret for live translation",
    request_body(content = Object, content_type = "application/json", example = json!({
        "session": {"model": "gpt-realtime-translate", "audio": {"output": {"language": "pa"}}}})),
    responses(
        (status = 200, description = "The secret: `value`, `expires_at` and `session`.", body = Object,
            example = json!({"value": "at_3f9ZQm1x_0N9uJp6y4Vb2sR8kXwQ1cT7gHdLzEoAiM5nBfUqYtKv.e30", "expires_at": 1_796_634_600,
                "session": {"type": "translation"}})),
        SecretProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn of_translation(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    request: Request,
) -> Result<Response, Problem> {
    const FIELD: &str = "session.model";
    let mut body = read(&app, &caller, request).await?;
    let mut update = body.remove("session").unwrap_or_else(|| json!({}));
    if !update.is_object() {
        return Err(wrong_type("session", &update, "an object").into());
    }
    let model = match &update["model"] {
        Value::String(model) => model,
        Value::Null => {
            let detail = format!("{FIELD} is missing, expected a model's name");
            return Err(Violation::new(FIELD, Code::Missing, detail).into());
        }
        other => return Err(wrong_type(FIELD, other, "a model's name").into()),
    };
    let model = checked::<Model>(FIELD, model)?;
    update["model"] = json!(model.id());
    let session = Session::Translation(TranslationSession::new(model)).updated(update, false)?;
    respond(&app, &caller, session, &body).await
}

/// Responds with a session of the former names and its secret.
#[utoipa::path(
    post,
    path = "/v1/realtime/transcription_sessions",
    operation_id = "create-transcription-session",
    tag = "openai",
    summary = "Create a short-lived secret for live transcription, by the names of before",
    request_body(content = Object, content_type = "application/json", example = json!({
        "input_audio_format": "pcm16", "input_audio_transcription": {"model": "gpt-4o-transcribe", "language": "pa"}})),
    responses(
        (status = 200, description = "The session, with its `client_secret`.", body = Object,
            example = json!({"object": "realtime.transcription_session", "client_secret": {
                "value": "at_3f9ZQm1x_0N9uJp6y4Vb2sR8kXwQ1cT7gHdLzEoAiM5nBfUqYtKv.e30", "expires_at": 1_796_634_600}})),
        SecretProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn of_transcription_session(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    request: Request,
) -> Result<Response, Problem> {
    let body = read(&app, &caller, request).await?;
    let session = TranscriptionSession::default().updated(Value::Object(body), true)?;
    let content = Content { session: Session::Transcription(session), is_former: true };
    let secret = create(&app, &caller, &content, Duration::from_secs(LIFETIME_S)).await?;
    let mut shown = content.session.shown(&id(), true);
    shown["client_secret"] = secret;
    Ok(Json(shown).into_response())
}

/// The session that a secret begins, and whether by the former names.
pub(super) fn session(content: &str) -> Result<(Session, bool), Problem> {
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(content).ok();
    let content = decoded.and_then(|content| serde_json::from_slice::<Content>(&content).ok());
    let Content { session, is_former } = content.ok_or_else(|| {
        Problem::of(ProblemType::Unauthorized).with_detail("The secret is not as the server has made it.")
    })?;
    session.check()?; // the page can have changed it
    session.live()?; // what could be asked for may have changed since
    Ok((session, is_former))
}

async fn read(app: &App, caller: &Caller, request: Request) -> Result<Map<String, Value>, Problem> {
    let members = json::read(request, &app.body_memory(QUICK, caller.account_id)).await?;
    let member = |(name, value): (String, Box<serde_json::value::RawValue>)| {
        let parsed = serde_json::from_str(value.get());
        parsed.map(|value| (name.clone(), value)).map_err(|error| {
            let detail = format!("{name} cannot be read: {error}");
            Violation::new(&name, Code::WrongType, detail).into()
        })
    };
    members.into_iter().map(member).collect()
}

/// The secret of a session, for as long as the body says.
async fn respond(
    app: &App,
    caller: &Caller,
    session: Session,
    body: &Map<String, Value>,
) -> Result<Response, Problem> {
    let content = Content { session, is_former: false };
    let mut secret = create(app, caller, &content, lifetime(body.get("expires_after"))?).await?;
    secret["session"] = content.session.shown(&id(), false);
    Ok(Json(secret).into_response())
}

/// How long a secret works, as the body says.
fn lifetime(expires_after: Option<&Value>) -> Result<Duration, Violation> {
    const SECONDS: &str = "expires_after.seconds";
    let after = match expires_after {
        None | Some(Value::Null) => return Ok(Duration::from_secs(LIFETIME_S)),
        Some(Value::Object(after)) => after,
        Some(other) => return Err(wrong_type("expires_after", other, "an object")),
    };
    if let Some(anchor) = after.get("anchor").filter(|anchor| **anchor != "created_at") {
        return Err(wrong_type("expires_after.anchor", anchor, "created_at"));
    }
    match after.get("seconds") {
        None | Some(Value::Null) => Ok(Duration::from_secs(LIFETIME_S)),
        Some(Value::Number(sent)) => {
            let seconds = sent.as_u64().filter(|seconds| (SHORTEST_S..=LONGEST_S).contains(seconds));
            seconds.map(Duration::from_secs).ok_or_else(|| {
                let detail =
                    format!("{SECONDS} is {sent}, expected a whole number from {SHORTEST_S} to {LONGEST_S}");
                Violation::new(SECONDS, Code::OutOfRange, detail)
            })
        }
        Some(other) => Err(wrong_type(SECONDS, other, "a number")),
    }
}

fn too_long() -> Violation {
    let detail = format!("session is too long, expected at most {MAX_SESSION_BYTES} bytes in a secret");
    Violation::new("session", Code::TooLong, detail)
}

/// Makes a secret. Returns it as `value`, and when it expires, as seconds since 1970.
async fn create(app: &App, caller: &Caller, content: &Content, lifetime: Duration) -> Result<Value, Problem> {
    let content = serde_json::to_vec(content).map_err(Problem::internal)?;
    if content.len() > MAX_SESSION_BYTES {
        return Err(too_long().into());
    }
    let scope = (Operation::LiveTranscription.name(), ANY_ORIGIN);
    let (token, expires_at) = tokens::create(app, caller, scope, lifetime).await?;
    let content = BASE64_URL_SAFE_NO_PAD.encode(content);
    let value = format!("{}.{content}", token.expose());
    Ok(json!({"value": value, "expires_at": expires_at.timestamp()}))
}

/// The id of a session that no socket has begun.
fn id() -> String {
    super::events::session_text(akhar_jobs::JobId(Uuid::now_v7()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_works_as_long_as_its_body_says_or_the_body_is_refused() {
        for (after, expected) in [
            (Value::Null, Ok(600)),
            (json!({}), Ok(600)),
            (json!({"anchor": "created_at", "seconds": 10}), Ok(10)),
            (json!(5), Err("expires_after is 5 (a number), expected an object")),
            (
                json!({"anchor": "now"}),
                Err("expires_after.anchor is \"now\" (a string), expected created_at"),
            ),
            (
                json!({"seconds": 5}),
                Err("expires_after.seconds is 5, expected a whole number from 10 to 7200"),
            ),
            (
                json!({"seconds": "600"}),
                Err("expires_after.seconds is \"600\" (a string), expected a number"),
            ),
        ] {
            let found = lifetime(Some(&after)).map_err(|violation| violation.detail);
            assert_eq!(found.map(|found| found.as_secs()), expected.map_err(str::to_owned), "{after}");
        }
    }
}
