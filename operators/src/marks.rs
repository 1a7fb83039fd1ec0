//! What changed in the last day, for marks beside the curves: the audit trail and the rows of workers come in, and times with texts
//! go out.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};

use crate::workers::{ServedModel, Worker};

/// The most changes by operators that are marked. A search for more is on the page of the audit trail.
const MAX_CHANGES: i64 = 200;

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Mark {
    /// When.
    pub at: DateTime<Utc>,
    /// What, in a few words.
    pub text: String,
}

/// The changes of the last day, the oldest first: what operators did, which workers started with which version of the program, and
/// which models were loaded. What a worker did that has stopped is not known any more.
pub async fn of_last_day(
    db: &Pool,
    workers: &[Worker],
    models: &[ServedModel],
) -> Result<Vec<Mark>, sqlx::Error> {
    let mut marks: Vec<Mark> = sqlx::query_as(
        "select at, action || ' ' || target || ' by ' || actor as text from audit
         where at > now() - interval '1 day' order by at desc limit $1",
    )
    .bind(MAX_CHANGES)
    .fetch_all(db)
    .await?;
    marks.extend(workers.iter().map(|worker| {
        let program = worker.program.as_deref().unwrap_or("of an earlier version");
        Mark { at: worker.started_at, text: format!("worker {} started: akhar {program}", worker.name) }
    }));
    marks.extend(models.iter().map(|model| {
        let language = model.language.as_ref().map(|language| format!(" ({language})")).unwrap_or_default();
        let ServedModel { operation, id, version, since, .. } = model;
        Mark { at: *since, text: format!("model of {operation}{language}: {id} {version}") }
    }));
    marks.sort_by_key(|mark| mark.at);
    Ok(marks)
}
