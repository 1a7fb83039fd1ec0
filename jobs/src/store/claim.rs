//! A worker takes a job: the one step from queued to running.

use sqlx::{PgPool, types::Json};

use crate::{JobId, MediaType, Parameters, Upload};

use super::unreadable;

/// A job in a worker's hands, with all it needs.
#[derive(Debug)]
pub struct Claimed {
    /// Its identity.
    pub id: JobId,
    /// Which claim this is, from 1; every later write names it.
    pub attempt: i32,
    /// No further claim after this one.
    pub is_last_attempt: bool,
    /// What to do.
    pub parameters: Parameters,
    /// What to do it on.
    pub upload: Option<Upload>,
    /// The request that asked for it.
    pub request_id: String,
    /// Its W3C trace context.
    pub traceparent: Option<String>,
}

/// What a claim returns; all null where nothing was claimed.
#[derive(sqlx::FromRow)]
pub(super) struct ClaimedRow {
    job_id: Option<JobId>,
    attempt: Option<i32>,
    max_attempts: Option<i32>,
    parameters: Option<Json<Parameters>>,
    request_id: Option<String>,
    traceparent: Option<String>,
    media_type: Option<String>,
    bytes: Option<Vec<u8>>,
}

/// Claims a job outside its delivery: one that is queued, or that counts as this worker's but is not in
/// its hands, because the claim's answer was lost. `None`: it is neither.
pub async fn claim(db: &PgPool, id: JobId, worker: &str) -> Result<Option<Claimed>, sqlx::Error> {
    let row: Option<ClaimedRow> = sqlx::query_as(
        "with claimed as (
             update jobs set state = 'running', attempt = attempt + 1, worker = $2, started_at = now()
             where id = $1 and attempt < max_attempts
                 and (state = 'queued' or (state = 'running' and worker = $2))
             returning id, attempt, max_attempts, parameters, request_id, traceparent)
         select c.id as job_id, c.attempt, c.max_attempts, c.parameters, c.request_id, c.traceparent,
             u.media_type, u.bytes
         from claimed c left join uploads u on u.job_id = c.id",
    )
    .bind(id)
    .bind(worker)
    .fetch_optional(db)
    .await?;
    row.map_or(Ok(None), ClaimedRow::into_claimed)
}

impl ClaimedRow {
    pub(super) fn into_claimed(self) -> Result<Option<Claimed>, sqlx::Error> {
        let (Some(id), Some(attempt), Some(max_attempts), Some(parameters), Some(request_id)) =
            (self.job_id, self.attempt, self.max_attempts, self.parameters, self.request_id)
        else {
            return Ok(None);
        };
        let upload = match (self.media_type, self.bytes) {
            (Some(name), Some(bytes)) => {
                let media_type =
                    MediaType::from_name(&name).ok_or_else(|| unreadable("media type", &name))?;
                Some(Upload { media_type, bytes })
            }
            _ => None,
        };
        Ok(Some(Claimed {
            id,
            attempt,
            is_last_attempt: attempt >= max_attempts,
            parameters: parameters.0,
            upload,
            request_id,
            traceparent: self.traceparent,
        }))
    }
}
