//! Whether statements of the service wait for a lock that another program holds.

use akhar_platform::database::Pool;

use super::check::Check;
use crate::output::age;

/// Akhar holds no lock for longer than a statement takes.
const LONG_S: f64 = 1.0;

/// A session that others wait for.
#[derive(sqlx::FromRow)]
struct Blocker {
    pid: i32,
    /// The name that its program gave the connection, and its role.
    program: String,
    /// How many sessions wait for it.
    n_waiting: i64,
    /// For how long the first of them has waited, seconds.
    waited_s: f64,
}

/// The sessions that hold locks for which others have waited for long, and wait for none themselves. The times are those of the
/// statements that wait, because a role may not see when a session of another role began.
const BLOCKERS: &str = "with waiting as (
         select pid, unnest(pg_blocking_pids(pid)) as blocker, extract(epoch from clock_timestamp() - query_start) as waited_s
         from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')
     select w.blocker as pid, coalesce(nullif(max(a.application_name), '') || ' of ', '') || coalesce(max(a.usename), 'another role')
             as program,
         count(*) as n_waiting, max(w.waited_s)::float8 as waited_s
     from waiting w left join pg_stat_activity a on a.pid = w.blocker
     where w.blocker not in (select pid from waiting)
     group by w.blocker having max(w.waited_s) > $1 order by waited_s desc";

/// A failed check if statements wait.
pub(super) async fn check(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let blockers: Vec<Blocker> = sqlx::query_as(BLOCKERS).bind(LONG_S).fetch_all(db).await?;
    let Some(first) = blockers.first() else { return Ok(None) };
    let each = |blocker: &Blocker| {
        let Blocker { pid, program, n_waiting, waited_s } = blocker;
        format!("{n_waiting} wait for a lock of pid {pid} ({program}), the first for {}", age(*waited_s))
    };
    let found: Vec<String> = blockers.iter().map(each).collect();
    let found = format!("statements are blocked: {}", found.join("; "));
    let fix = format!("end its transaction: select pg_terminate_backend({})", first.pid);
    Ok(Some(Check::failed("locks", found, fix)))
}
