//! Decides which job a request stands for: a new one, or that of an earlier request with the same Idempotency-Key.

use akhar_accounts::idempotency::{self, Claim};
use akhar_jobs::JobId;
use akhar_platform::database::retry_transient;
use akhar_requests::Parameters;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, idempotency_key},
    input::{field::File, source::Source},
    problems::{Code, Problem, Violation},
};

/// The most bytes of an upload that are hashed on the thread of the request, which takes less than a millisecond.
const MAX_HASHED_AT_ONCE: usize = 256 * 1024;

/// The id of a request's job. A violation if its key was used for another request.
///
/// A key is claimed before its job is submitted. If the process dies between the two, a later request with the key
/// submits the job with the id that the key has. An upload that the caller has written is a key too, which no header can have.
pub(super) async fn identify(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: &Parameters,
    source: Option<&Source>,
) -> Result<JobId, Problem> {
    let of_upload = match source {
        Some(Source::Upload(id)) => Some(format!("{}\n{id}", File::UPLOAD)),
        _ => None,
    };
    let header = context.idempotency_key.as_deref().map(|key| (idempotency_key::HEADER.name, key));
    let upload = of_upload.as_deref().map(|key| (File::UPLOAD, key));
    let mut job = match source {
        Some(Source::Live(JobId(id))) => *id,
        _ => Uuid::now_v7(),
    };
    if header.is_none() && upload.is_none() {
        return Ok(JobId(job));
    }
    let fingerprint = fingerprint(parameters, source).await?;
    for (name, key) in header.into_iter().chain(upload) {
        let claim = retry_transient(|_| {
            idempotency::claim(&app.database.pool, caller.account_id, key, &fingerprint, job)
        });
        match claim.await? {
            Claim::New => (),
            Claim::Repeated(id) => {
                tracing::debug!(%id, "the request repeats an earlier one");
                job = id;
            }
            Claim::Reused => {
                let detail = format!(
                    "an earlier request had the same {name} and another operation, other fields or another file; send a new {name}"
                );
                return Err(Violation::new(name, Code::Reused, detail).into());
            }
        }
    }
    Ok(JobId(job))
}

/// SHA-256 of the operation, its parameters, and the file or its URL. What a worker will find at the URL is not known yet.
async fn fingerprint(parameters: &Parameters, source: Option<&Source>) -> Result<Vec<u8>, Problem> {
    let parameters = serde_json::to_vec(parameters).map_err(Problem::internal)?;
    let bytes = match source {
        Some(Source::Sent(upload)) => upload.bytes.clone(),
        Some(Source::Url(url)) => Bytes::copy_from_slice(url.as_str().as_bytes()), // no file begins like a URL or an id
        Some(Source::Upload(id)) => id.to_string().into(),
        Some(Source::Live(_)) | None => Bytes::new(),
    };
    let is_short = bytes.len() <= MAX_HASHED_AT_ONCE;
    let hash = move || {
        let length = u64::try_from(parameters.len()).unwrap_or(u64::MAX);
        let hash = Sha256::new().chain_update(length.to_be_bytes()).chain_update(parameters);
        hash.chain_update(bytes).finalize().to_vec()
    };
    if is_short {
        return Ok(hash());
    }
    tokio::task::spawn_blocking(hash).await.map_err(Problem::internal)
}
