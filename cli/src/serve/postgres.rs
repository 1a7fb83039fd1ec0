//! The private Postgres server of `akhar serve`: it is started again whenever it dies.

use std::time::Duration;

use akhar_platform::{
    blocking::joined,
    database::{PrivateError, PrivatePostgres},
};
use tokio::{task::JoinHandle, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{connect, failure::Failure};

/// How often the server's process is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// A private server and the task that starts it again.
#[derive(Debug)]
pub(super) struct Supervised {
    stop: CancellationToken,
    task: JoinHandle<PrivatePostgres>,
}

impl Supervised {
    pub(super) fn new(server: PrivatePostgres) -> Self {
        let stop = CancellationToken::new();
        Self { task: tokio::spawn(supervise(server, stop.clone())), stop }
    }

    /// Stops the server.
    pub(super) async fn stop(self) -> Result<(), Failure> {
        self.stop.cancel();
        connect::stop(joined(self.task.await)).await
    }
}

async fn supervise(mut server: PrivatePostgres, stop: CancellationToken) -> PrivatePostgres {
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_starting = false;
    loop {
        tokio::select! {
            _ = checks.tick() => (),
            () = stop.cancelled() => return server,
        }
        // Starting a server runs other programs and waits for them.
        if let Err(error) = tokio::task::block_in_place(|| check(&mut server, &mut is_starting)) {
            tracing::error!(%error, "cannot start the private Postgres server: trying again");
        }
    }
}

/// Starts the server again if it has ended. `is_starting`: it has been started again and has not answered yet.
fn check(server: &mut PrivatePostgres, is_starting: &mut bool) -> Result<(), PrivateError> {
    if let Some(status) = server.ended()? {
        if *is_starting {
            tracing::warn!(%status, "the private Postgres server has not started: starting it again");
        } else {
            tracing::error!(%status, "the private Postgres server died: starting it again");
        }
        *is_starting = true;
        server.restart()?;
    } else if *is_starting && server.answers() {
        *is_starting = false;
        tracing::info!("the private Postgres server runs again");
    }
    Ok(())
}
