//! The only code that begins a transaction.

use sqlx::{Connection as _, PgConnection};

/// Ends a transaction whose process is gone, or waits elsewhere, before its locks make others wait for long.
const BEGIN: &str = "begin; set local idle_in_transaction_session_timeout = '5s'";

/// Does `work` in a transaction, and commits it if that succeeds.
///
/// The connection must belong to a task that no caller can drop, as those of [`Pool::run`](super::Pool::run) do, or be
/// closed when this is dropped: sqlx 0.9 counts a transaction only from the reply to `begin`, and gives a connection whose
/// `begin` was dropped before to the next user, inside the transaction.
#[expect(clippy::disallowed_methods, reason = "whoever may drop the future closes the connection")]
pub async fn transaction<T, E: From<sqlx::Error>>(
    db: &mut PgConnection,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, E>,
) -> Result<T, E> {
    let mut transaction = db.begin_with(BEGIN).await?;
    match work(&mut transaction).await {
        Ok(done) => {
            transaction.commit().await?;
            Ok(done)
        }
        Err(error) => {
            transaction.rollback().await?;
            Err(error)
        }
    }
}
