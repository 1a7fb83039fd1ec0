//! Finds which objects outside the database are still needed.

use std::collections::HashSet;

use sqlx::PgExecutor;

use crate::JobId;

use super::rows::column;

/// Which of these objects have the uploads of jobs that have not ended, or that are dead and can be retried, or are those of callers
/// that may use them. Each object comes with the job that it was written for.
pub async fn used_objects(
    db: impl PgExecutor<'_>,
    objects: &[(JobId, String)],
) -> Result<HashSet<String>, sqlx::Error> {
    let jobs = column(objects, |(job, _)| job.0);
    let urls = column(objects, |(_, url)| url.as_str());
    let used: Vec<String> = sqlx::query_scalar(
        "select upload_url from jobs
         where id = any($1) and upload_url = any($2)
             and (state in ('queued', 'running') or state = 'failed' and outcome->>'kind' = 'failed')
         union all
         select url from unnest($1, $2) as object (id, url) join reserved_uploads using (id) where not is_used",
    )
    .bind(jobs)
    .bind(urls)
    .fetch_all(db)
    .await?;
    Ok(used.into_iter().collect())
}
