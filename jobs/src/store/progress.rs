//! Records the progress of a running job, which its document shows.

use sqlx::PgPool;

use crate::Fence;

/// Records how many seconds of the recording are transcribed, if the claim is still current. Otherwise changes
/// nothing.
pub async fn note_progress(db: &PgPool, fence: Fence, transcribed_s: f64) -> Result<(), sqlx::Error> {
    sqlx::query("update jobs set transcribed_s = $3 where id = $1 and state = 'running' and attempt = $2")
        .bind(fence.job)
        .bind(fence.attempt)
        .bind(transcribed_s)
        .execute(db)
        .await?;
    Ok(())
}
