//! Erases an account with all that is kept of it, but for the row of the audit trail that says so.
//!
//! The first transaction records the erasure, revokes the keys and takes the webhook away. From then on nothing is written for the
//! account (the function `may_write` of the database). The rest is deleted a batch at a time, each in a transaction of its own, so that an
//! erasure that was stopped goes on when it is begun again.

use std::time::Duration;

use akhar_jobs::{
    JobId, Queue,
    store::{Ending, Guard, ReservedUpload, delete_these, end, hold_writes},
    uploads::{UploadStore, UploadStoreError},
};
use akhar_platform::database::Pool;
use akhar_requests::QUEUES;
use sqlx::PgConnection;
use tokio::time::sleep;
use uuid::Uuid;

use crate::audit::{Action, Actor, ChangeError, Forbidden};

/// The most rows that one statement deletes.
const BATCH: i64 = 500;

/// The pause before rows are looked for again that another statement has locked.
const PAUSE: Duration = Duration::from_millis(100);

/// What the audit trail has in place of an erased account, its keys, its jobs and its groups.
macro_rules! erased {
    () => {
        "erased"
    };
}

/// The tables that have rows of accounts, each with the condition that finds those of the account `$1`. In this order, no row is deleted
/// before one that needs it.
pub const OF_ACCOUNTS: &[(&str, &str)] = &[
    ("artifacts", OF_JOBS),
    ("segments", OF_JOBS),
    ("failed_attempts", OF_JOBS),
    ("stream_inputs", OF_JOBS),
    ("stream_outputs", OF_JOBS),
    ("streams", OF_JOBS),
    ("jobs", OF_ACCOUNT),
    ("deleted_jobs", OF_ACCOUNT),
    ("webhook_deliveries", OF_ACCOUNT),
    ("job_groups", OF_ACCOUNT),
    ("reserved_uploads", OF_ACCOUNT),
    ("idempotency_keys", OF_ACCOUNT),
    ("audio_reservations", OF_ACCOUNT),
    ("audio_usage", OF_ACCOUNT),
    ("tokens", OF_KEYS),
    ("ops_sessions", OF_KEYS),
    ("api_keys", OF_ACCOUNT),
    ("accounts", "id = $1"),
];
const OF_ACCOUNT: &str = "account_id = $1";
const OF_JOBS: &str = "job_id in (select id from jobs where account_id = $1)";
const OF_KEYS: &str = "key_id in (select id from api_keys where account_id = $1)";

/// The tables that have no rows of accounts. The audit trail is kept, without what names the account.
pub const OF_NO_ACCOUNT: &[&str] = &[
    "_sqlx_migrations",
    "audit",
    "claimed_turns",
    "clock_jumps",
    "queue_controls",
    "queue_minutes",
    "restores",
    "schema_compatibility",
    "workers",
];

/// Why an account was not erased, or not completely.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// The operator may not do this.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// Uploads outside the database could not be deleted.
    #[error("{0}; run the command again")]
    Uploads(#[from] UploadStoreError),
    /// A statement failed, or the connection was lost.
    #[error("database error: {0}; run the command again")]
    Database(#[from] sqlx::Error),
}

impl From<ChangeError> for EraseError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Forbidden(forbidden) => forbidden.into(),
            ChangeError::Database(error) => error.into(),
        }
    }
}

/// How many rows of an account each table has, of those that have any.
pub async fn count(db: &Pool, account: Uuid) -> Result<Vec<(&'static str, i64)>, sqlx::Error> {
    let mut counts = Vec::new();
    for (table, condition) in OF_ACCOUNTS {
        let count = format!("select count(*) from {table} where {condition}");
        let n: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(count)).bind(account).fetch_one(db).await?;
        if n > 0 {
            counts.push((*table, n));
        }
    }
    Ok(counts)
}

/// The names of the accounts whose erasure was begun and has not come to its end.
pub async fn unfinished(db: &Pool) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("select name from accounts where is_erased(id) order by name").fetch_all(db).await
}

