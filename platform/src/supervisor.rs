//! Tells systemd, if it started this process, that it is ready, that it is alive and that it is stopping (units of
//! `Type=notify`, with or without `WatchdogSec=`).

use sd_notify::NotifyState;

use crate::shutdown::Shutdown;

/// Says that the process is ready. Until it is told to stop, the async runtime reports twice in the watchdog's time that it
/// is alive.
pub fn ready(shutdown: &Shutdown) {
    notify(NotifyState::Ready);
    let leaving = shutdown.leaving.clone();
    tokio::spawn(async move {
        let alive = async {
            let Some(limit) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
            let mut ticks = tokio::time::interval(limit / 2);
            loop {
                ticks.tick().await;
                notify(NotifyState::Watchdog);
            }
        };
        tokio::select! { () = alive => (), () = leaving.cancelled() => () }
        notify(NotifyState::Stopping);
    });
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot notify systemd");
    }
}
