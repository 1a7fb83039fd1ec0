//! Whether a running job has not progressed for long, and whether workers could answer differently.

use akhar_operators::{queues, workers};
use akhar_platform::database::Pool;

use super::check::Check;
use crate::output::age;

/// A job is stuck, as the alert says too, if it has not progressed for so many seconds.
const STALLED_S: f64 = 600.0;

/// The jobs that are stuck. None if there is none.
pub(super) async fn stalled(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let unended = queues::unended(db).await?;
    let stalled = unended.iter().filter(|row| row.stalled_s > STALLED_S);
    let stalled = stalled.max_by(|one, other| one.stalled_s.total_cmp(&other.stalled_s));
    Ok(stalled.map(|row| {
        let found =
            format!("a running {} job has not progressed for {}", row.operation, age(row.stalled_s));
        let fix = "`akhar jobs list --state running` shows it; its worker ends the attempt in time, or cancel it with `akhar jobs cancel ID`";
        Check::warning("running", found, fix)
    }))
}

/// The operations that are served by more than one model or version. None if there is none.
pub(super) async fn mixed(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let models = workers::models(db).await?;
    let mut mixed: Vec<&str> =
        models.iter().filter(|model| model.is_mixed).map(|model| &*model.operation).collect();
    mixed.dedup();
    Ok((!mixed.is_empty()).then(|| {
        let found = format!("workers have different models, or versions of one, for {}", mixed.join(", "));
        let fix = "`akhar workers models` shows which; give all workers the same models and the same version of akhar";
        Check::warning("versions", found, fix)
    }))
}
