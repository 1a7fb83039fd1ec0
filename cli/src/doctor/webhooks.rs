//! Whether webhooks reach their receivers.

use akhar_operators::webhooks;
use akhar_platform::database::Pool;

use super::check::Check;

/// A warning if attempts at webhooks of the last ten minutes have failed, or webhooks were given up in the last day.
pub(super) async fn check(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let failing = webhooks::failing(db).await?;
    let Some(first) = failing.first() else { return Ok(None) };
    let n_repeated: i64 = failing.iter().map(|host| host.n_repeated).sum();
    let n_dead: i64 = failing.iter().map(|host| host.n_dead).sum();
    let found = format!(
        "{n_repeated} have failed and are repeated, {n_dead} were given up in the last day; most of {}: {}",
        first.host, first.last_error
    );
    let fix = "`akhar webhooks list` shows them: tell the owner of the receiver; `akhar webhooks redeliver --dead` sends those that were \
               given up again";
    Ok(Some(Check::warning("webhooks", found, fix)))
}
