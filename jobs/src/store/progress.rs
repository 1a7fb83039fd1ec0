//! Records the progress of a running job, which its document and its events show.

use akhar_platform::database::Pool;

use crate::{Fence, Part};

use super::rows::column;

/// Records how many seconds of the input are processed, and the parts that were finished since the last call.
/// `n_before` is the number of parts before them. Returns `false` if the claim is no longer current; then nothing was
/// changed. Recording the same parts again is harmless.
pub async fn note_progress(
    db: &Pool,
    fence: Fence,
    progress_s: f64,
    n_before: usize,
    parts: &[Part],
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "with running as (
             update jobs set transcribed_s = $1, progressed_at = now() where id = $2 and state = 'running' and attempt = $3 returning id),
         added as (
             insert into segments (job_id, attempt, n, start_s, end_s, text, channel)
             select running.id, $3, $4 + s.n, s.start_s, s.end_s, s.text, s.channel
             from running, unnest($5::float8[], $6::float8[], $7::text[], $8::int2[])
                 with ordinality as s (start_s, end_s, text, channel, n)
             on conflict do nothing)
         select exists (select from running), set_config('synchronous_commit', 'off', true)",
    )
    .bind(progress_s)
    .bind(fence.job)
    .bind(fence.attempt)
    .bind(i64::try_from(n_before).unwrap_or(i64::MAX))
    .bind(column(parts, |p| p.start_s))
    .bind(column(parts, |p| p.end_s))
    .bind(column(parts, |p| p.text.as_str()))
    .bind(column(parts, |p| p.channel.map(i16::from)))
    .fetch_one(db)
    .await
}
