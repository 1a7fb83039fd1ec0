//! Statements of other connections that submit jobs.

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