/// Erases an account. Its jobs that wait or run are cancelled. `uploads` is the store of the service.
pub async fn erase(db: &Pool, uploads: &UploadStore, actor: &Actor, account: Uuid) -> Result<(), EraseError> {
    begin(db, actor, account).await?;
    while cancel_jobs(db, account).await? {}
    while delete_jobs(db, uploads, account).await? {}
    delete_reserved_uploads(db, uploads, account).await?;
    forget_names(db, account).await?;
    for (table, condition) in OF_ACCOUNTS {
        if !matches!(*table, "jobs" | "api_keys" | "accounts") {
            delete_rows(db, table, condition, account).await?;
        }
    }
    db.transaction(move |transaction| Box::pin(async move { delete_account(transaction, account).await }))
        .await?;
    forget_samples(db).await?;
    Ok(())
}

/// Records the erasure, unless an earlier one has begun, and ends whatever writes rows for the account.
async fn begin(db: &Pool, actor: &Actor, account: Uuid) -> Result<(), ChangeError> {
    let entry = actor.begin(Action::AccountErase)?;
    db.transaction(move |transaction| {
        Box::pin(async move {
            hold_writes(transaction, &QUEUES, account).await?;
            let is_new: bool =
                sqlx::query_scalar("select not is_erased($1)").bind(account).fetch_one(&mut *transaction).await?;
            entry.record(transaction, &account.to_string(), is_new.into()).await?;
            sqlx::query("update api_keys set revoked_at = now() where account_id = $1 and revoked_at is null")
                .bind(account)
                .execute(&mut *transaction)
                .await?;
            sqlx::query(
                "update accounts set webhook_url = null, webhook_secret = null, former_webhook_secret = null where id = $1",
            )
            .bind(account)
            .execute(transaction)
            .await?;
            Ok(())
        })
    })
    .await
}

/// Cancels some of the account's jobs that wait or run. Returns `false` if there are none.
async fn cancel_jobs(db: &Pool, account_id: Uuid) -> Result<bool, sqlx::Error> {
    let unended: Vec<JobId> = sqlx::query_scalar(
        "select j.id from unnest($1::text[]) as q (queue) join jobs j on j.queue = q.queue and j.account_id = $2
             and coalesce(j.ended_at, 'infinity') = 'infinity' limit $3",
    )
    .bind(QUEUES.map(Queue::name))
    .bind(account_id)
    .bind(BATCH)
    .fetch_all(db)
    .await?;
    if unended.is_empty() {
        return Ok(false);
    }
    let endings: Vec<_> =
        unended.into_iter().map(|job| Ending::cancelled(Guard::Unended { job, account_id })).collect();
    db.run(move |db| Box::pin(async move { end(db, &endings).await })).await?;
    Ok(true)
}

/// A job that is deleted.
#[derive(sqlx::FromRow)]
struct DoomedJob {
    id: Uuid,
    request_id: String,
    upload_url: Option<String>,
}

/// Deletes some of the account's jobs, all of which have ended, with their uploads. Returns `false` if there are none.
async fn delete_jobs(db: &Pool, uploads: &UploadStore, account: Uuid) -> Result<bool, EraseError> {
    let jobs: Vec<DoomedJob> = sqlx::query_as(
        "select id, request_id, upload_url from jobs where account_id = $1 order by id desc limit $2",
    )
    .bind(account)
    .bind(BATCH)
    .fetch_all(db)
    .await?;
    if jobs.is_empty() {
        return Ok(false);
    }
    // Before the rows: if this stops between the two, the next one finds the objects again.
    uploads.delete_now(jobs.iter().filter_map(|job| job.upload_url.clone())).await?;
    let named = jobs.iter().flat_map(|job| [job.id.to_string(), format!("request={}", job.request_id)]);
    forget(db, named.collect()).await?;
    let ids: Vec<Uuid> = jobs.iter().map(|job| job.id).collect();
    let deleted = db.run(move |db| Box::pin(delete_these(db, ids))).await?;
    if deleted.is_empty() {
        sleep(PAUSE).await;
    }
    Ok(true)
}

