//! Finds which objects outside the database are still needed.

use std::collections::HashSet;

use sqlx::PgExecutor;

use crate::JobId;

use super::rows::column;

/// Whether the job with this id needs its upload: it has not ended, or is dead and can be retried.
macro_rules! needs_upload {
    ($id:literal) => {
        concat!(
            "exists (select from jobs j where j.id = ",
            $id,
            " and (j.state in ('queued', 'running') or j.state = 'failed' and j.outcome->>'kind' = 'failed'))"
        )
    };
}
pub(super) use needs_upload;

/// Which of these objects are needed by jobs, or are reserved and have no job yet. Each object comes with the job or the
/// reservation that it was written for.
pub async fn used_objects(
    db: impl PgExecutor<'_>,
    objects: &[(JobId, String)],
) -> Result<HashSet<String>, sqlx::Error> {
    let jobs = column(objects, |(job, _)| job.0);
    let urls = column(objects, |(_, url)| url.as_str());
    let used: Vec<String> = sqlx::query_scalar(concat!(
        "select upload_url from jobs job where id = any($1) and upload_url = any($2) and ",
        needs_upload!("job.id"),
        " union all
         select url from unnest($1, $2) as object (id, url) join reserved_uploads u using (id) where job_id is null or ",
        needs_upload!("u.job_id"),
    ))
    .bind(jobs)
    .bind(urls)
    .fetch_all(db)
    .await?;
    Ok(used.into_iter().collect())
}
