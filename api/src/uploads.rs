//! `POST /v1/uploads`: reserves an upload, which the caller writes to the bucket itself because it is larger than a request may
//! be.

use std::time::Duration;

use akhar_client::UploadBody;
use akhar_jobs::{
    Queue,
    store::{self, ReservedUpload},
};
use akhar_platform::database::retry_transient;
use akhar_requests::QUICK;
use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use chrono::Utc;
use serde_json::json;
use utoipa::OpenApi;
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{
        field::{File, field},
        fields::{Fields as _, fields},
        form::{self, Form},
    },
    operations::form::Checked,
    problems::{Code, Problem, ProblemType, Violation, responses::problems},
};

/// How long a URL takes a file.
const URL_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// How many of the largest uploads an account may have in the bucket at a time.
const MAX_LARGEST: u64 = 16;
/// How many uploads an account may have there at a time, however small.
const MAX_UPLOADS: u64 = 512;
/// The time after which an account whose uploads wait for their jobs may try again.
const RETRY_AFTER: Duration = Duration::from_secs(60);

problems! {
    /// The problems of reserving an upload.
    UploadProblems at "/v1/uploads", UploadForm::violation() => MalformedBody, Unauthorized, OutOfScope, NotAcceptable, BodyTimeout, TooLarge,
    UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, NoUploads, Busy, Unavailable,
}

fields! {
    /// The file that will be sent.
    UploadForm {
        /// The size of the file, bytes: by default at most 512 × 1024². No other size is accepted at the URL.
        size: u32 = field("size").required().wrong("-1"),
    }
}

impl Form for UploadForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = u32;

    fn check(self, _: &mut Vec<Violation>) -> Option<u32> {
        self.size
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"size": 345_600_044}))
    }
}

/// The part of the OpenAPI document that describes this route.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    #[derive(OpenApi)]
    #[openapi(paths(handle), components(schemas(UploadBody)))]
    struct Document;
    form::with_json::<UploadForm>(Document::openapi())
}

/// Responds with a URL to which the caller can write one file.
#[utoipa::path(
    post,
    path = "/v1/uploads",
    operation_id = "create-upload",
    tag = "uploads",
    summary = "Reserve an upload for a recording that is larger than a request",
    description = "The recording is sent to the URL with `PUT`, and then named in the field `upload` of one request, within a day. It \
        is deleted when the job of that request has ended, or after a day without one. Needs a server that keeps uploads in an S3 \
        bucket.",
    responses(
        (status = 201, description = "The upload.", body = UploadBody, example = json!({
            "id": "01a20425-0520-71c4-a987-4376f949e30b",
            "url": "https://speech.s3.eu-central-1.amazonaws.com/akhar/01a20425-0520-71c4-a987-4376f949e30b.01a20424-9d52-7ce0-8f0e-0c5f8a1d2b3c?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-SignedHeaders=content-length%3Bhost&X-Amz-Signature=…",
            "expires_at": "2026-11-26T10:00:00Z"})),
        UploadProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    form: Checked<UploadForm>,
) -> Result<Response, Problem> {
    let n_bytes = form.fields;
    let most = app.max_fetched_bytes();
    if !(1..=most).contains(&n_bytes) {
        let detail = format!("size is {n_bytes}, expected an integer from 1 to {most}");
        return Err(Violation::new("size", Code::OutOfRange, detail).into());
    }
    let id = Uuid::now_v7();
    let upload = ReservedUpload { id, account_id: caller.account_id, n_bytes };
    let expires_at = Utc::now() + URL_LIFETIME;
    let url = app.uploads.presign(&upload, URL_LIFETIME).await?;
    let url = url.ok_or(Problem::of(ProblemType::NoUploads))?;
    let max_bytes = u64::from(most) * MAX_LARGEST;
    let least_bytes = max_bytes / MAX_UPLOADS;
    let reserve = |_| store::reserve_upload(&app.database.pool, upload, max_bytes, least_bytes);
    if !retry_transient(reserve).await? {
        let detail = format!(
            "Your account may have {max_bytes} bytes of uploads that wait for their jobs or for the end of these. Each counts \
             at least {least_bytes} bytes, and one without a job counts for a day."
        );
        return Err(Problem::quota("uploads", detail, RETRY_AFTER));
    }
    Ok((StatusCode::CREATED, Json(UploadBody { id, url, expires_at })).into_response())
}
