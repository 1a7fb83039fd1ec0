//! How far a running job is, for those who watch it.

use sqlx::PgPool;

use crate::JobId;

/// Notes how many seconds of its recording are transcribed, if this attempt still holds the job.
pub async fn note_progress(
    db: &PgPool,
    job: JobId,
    attempt: i32,
    transcribed_s: f64,
) -> Result<(), sqlx::Error> {
    sqlx::query("update jobs set transcribed_s = $3 where id = $1 and state = 'running' and attempt = $2")
        .bind(job)
        .bind(attempt)
        .bind(transcribed_s)
        .execute(db)
        .await?;
    Ok(())
}
