//! A clock of a database that a test can move.

use akhar_platform::database::Pool;

/// Gives the connections that are opened from now on a clock that [`move_clock`] moves.
pub async fn make_clock_movable(db: &Pool) {
    sqlx::raw_sql(
        "create table clock (ahead interval not null);
         insert into clock values ('0');
         create function public.now() returns timestamptz stable language sql
             as $$ select pg_catalog.now() + (select ahead from public.clock) $$;
         do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$",
    )
    .execute(db)
    .await
    .expect("a clock");
}

/// Moves the clock of the database by an interval, such as `1 hour`.
pub async fn move_clock(db: &Pool, by: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update clock set ahead = ahead + $1::interval").bind(by).execute(db).await?;
    Ok(())
}
