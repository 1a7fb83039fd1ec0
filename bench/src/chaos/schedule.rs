//! The faults and their times, drawn from the seed.

use std::{iter, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    KillWorker,
    StopWorker,
    KillApi,
    StopApi,
    KillPostgres,
    RestartPostgres,
    PausePostgres,
    DropListeners,
    ResetClients,
    ResetDatabase,
    FillDisk,
    MoveClock,
    ResetStore,
    StopStore,
}

/// A fault with its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    /// The pause since the end of the fault before.
    pub(super) after: Duration,
    pub(super) fault: Fault,
    /// How long the fault lasts, if it lasts.
    pub(super) lasts: Duration,
    /// Chooses the worker.
    pub(super) which: usize,
    /// By how much a clock jumps, seconds.
    pub(super) jump_s: i64,
}

impl Fault {
    const ALL: [Self; 14] = [
        Self::KillWorker,
        Self::StopWorker,
        Self::KillApi,
        Self::StopApi,
        Self::KillPostgres,
        Self::RestartPostgres,
        Self::PausePostgres,
        Self::DropListeners,
        Self::ResetClients,
        Self::ResetDatabase,
        Self::FillDisk,
        Self::MoveClock,
        Self::ResetStore,
        Self::StopStore,
    ];

    /// The name in the report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::KillWorker => "kill_worker",
            Self::StopWorker => "stop_worker",
            Self::KillApi => "kill_api",
            Self::StopApi => "stop_api",
            Self::KillPostgres => "kill_postgres",
            Self::RestartPostgres => "restart_postgres",
            Self::PausePostgres => "pause_postgres",
            Self::DropListeners => "drop_listeners",
            Self::ResetClients => "reset_clients",
            Self::ResetDatabase => "reset_database",
            Self::FillDisk => "fill_disk",
            Self::MoveClock => "move_clock",
            Self::ResetStore => "reset_store",
            Self::StopStore => "stop_store",
        }
    }

    /// The longest and the shortest time that it may last, ms.
    const fn lasts_ms(self) -> (u64, u64) {
        match self {
            Self::StopWorker => (500, 8_000), // a worker whose heartbeat is 3 s old counts as dead
            Self::StopApi | Self::PausePostgres => (200, 4_000),
            Self::FillDisk => (1_000, 5_000),
            Self::MoveClock => (2_000, 6_000),
            Self::ResetStore => (0, 8_000),
            Self::StopStore => (200, 8_000),
            Self::KillPostgres | Self::RestartPostgres => (0, 2_000),
            _ => (0, 1),
        }
    }
}

/// An endless schedule without the impossible faults. Every fault comes once before any comes again.
pub(super) fn draw(
    rng: &mut StdRng,
    impossible: &[(&'static str, String)],
) -> impl Iterator<Item = Planned> + use<> {
    let mut rng = StdRng::from_rng(rng);
    let possible = |fault: &Fault| impossible.iter().all(|(name, _)| *name != fault.name());
    let possible: Vec<Fault> = Fault::ALL.into_iter().filter(possible).collect();
    let mut round = Vec::new();
    iter::repeat_with(move || {
        if round.is_empty() {
            round.clone_from(&possible);
            round.shuffle(&mut rng);
        }
        let fault = round.pop().unwrap_or(Fault::KillWorker);
        let (from, to) = fault.lasts_ms();
        Planned {
            after: Duration::from_millis(rng.random_range(500..6_000)),
            fault,
            lasts: Duration::from_millis(rng.random_range(from..to)),
            which: rng.random_range(0..64),
            jump_s: [-86_400, -600, -5, 5, 600, 86_400][rng.random_range(0..6)],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, impossible: &[(&'static str, String)]) -> Vec<Planned> {
        draw(&mut StdRng::seed_from_u64(seed), impossible).take(24).collect()
    }

    #[test]
    fn a_seed_gives_the_same_faults_again() {
        assert_eq!(drawn(11, &[]), drawn(11, &[]));
        assert_ne!(drawn(11, &[]), drawn(12, &[]));
    }

    #[test]
    fn every_possible_fault_comes_once_a_round() {
        let planned = drawn(11, &[("fill_disk", "no".to_owned())]);
        for fault in Fault::ALL {
            let n = planned[..13].iter().filter(|p| p.fault == fault).count();
            assert_eq!(n, usize::from(fault != Fault::FillDisk), "{fault:?}");
        }
    }
}
