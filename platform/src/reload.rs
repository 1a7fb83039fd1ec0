//! Lets a running process take over changed limits: SIGHUP makes it read its configuration file again.

use std::{fs::File, io, sync::Arc};

use rustix::process::{Signal, getpid, kill_process};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::{
    config::{Config, changes::Changes},
    telemetry,
};

/// The configuration of this process as it is now. A clone follows the same changes.
#[derive(Debug, Clone)]
pub struct LiveConfig(watch::Receiver<Arc<Config>>);

impl LiveConfig {
    /// A configuration that never changes.
    pub fn fixed(config: Config) -> Self {
        Self(watch::channel(Arc::new(config)).1)
    }

    /// The configuration of a process that reads its file again at SIGHUP. The setting of an environment variable stays
    /// as it was at the start, because it takes precedence over the file.
    ///
    /// A process whose terminal is closed gets the same signal. It stops, as if it had got SIGTERM.
    pub fn follow_signals(config: Config) -> io::Result<Self> {
        let mut hangups = signal(SignalKind::hangup())?;
        let had_terminal = has_terminal();
        let (sender, live) = watch::channel(Arc::new(config));
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                if had_terminal && !has_terminal() {
                    tracing::info!("the terminal was closed: stopping");
                    // A process may signal itself.
                    let _ = kill_process(getpid(), Signal::TERM);
                    return;
                }
                reload(&sender);
            }
        });
        Ok(Self(live))
    }

    /// The configuration now.
    pub fn now(&self) -> Arc<Config> {
        self.0.borrow().clone()
    }

    /// Waits until the configuration changes. Never returns if it cannot change any more.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Reads the configuration, and takes over the settings that a running process can change. The log names them, and those
/// that need a restart. A configuration that cannot be used changes nothing.
fn reload(live: &watch::Sender<Arc<Config>>) {
    let read = match Config::load() {
        Ok(read) => read,
        Err(error) => {
            return tracing::error!(
                "the configuration was not read again, and all settings stay as they are: {error}"
            );
        }
    };
    let current = live.borrow().clone();
    let changes = Changes::between(&current, &read);
    if !changes.need_restart.is_empty() {
        let settings = changes.need_restart.join(", ");
        tracing::warn!(
            "these changed settings need a restart of this process, and stay as they are: {settings}"
        );
    }
    if current.log_filter != read.log_filter
        && let Err(error) = telemetry::set_filter(read.log_filter.as_deref())
    {
        tracing::warn!("the log filter stays as it is: {error}");
    }
    match changes.taken_over.as_slice() {
        [] => tracing::info!("the configuration was read again: no limit has changed"),
        limits => tracing::info!("the configuration was read again: {}", limits.join(", ")),
    }
    live.send_replace(Arc::new(changes.config));
}

/// Whether this process has a controlling terminal that is open.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}
