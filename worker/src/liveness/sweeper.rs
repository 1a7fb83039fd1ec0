//! The worker's own clockwork: it says it is alive, frees what dead workers held, and forgets old jobs.

use std::time::Duration;

use akhar_jobs::store::{self, Lost, Swept};
use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Between two heartbeats, and between two looks for orphans.
const BEAT: Duration = Duration::from_secs(1);

/// A worker silent for this long is dead: three beats.
pub(crate) const SILENCE: Duration = Duration::from_secs(3);

/// A longer pause between two of our own beats, and others' may be late as well.
const MAX_GAP: Duration = Duration::from_secs(2);

/// What a job may take beyond its attempt's time before it counts as lost by its worker.
const GRACE: Duration = Duration::from_secs(60);

/// Sweeps for orphans between two rounds of the rarer work: old jobs, lost tickets.
const TIDY_EVERY: u32 = 60;

/// How well our own beats come through. When they do not, nobody's may, and the silence of others means
/// nothing until they had the time to be heard again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    last_beat: Instant,
    /// When it was last regained; none while it was never lost.
    regained: Option<Instant>,
}

impl Contact {
    /// Just made.
    pub(crate) fn new() -> Self {
        Self { last_beat: Instant::now(), regained: None }
    }

    fn beat(&mut self) {
        let now = Instant::now();
        if now - self.last_beat > MAX_GAP {
            self.regained = Some(now);
        }
        self.last_beat = now;
    }

    /// Whether a worker that is silent now is dead.
    fn is_steady(&self) -> bool {
        self.last_beat.elapsed() <= MAX_GAP && self.regained.is_none_or(|at| at.elapsed() > SILENCE)
    }
}

/// Once a [`BEAT`]; what was missed is not made up for.
fn beats() -> Interval {
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats
}

/// Says that `worker` is alive until told to stop, and never in the middle of a beat: one still on its way
/// could arrive after the worker has signed off. A database that is away is tried again at the next beat.
pub(crate) async fn heartbeat(
    database: Database,
    worker: String,
    contact: watch::Sender<Contact>,
    stop: CancellationToken,
) {
    let mut ticks = beats();
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = stop.cancelled() => return,
        }
        match store::beat(&database.volatile, &worker).await {
            Ok(()) => contact.send_modify(Contact::beat),
            Err(error) => tracing::warn!(%error, "heartbeat failed"),
        }
    }
}

/// Sweeps until told to stop.
pub(crate) async fn sweep(
    database: Database,
    config: Config,
    contact: watch::Receiver<Contact>,
    shutdown: Shutdown,
) {
    let after = |timeout_s| Duration::from_secs(timeout_s) + GRACE;
    let lost = Lost {
        silence: SILENCE,
        quick: after(config.quick_timeout_s),
        speech: after(config.speech_timeout_s),
    };
    let mut ticks = beats();
    let mut n_sweeps = 0_u32;
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = shutdown.soft.cancelled() => return,
        }
        if !contact.borrow().is_steady() {
            continue;
        }
        match store::rescue(&database.durable, lost).await {
            Ok(swept) if swept != Swept::default() => {
                tracing::warn!(swept.n_rescued, swept.n_given_up, "freed the jobs of dead workers");
            }
            Ok(_) => (),
            Err(error) => tracing::warn!(%error, "sweep failed"),
        }
        if n_sweeps.is_multiple_of(TIDY_EVERY) {
            tidy(&database, config.retention_s).await;
        }
        n_sweeps = n_sweeps.wrapping_add(1);
    }
}

async fn tidy(database: &Database, retention_s: u64) {
    match store::reissue(&database.durable, GRACE).await {
        Ok(0) => (),
        Ok(n) => tracing::warn!(n, "gave new tickets to jobs that had lost theirs"),
        Err(error) => tracing::warn!(%error, "could not look for lost tickets"),
    }
    match store::expire(&database.durable, Duration::from_secs(retention_s)).await {
        Ok(0) => (),
        Ok(n) => tracing::info!(n, "forgot jobs past their retention"),
        Err(error) => tracing::warn!(%error, "could not forget old jobs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn contact_once_lost_is_steady_again_when_others_could_be_heard() {
        let mut contact = Contact::new();
        assert!(contact.is_steady(), "at the start: there is nothing to doubt yet");
        tokio::time::advance(BEAT).await;
        contact.beat();
        assert!(contact.is_steady());
        tokio::time::advance(MAX_GAP + BEAT).await;
        assert!(!contact.is_steady(), "silent ourselves");
        contact.beat();
        for _ in 0..SILENCE.as_secs() {
            assert!(!contact.is_steady(), "just back");
            tokio::time::advance(BEAT).await;
            contact.beat();
        }
        tokio::time::advance(BEAT).await;
        assert!(contact.is_steady());
    }
}
