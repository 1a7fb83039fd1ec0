//! The faults of each part of the service and their times, drawn from the seed.

use std::{fmt, iter, ops::Range, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Kill,
    Stop,
    CutDatabase,
    HoldDatabase,
    SilenceDatabase,
    DelayDatabase,
    CutClients,
    DelayClients,
    KillPostgres,
    RestartPostgres,
    PausePostgres,
    DropListeners,
    FillDisk,
    MoveDatabaseClock,
    MakeReadOnly,
    FailOver,
    RefuseStore,
    SilenceStore,
    MakeStoreHostile,
}

/// A part of the service that has faults of its own, beside those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Api,
    Worker,
    Postgres,
    Store,
}

/// A fault with its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    /// The pause since the end of the part's fault before.
    pub(super) after: Duration,
    pub(super) fault: Fault,
    /// Its name in the report.
    pub(super) name: &'static str,
    /// How long the fault lasts, if it lasts.
    pub(super) lasts: Duration,
    /// By how much bytes are late.
    pub(super) delay: Duration,
    /// By how much a clock jumps, seconds.
    pub(super) jump_s: i64,
}

impl Planned {
    /// Whether the process is killed, or silent for so long that it may count as dead.
    pub(super) fn is_deadly(&self) -> bool {
        match self.fault {
            Fault::Kill | Fault::SilenceDatabase => true,
            Fault::Stop | Fault::HoldDatabase => self.lasts > DEAD_AFTER,
            _ => false,
        }
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.fault {
            Fault::DelayDatabase | Fault::DelayClients => write!(f, " by {} ms", self.delay.as_millis()),
            Fault::MoveDatabaseClock => write!(f, " by {} s", self.jump_s),
            _ => Ok(()),
        }
    }
}

/// A worker whose heartbeat is 3 s old counts as dead, and it sends one each second.
const DEAD_AFTER: Duration = Duration::from_secs(2);

/// A fault, the parts that have it, its name in the report, and how long it may last, ms.
type Entry = (Fault, &'static [Part], &'static str, Range<u64>);

const FAULTS: [Entry; 20] = [
    (Fault::Kill, &[Part::Api, Part::Worker], "kill", 0..1),
    (Fault::Stop, &[Part::Api], "stop", 200..4_000),
    (Fault::Stop, &[Part::Worker], "stop", 500..8_000),
    (Fault::CutDatabase, &[Part::Api, Part::Worker], "cut_database", 0..1),
    (Fault::HoldDatabase, &[Part::Api, Part::Worker], "hold_database", 500..8_000),
    (Fault::SilenceDatabase, &[Part::Api, Part::Worker], "silence_database", 0..1),
    (Fault::DelayDatabase, &[Part::Api, Part::Worker], "delay_database", 2_000..8_000),
    (Fault::CutClients, &[Part::Api], "cut_clients", 0..1),
    (Fault::DelayClients, &[Part::Api], "delay_clients", 2_000..6_000),
    (Fault::KillPostgres, &[Part::Postgres], "kill", 0..2_000),
    (Fault::RestartPostgres, &[Part::Postgres], "restart", 0..2_000),
    (Fault::PausePostgres, &[Part::Postgres], "pause", 200..4_000),
    (Fault::DropListeners, &[Part::Postgres], "drop_listeners", 0..1),
    (Fault::FillDisk, &[Part::Postgres], "fill_disk", 1_000..5_000),
    (Fault::MoveDatabaseClock, &[Part::Postgres], "move_clock", 2_000..6_000),
    (Fault::MakeReadOnly, &[Part::Postgres], "read_only", 1_000..6_000),
    (Fault::FailOver, &[Part::Postgres], "fail_over", 0..2_000),
    (Fault::RefuseStore, &[Part::Store], "refuse", 0..8_000),
    (Fault::SilenceStore, &[Part::Store], "silence", 200..12_000),
    (Fault::MakeStoreHostile, &[Part::Store], "hostile", 2_000..8_000),
];

/// An endless schedule for a part, without the impossible faults. Every fault comes once before any comes again.
pub(super) fn draw(
    rng: &mut StdRng,
    part: Part,
    impossible: &[(Fault, String)],
) -> impl Iterator<Item = Planned> + use<> {
    let mut rng = StdRng::from_rng(rng);
    let possible = |fault: Fault| impossible.iter().all(|(other, _)| *other != fault);
    let possible: Vec<_> =
        FAULTS.into_iter().filter(|(fault, parts, ..)| parts.contains(&part) && possible(*fault)).collect();
    let mut round = Vec::new();
    iter::repeat_with(move || {
        if round.is_empty() {
            round.clone_from(&possible);
            round.shuffle(&mut rng);
        }
        let (fault, _, name, lasts_ms) = round.pop().expect("some fault is possible");
        Planned {
            after: Duration::from_millis(rng.random_range(500..12_000)),
            fault,
            name,
            lasts: Duration::from_millis(rng.random_range(lasts_ms)),
            delay: Duration::from_millis(rng.random_range(2..100)),
            jump_s: [-86_400, -600, -5, 5, 600, 86_400][rng.random_range(0..6)],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, part: Part, impossible: &[(Fault, String)]) -> Vec<Planned> {
        draw(&mut StdRng::seed_from_u64(seed), part, impossible).take(24).collect()
    }

    #[test]
    fn a_seed_gives_the_same_faults_again() {
        assert_eq!(drawn(11, Part::Api, &[]), drawn(11, Part::Api, &[]));
        assert_ne!(drawn(11, Part::Api, &[]), drawn(12, Part::Api, &[]));
    }

    #[test]
    fn every_possible_fault_of_a_part_comes_once_a_round() {
        for part in [Part::Api, Part::Worker, Part::Postgres, Part::Store] {
            let faults = FAULTS.iter().filter(|(_, parts, ..)| parts.contains(&part)).map(|entry| entry.0);
            let possible: Vec<Fault> = faults.filter(|fault| *fault != Fault::FillDisk).collect();
            let planned = drawn(11, part, &[(Fault::FillDisk, "no".to_owned())]);
            let (round, _) = planned.split_at(possible.len());
            for fault in possible {
                assert_eq!(round.iter().filter(|p| p.fault == fault).count(), 1, "{fault:?} of {part:?}");
            }
        }
    }
}