/// Deletes the uploads that the account has reserved, and what it has written for them. A URL that it still has to write one is of no
/// use afterwards: the workers delete objects that nobody has reserved.
async fn delete_reserved_uploads(
    db: &Pool,
    uploads: &UploadStore,
    account_id: Uuid,
) -> Result<(), EraseError> {
    loop {
        let ids: Vec<Uuid> =
            sqlx::query_scalar("select id from reserved_uploads where account_id = $1 limit $2")
                .bind(account_id)
                .bind(BATCH)
                .fetch_all(db)
                .await?;
        if ids.is_empty() {
            return Ok(());
        }
        let object = |id: &Uuid| uploads.reserved_object(&ReservedUpload { id: *id, account_id, n_bytes: 0 });
        uploads.delete_now(ids.iter().filter_map(object)).await?;
        sqlx::query("delete from reserved_uploads where id = any($1)").bind(ids).execute(db).await?;
    }
}

/// Deletes the account's rows of a table, a batch at a time. A row that another statement changes meanwhile is at another place
/// then, and is deleted with the last ones.
async fn delete_rows(db: &Pool, table: &str, condition: &str, account: Uuid) -> Result<(), sqlx::Error> {
    let delete = format!(
        "delete from {table} where ctid = any(array(select ctid from {table} where {condition} limit {BATCH}))"
    );
    loop {
        let deleted = sqlx::query(sqlx::AssertSqlSafe(&*delete)).bind(account).execute(db).await?;
        if deleted.rows_affected() == 0 {
            break;
        }
    }
    let delete = format!("delete from {table} where {condition}");
    sqlx::query(sqlx::AssertSqlSafe(delete)).bind(account).execute(db).await?;
    Ok(())
}

/// Takes the account, its keys, its groups and its deleted jobs out of the audit trail.
async fn forget_names(db: &Pool, account: Uuid) -> Result<(), sqlx::Error> {
    let mut after = Some(String::new());
    let names = "select name from (
             select 'group=' || name as name from job_groups where account_id = $1 union all
             select id::text from deleted_jobs where account_id = $1 union all
             select prefix from api_keys where account_id = $1 union all
             select 'account=' || id from accounts where id = $1) as named
         where name > $2 collate \"C\" order by name collate \"C\" limit $3";
    while let Some(last) = after {
        let batch: Vec<String> =
            sqlx::query_scalar(names).bind(account).bind(last).bind(BATCH).fetch_all(db).await?;
        after = batch.last().cloned();
        forget(db, batch).await?;
    }
    Ok(())
}

/// Takes these names out of the audit trail: the target of each row that has one of them as a word, or among the ids of jobs.
async fn forget(db: &Pool, names: Vec<String>) -> Result<(), sqlx::Error> {
    let forget = "update audit a set target = $1
        where action <> 'account.erase'
            and string_to_array(target, ' ') || string_to_array(substring(target from '^id=([^ ]*)'), ',') && $2";
    sqlx::query(forget).bind(erased!()).bind(names).execute(db).await?;
    Ok(())
}

/// Takes the account out of the planner's statistics, which have frequent values of each column and are part of newer dumps.
async fn forget_samples(db: &Pool) -> Result<(), sqlx::Error> {
    for table in OF_ACCOUNTS.iter().map(|(table, _)| *table).chain(["audit"]) {
        sqlx::query(sqlx::AssertSqlSafe(format!("analyze {table}"))).execute(db).await?;
    }
    Ok(())
}

/// Deletes the account with its keys, and takes both out of the audit trail. Requests that have one of the keys, and are about to make a
/// token or a session, or to record a change, are waited for.
async fn delete_account(transaction: &mut PgConnection, account: Uuid) -> Result<(), sqlx::Error> {
    let lock = "select id from api_keys where account_id = $1 order by id for update";
    let keys: Vec<Uuid> = sqlx::query_scalar(lock).bind(account).fetch_all(&mut *transaction).await?;
    for of_key in [
        "delete from tokens where key_id = any($1)",
        "delete from ops_sessions where key_id = any($1)",
        concat!(
            "update audit set key_id = null, address = null, actor = '",
            erased!(),
            "' where key_id = any($1)"
        ),
        "delete from api_keys where id = any($1)",
    ] {
        sqlx::query(of_key).bind(&keys).execute(&mut *transaction).await?;
    }
    sqlx::query("delete from accounts where id = $1").bind(account).execute(transaction).await?;
    Ok(())
}
