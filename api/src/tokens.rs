//! `POST /v1/tokens`: creates a short-lived token, with which a web page uses one operation.

use std::time::Duration;

use akhar_accounts::{
    NewKey,
    tokens::{self, MAX_TOKENS},
};
use akhar_client::TokenBody;
use akhar_jobs::Queue;
use akhar_platform::origins::Origin;
use akhar_requests::{Bounded, Operation, QUICK};
use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, Utc};
use serde_json::json;
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{
        field::{File, field},
        fields::{Fields as _, fields},
        form::{self, Form},
        value::{Rule, Value, rule},
    },
    operations::form::Checked,
    problems::{Code, Problem, Violation, responses::problems},
};

problems! {
    /// The problems of creating a token.
    TokenProblems at "/v1/tokens", TokenForm::violation() => MalformedBody, Unauthorized, OutOfScope, NotAcceptable, BodyTimeout, TooLarge,
    UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// What the token is for.
    TokenForm {
        /// The only operation that it may use. It also gets, cancels and deletes jobs whose ids the page
        /// knows.
        operation: Operation = field("operation").required(),
        /// The origin of the pages that may use it, one of those that the operator allows.
        origin: Origin = field("origin").required().wrong("app.example"),
        /// The minutes after which it stops working.
        minutes: Bounded<u8, 1, 60> = field("minutes").or("10"),
    }
}

/// The fields of the form.
#[derive(Debug)]
pub(crate) struct Wanted {
    operation: Operation,
    origin: Origin,
    minutes: Bounded<u8, 1, 60>,
}

impl Form for TokenForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Wanted;

    fn check(self, _: &mut Vec<Violation>) -> Option<Wanted> {
        Some(Wanted { operation: self.operation?, origin: self.origin?, minutes: self.minutes? })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"operation": "speech-recognition", "origin": "https://app.example"}))
    }
}

impl Value for Origin {
    fn rule() -> Rule {
        rule(
            "the origin of a web page, such as \"https://app.example\"",
            json!({"type": "string", "pattern": "^https?://[^/?#@]+$", "examples": ["https://app.example"]}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        text.parse().map_err(|_| Code::NotAUrl)
    }
}

/// The part of the OpenAPI document that describes this route.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    #[derive(OpenApi)]
    #[openapi(paths(handle), components(schemas(TokenBody)))]
    struct Document;
    form::with_json::<TokenForm>(Document::openapi())
}

/// Responds with a new token of the caller's key.
#[utoipa::path(
    post,
    path = "/v1/tokens",
    operation_id = "create-token",
    tag = "tokens",
    summary = "Create a short-lived token for a web page",
    description = "The token is for requests of one operation, and for jobs whose ids the page knows, from pages of one origin. \
        Its jobs are those of the key's account. It stops working with the key.",
    responses(
        (status = 201, description = "The token.", body = TokenBody, example = json!({
            "token": "at_3f9ZQm1x_0N9uJp6y4Vb2sR8kXwQ1cT7gHdLzEoAiM5nBfUqYtKv", "expires_at": "2026-11-26T09:10:00Z"})),
        TokenProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    form: Checked<TokenForm>,
) -> Result<Response, Problem> {
    let Wanted { operation, origin, minutes } = form.fields;
    if !app.cors_origins.0.contains(&origin) {
        let origin = origin.as_str();
        let detail = format!(
            "origin is {origin:?}, which is not one of those that the operator allows (AKHAR_CORS_ORIGINS)"
        );
        return Err(Violation::new("origin", Code::NotAllowed, detail).into());
    }
    let lifetime = Duration::from_secs(60 * u64::from(minutes.get()));
    let (token, expires_at) = create(&app, &caller, (operation.name(), origin.as_str()), lifetime).await?;
    let body = TokenBody { token: token.expose().to_owned(), expires_at };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// Makes a token of the caller's key for an operation and an origin. Returns it, and when it expires.
pub(crate) async fn create(
    app: &App,
    caller: &Caller,
    scope: (&str, &str),
    lifetime: Duration,
) -> Result<(NewKey, DateTime<Utc>), Problem> {
    let created = tokens::create(&app.database.pool, caller.key.id(), scope, lifetime).await;
    created.map_err(|error| Problem::database(&error))?.ok_or_else(|| {
        let detail = format!("A key may have {MAX_TOKENS} tokens at a time.");
        Problem::quota("tokens", detail, Duration::from_secs(60))
    })
}
