//! The faults and their times, drawn from the seed.

use std::{iter, ops::Range, time::Duration};

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
    MoveDatabaseClock,
    ResetStore,
    StopStore,
}

/// A fault with its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    /// The pause since the end of the fault before.
    pub(super) after: Duration,
    pub(super) fault: Fault,
    /// Its name in the report.
    pub(super) name: &'static str,
    /// How long the fault lasts, if it lasts.
    pub(super) lasts: Duration,
    /// Chooses the worker.
    pub(super) which: usize,
    /// By how much a clock jumps, seconds.
    pub(super) jump_s: i64,
}

/// Each fault with its name in the report, and how long it may last, ms.
const FAULTS: [(Fault, &str, Range<u64>); 15] = [
    (Fault::KillWorker, "kill_worker", 0..1),
    (Fault::StopWorker, "stop_worker", 500..8_000), // a worker whose heartbeat is 3 s old counts as dead
    (Fault::KillApi, "kill_api", 0..1),
    (Fault::StopApi, "stop_api", 200..4_000),
    (Fault::KillPostgres, "kill_postgres", 0..2_000),
    (Fault::RestartPostgres, "restart_postgres", 0..2_000),
    (Fault::PausePostgres, "pause_postgres", 200..4_000),
    (Fault::DropListeners, "drop_listeners", 0..1),
    (Fault::ResetClients, "reset_clients", 0..1),
    (Fault::ResetDatabase, "reset_database", 0..1),
    (Fault::FillDisk, "fill_disk", 1_000..5_000),
    (Fault::MoveClock, "move_clock", 2_000..6_000),
    (Fault::MoveDatabaseClock, "move_database_clock", 2_000..6_000),
    (Fault::ResetStore, "reset_store", 0..8_000),
    (Fault::StopStore, "stop_store", 200..8_000),
];

/// An endless schedule without the impossible faults. Every fault comes once before any comes again.
pub(super) fn draw(
    rng: &mut StdRng,
    impossible: &[(Fault, String)],
) -> impl Iterator<Item = Planned> + use<> {
    let mut rng = StdRng::from_rng(rng);
    let possible = |fault: Fault| impossible.iter().all(|(other, _)| *other != fault);
    let possible: Vec<_> = FAULTS.into_iter().filter(|(fault, ..)| possible(*fault)).collect();
    let mut round = Vec::new();
    iter::repeat_with(move || {
        if round.is_empty() {
            round.clone_from(&possible);
            round.shuffle(&mut rng);
        }
        let (fault, name, lasts_ms) = round.pop().expect("some fault is possible");
        Planned {
            after: Duration::from_millis(rng.random_range(500..6_000)),
            fault,
            name,
            lasts: Duration::from_millis(rng.random_range(lasts_ms)),
            which: rng.random_range(0..64),
            jump_s: [-86_400, -600, -5, 5, 600, 86_400][rng.random_range(0..6)],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, impossible: &[(Fault, String)]) -> Vec<Planned> {
        draw(&mut StdRng::seed_from_u64(seed), impossible).take(24).collect()
    }

    #[test]
    fn a_seed_gives_the_same_faults_again() {
        assert_eq!(drawn(11, &[]), drawn(11, &[]));
        assert_ne!(drawn(11, &[]), drawn(12, &[]));
    }

    #[test]
    fn every_possible_fault_comes_once_a_round() {
        let planned = drawn(11, &[(Fault::FillDisk, "no".to_owned())]);
        for (fault, ..) in FAULTS {
            let n = planned[..14].iter().filter(|p| p.fault == fault).count();
            assert_eq!(n, usize::from(fault != Fault::FillDisk), "{fault:?}");
        }
    }
}
