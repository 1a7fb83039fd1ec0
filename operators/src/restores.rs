//! A database that was restored from a backup is quiet: no job of it starts, no webhook is sent and nothing old is deleted, until an
//! operator lets it go on. So a backup that is only tried does nothing to callers.

use akhar_platform::database::Pool;

use crate::audit::{Action, Actor, ChangeError, Entry};

/// How the audit trail names it.
const TARGET: &str = "the database";

/// Makes the database quiet. Workers follow within about a second; jobs that run and webhooks that are being sent go on. Returns `false`
/// if it is quiet already.
pub async fn make_quiet(db: &Pool, actor: &Actor) -> Result<bool, ChangeError> {
    let quiet = "insert into restores (name) select gen_random_uuid() where not is_quiet() returning name";
    change(db, actor.begin(Action::DatabaseQuiet)?, quiet).await
}

/// Lets a quiet database go on. Returns `false` if it is not quiet.
pub async fn go_on(db: &Pool, actor: &Actor) -> Result<bool, ChangeError> {
    let go = "with released as (update restores set released_at = now() where released_at is null returning name),
         seen as (
             insert into restores (name, released_at) select name, now() from current_setting('akhar.restored', true) as name
             where name <> '' on conflict do nothing returning name)
         select name from released union all select name from seen";
    change(db, actor.begin(Action::DatabaseGo)?, go).await
}

async fn change(db: &Pool, entry: Entry, statement: &'static str) -> Result<bool, ChangeError> {
    db.transaction(move |transaction| {
        Box::pin(async move {
            let is_changed = !sqlx::query(statement).fetch_all(&mut *transaction).await?.is_empty();
            entry.record(transaction, TARGET, is_changed.into()).await?;
            Ok(is_changed)
        })
    })
    .await
}
