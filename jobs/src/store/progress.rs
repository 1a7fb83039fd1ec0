//! How far a running job is, for those who watch it.

use sqlx::PgPool;

use crate::Fence;

/// Notes how many seconds of its recording are transcribed, if this claim still holds the job.
pub async fn note_progress(db: &PgPool, fence: Fence, transcribed_s: f64) -> Result<(), sqlx::Error> {
    sqlx::query("update jobs set transcribed_s = $3 where id = $1 and state = 'running' and attempt = $2")
        .bind(fence.job)
        .bind(fence.attempt)
        .bind(transcribed_s)
        .execute(db)
        .await?;
    Ok(())
}
