//! Records every start and end of a job with triggers, so that they can be counted afterwards.

use akhar_platform::database::Pool;

/// An end is a change of the state: a statement that changes something else of an ended job does not count.
const RECORD: &str = "
    create table starts (job_id uuid not null, at timestamptz not null default clock_timestamp());
    create table ends (job_id uuid not null, state text not null, attempt integer not null);
    create function record_start() returns trigger language plpgsql as
    $$ begin insert into starts values (new.id); return null; end $$;
    create function record_end() returns trigger language plpgsql as
    $$ begin insert into ends values (new.id, new.state, new.attempt); return null; end $$;
    create trigger record_start after update of state on jobs for each row
    when (new.state = 'running') execute function record_start();
    create trigger record_end after update of state on jobs for each row
    when (new.state in ('succeeded', 'failed', 'cancelled')) execute function record_end();";

/// Records starts and ends in the tables `starts` and `ends` from now on.
pub async fn record_ends(db: &Pool) {
    sqlx::raw_sql(RECORD).execute(db).await.expect("triggers");
}

/// The number of rows of a table, or of a query in parentheses with a name.
pub async fn n_of(db: &Pool, rows: &str) -> usize {
    let statement = format!("select count(*) from {rows}");
    let n: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).fetch_one(db).await.expect("a count");
    usize::try_from(n).expect("a count")
}

/// The number of jobs with several rows in `starts` or `ends`.
pub async fn n_repeated(db: &Pool, table: &str) -> usize {
    n_of(db, &format!("(select from {table} group by job_id having count(*) > 1) as repeated")).await
}
