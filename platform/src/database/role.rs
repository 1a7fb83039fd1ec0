//! The settings of the connections: those of the planner, and the longest time of a statement.

use sqlx::{Connection as _, Executor as _, PgConnection};

use super::servers::Servers;

/// The settings, an array of texts.
macro_rules! wanted {
    () => {
        "array['jit=off', 'plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'enable_hashjoin=off',
             'enable_mergejoin=off', 'statement_timeout=6000']"
    };
}

/// Gives the connected role the settings in this database, unless it has them. They are the role's and not set by each
/// connection, because a pooler in transaction mode gives every transaction another connection of the server.
///
/// The statements are always the same, and each reads a few rows by an index. So each gets one generic plan and is never
/// compiled. Plans other than index scans are disabled: a plan made while a table was small, or before it was analysed,
/// would read the whole table, and a connection keeps its plans until it is closed.
///
/// A statement that nobody waits for any more ends by itself: its client has given it up after
/// [`ANSWER_LIMIT`](super::ANSWER_LIMIT), which is longer. `pg_dump` takes the limit off for its own session, and
/// [`unlimited`] does so for a migration.
///
/// The number of the lock is arbitrary. Two processes must not change the row of the role at a time.
const SET: &str = concat!(
    "do $$
    declare
        setting text;
        wanted constant text[] := ",
    wanted!(),
    ";
    begin
        if exists (
            select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
            where d.datname = current_database() and s.setrole = quote_ident(current_user)::regrole
                and s.setconfig @> wanted) then
            return;
        end if;
        perform pg_advisory_xact_lock(7019281123);
        foreach setting in array wanted loop
            execute format('alter role current_user in database %I set %s', current_database(), setting);
        end loop;
    end $$"
);

/// Takes the settings away again.
const RESET: &str = concat!(
    "do $$
    declare setting text;
    begin
        perform pg_advisory_xact_lock(7019281123);
        foreach setting in array ",
    wanted!(),
    " loop
            execute format('alter role current_user in database %I reset %I', current_database(), split_part(setting, '=', 1));
        end loop;
    end $$"
);

/// Sets them for the connections that are opened from now on.
pub(super) async fn set(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute(SET).await.map(drop)
}

/// Takes the settings off the role in this database again. The connections that are opened from now on have those of the server,
/// until a process of Akhar starts with this role.
pub async fn reset_role(servers: &Servers) -> Result<(), sqlx::Error> {
    let mut db = servers.connect().await?;
    db.execute(RESET).await?;
    db.close().await
}

/// Lets the statements of this connection take any time.
pub async fn unlimited(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    db.execute("set statement_timeout = 0").await.map(drop)
}
