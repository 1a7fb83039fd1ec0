//! What decoding a file may take. Everything that reads the file or takes a step through it is charged, so no file can keep a
//! thread for ever, whoever has written its parser.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use crate::decode::undecodable::Undecodable;

/// The bytes that may be read for each byte of the file. The most that a whole file needs is about half of that: packets of one
/// byte, of which each costs two steps.
const PER_BYTE: u64 = 256;
/// The bytes that may be read of any file, however short.
const OF_ANY_FILE: u64 = 4 << 20;
/// What a step costs, such as decoding a packet, in bytes read.
const STEP: u64 = 64;
/// After so many bytes, reading looks whether it may go on.
const LOOK_AFTER: u64 = 64 * 1024;

/// How often decoding a file of `n_bytes` bytes goes on at most, besides the silence between its packets.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn most_steps(n_bytes: usize) -> u64 {
    let most = n_bytes as u64 * PER_BYTE + OF_ANY_FILE;
    most / STEP + most / LOOK_AFTER
}

/// What the thread that decodes a file asks before it goes on.
pub(crate) trait Pace: Send + Sync {
    /// Called before each step, and while the file is read. May let others work first. An error ends decoding.
    fn go_on(&self) -> Result<(), Undecodable>;

    /// The file has so much sound, seconds.
    fn lasts(&self, _seconds: f64) {}
}

/// The pace of a thread that nothing interrupts.
pub(super) struct Unpaced;

impl Pace for Unpaced {
    fn go_on(&self) -> Result<(), Undecodable> {
        Ok(())
    }
}

/// Counts how often decoding goes on.
#[cfg(any(test, feature = "fuzzing"))]
#[derive(Default)]
pub(crate) struct Counted(AtomicU64);

#[cfg(any(test, feature = "fuzzing"))]
impl Counted {
    pub(crate) fn n_steps(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Pace for Counted {
    fn go_on(&self) -> Result<(), Undecodable> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// What is left to one file.
#[derive(Clone)]
pub(super) struct Allowance(Arc<OfFile>);

struct OfFile {
    max: u64,
    /// Only the thread that decodes the file changes it.
    spent: AtomicU64,
    looked_at: AtomicU64,
    /// Why decoding has ended early.
    end: OnceLock<Undecodable>,
    pace: Arc<dyn Pace>,
}

impl Allowance {
    /// The allowance of a file of `n_bytes` bytes.
    pub(super) fn new(n_bytes: usize, pace: Arc<dyn Pace>) -> Self {
        let max = (n_bytes as u64).saturating_mul(PER_BYTE).saturating_add(OF_ANY_FILE);
        let zero = AtomicU64::default;
        Self(Arc::new(OfFile { max, spent: zero(), looked_at: zero(), end: OnceLock::new(), pace }))
    }

    /// Charges reading `n` bytes, of which it counts one at least. Returns whether they may be read.
    pub(super) fn read(&self, n: usize) -> bool {
        let spent = self.charge(n.max(1) as u64);
        if spent - self.0.looked_at.load(Ordering::Relaxed) >= LOOK_AFTER {
            self.0.looked_at.store(spent, Ordering::Relaxed);
            self.look();
        }
        self.0.end.get().is_none()
    }

    /// Charges a step. Returns whether it may be taken.
    pub(super) fn step(&self) -> bool {
        self.charge(STEP);
        self.look()
    }

    /// Asks whether decoding may go on.
    pub(super) fn look(&self) -> bool {
        if self.0.end.get().is_none()
            && let Err(end) = self.0.pace.go_on()
        {
            let _ = self.0.end.set(end); // only this thread sets it
        }
        self.0.end.get().is_none()
    }

    /// Fails if decoding has ended early. What was decoded or found wrong since has no meaning then.
    pub(super) fn check(&self) -> Result<(), Undecodable> {
        self.0.end.get().map_or(Ok(()), |end| Err(end.clone()))
    }

    fn charge(&self, n: u64) -> u64 {
        let spent = self.0.spent.load(Ordering::Relaxed).saturating_add(n);
        self.0.spent.store(spent, Ordering::Relaxed);
        if spent > self.0.max {
            let detail =
                "the file is damaged: its parts refer to each other in such a way that it has no end";
            let _ = self.0.end.set(Undecodable::new("undecodable", detail)); // the first reason counts
        }
        spent
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// The allowance of a file that nothing interrupts.
    pub(in crate::decode::audio) fn unpaced(n_bytes: usize) -> Allowance {
        Allowance::new(n_bytes, Arc::new(Unpaced))
    }

    /// Lets decoding go on for so many times.
    #[derive(Default)]
    struct For(AtomicUsize);

    impl Pace for For {
        fn go_on(&self) -> Result<(), Undecodable> {
            let is_left =
                self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
            if is_left { Ok(()) } else { Err(Undecodable::new("test", "as the test wants")) }
        }
    }

    #[test]
    fn who_reads_or_steps_for_ever_comes_to_an_end() {
        for n_bytes in [0, 10_000] {
            let most = n_bytes * PER_BYTE + OF_ANY_FILE;
            let n_bytes = usize::try_from(n_bytes).unwrap();
            let allowance = unpaced(n_bytes);
            let n_reads = (0..=most).take_while(|_| allowance.read(0)).count();
            assert_eq!(n_reads as u64, most, "reading nothing is reading too");
            assert!(!allowance.step() && allowance.check().is_err());
            let allowance = unpaced(n_bytes);
            assert_eq!((0..=most).take_while(|_| allowance.step()).count() as u64, most / STEP);
        }
    }

    #[test]
    fn reading_ends_soon_after_it_may_not_go_on() {
        let allowance = Allowance::new(1_000_000, Arc::new(For(AtomicUsize::new(3))));
        let n_reads = (0..1_000_000).take_while(|_| allowance.read(16)).count() as u64;
        assert_eq!(n_reads, 4 * LOOK_AFTER / 16 - 1);
        assert_eq!(allowance.check().unwrap_err().code, "test");
    }
}
