//! Statements of other connections that submit jobs, or write other rows for an account.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::Queue;

use super::rows::column;

/// Waits for the statements that submit or retry jobs of these queues and accounts, until they are committed. In a transaction, such
/// statements then wait for its end.
pub(super) async fn wait_for_submissions(
    db: &mut PgConnection,
    of_accounts: &[(Queue, Uuid)],
) -> Result<(), sqlx::Error> {
    // The turns are not used. The function takes the locks that these statements hold.
    sqlx::query("select next_turns($1, array_fill(0::int2, array[cardinality($1)]), $2)")
        .bind(column(of_accounts, |(queue, _)| queue.name()))
        .bind(column(of_accounts, |(_, account_id)| *account_id))
        .execute(db)
        .await?;
    Ok(())
}

/// Waits for the statements that write rows for an account, until they are committed. Those that follow wait for the end of this
/// transaction, and write nothing if it has recorded the erasure of the account (the function `is_erased`).
pub async fn hold_writes(
    transaction: &mut PgConnection,
    queues: &[Queue],
    account_id: Uuid,
) -> Result<(), sqlx::Error> {
    let of_account: Vec<_> = queues.iter().map(|queue| (*queue, account_id)).collect();
    wait_for_submissions(transaction, &of_account).await?;
    sqlx::query("select pg_advisory_xact_lock(hashtext('erasure'), uuid_hash($1))")
        .bind(account_id)
        .execute(transaction)
        .await?;
    Ok(())
}
