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

#[derive(sqlx::FromRow)]
struct ClaimedRow {
    attempt: i32,
    max_attempts: i32,
    parameters: Json<Parameters>,
    request_id: String,
    traceparent: Option<String>,
    media_type: Option<String>,
    bytes: Option<Vec<u8>>,
}

/// Claims a queued job for `worker`, counting the attempt. `None`: it is not queued (any more).
///
/// `again`: an earlier call for the same delivery broke off, and may have claimed the job without being
/// able to say so.
///
/// The claim need not be durable: if Postgres forgets it in a crash the job is queued again, and the
/// finish of this attempt, finding no such claim, changes nothing. `db` may therefore be a pool with
/// `synchronous_commit` off.
pub async fn claim(
    db: &PgPool,
    id: JobId,
    worker: &str,
    again: bool,
) -> Result<Option<Claimed>, sqlx::Error> {
    let row: Option<ClaimedRow> = sqlx::query_as(
        "with claimed as (
             update jobs set state = 'running', attempt = attempt + 1, worker = $2, started_at = now()
             where id = $1 and attempt < max_attempts
                 and (state = 'queued' or (state = 'running' and worker = $2 and $3))
             returning id, attempt, max_attempts, parameters, request_id, traceparent)
         select c.attempt, c.max_attempts, c.parameters, c.request_id, c.traceparent, u.media_type, u.bytes
         from claimed c left join uploads u on u.job_id = c.id",
    )
    .bind(id)
    .bind(worker)
    .bind(again)
    .fetch_optional(db)
    .await?;
    row.map(|row| row.into_claimed(id)).transpose()
}

impl ClaimedRow {
    fn into_claimed(self, id: JobId) -> Result<Claimed, sqlx::Error> {
        let upload = match (self.media_type, self.bytes) {
            (Some(name), Some(bytes)) => {
                let media_type =
                    MediaType::from_name(&name).ok_or_else(|| unreadable("media type", &name))?;
                Some(Upload { media_type, bytes })
            }
            _ => None,
        };
        Ok(Claimed {
            id,
            attempt: self.attempt,
            is_last_attempt: self.attempt >= self.max_attempts,
            parameters: self.parameters.0,
            upload,
            request_id: self.request_id,
            traceparent: self.traceparent,
        })
    }
}
