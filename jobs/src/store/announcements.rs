//! The Postgres channels on which changes of jobs are announced.
//!
//! Every role that can connect to the database hears every channel and can send to it. So a payload has no content, and a
//! notification is only a reason to look: what has changed is read from the tables.

use sqlx::PgConnection;

/// New jobs. The payload is the names of their queues, separated by commas.
pub const JOBS_QUEUED: &str = "jobs_queued";

/// The ends of jobs. The payload is their ids, separated by commas, which [`ended`](super::ended) parses.
pub const JOBS_ENDED: &str = "jobs_ended";

/// New parts of inputs. The payload is the ids of their jobs, separated by commas.
pub const STREAM_INPUTS: &str = "stream_inputs";

/// New output of jobs with such an input. The payload is the ids of the jobs, separated by commas.
pub const STREAM_OUTPUTS: &str = "stream_outputs";

/// Due webhook deliveries. The payload is empty.
pub const WEBHOOKS_DUE: &str = "webhooks_due";

/// Announces a change that was flushed, after its commit. Postgres lets only one commit with a notification run at a time:
/// if the notification were part of a commit that waits for the disk, every other one would wait as well. It may be lost,
/// as any notification: those who wait for the change look for it once a second.
pub(super) async fn announce(db: &mut PgConnection, channel: &str, payload: &str) {
    let notify = sqlx::query("select pg_notify($1, $2)").bind(channel).bind(payload);
    if let Err(error) = notify.execute(db).await {
        tracing::debug!(%error, channel, "cannot announce a change");
    }
}
