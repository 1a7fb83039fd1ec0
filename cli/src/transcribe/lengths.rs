//! How much audio a run has, and how much of it is transcribed: lengths of recordings and of their finished parts come in,
//! sums go out.

use std::time::Duration;

use parking_lot::Mutex;

/// The lengths of all recordings of a run.
#[derive(Debug)]
pub(super) struct Lengths(Mutex<Vec<Length>>);

#[derive(Debug, Clone, Copy)]
struct Length {
    n_bytes: u64,
    /// `None` until the recording was opened, seconds.
    total_s: Option<f64>,
    /// What is transcribed of it, seconds.
    done_s: f64,
}

/// Sums over all recordings, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Audio {
    pub(super) done_s: f64,
    /// An estimate while some recordings were not opened. `None` until the first one was.
    pub(super) total_s: Option<f64>,
}

impl Lengths {
    /// The sizes of the recordings, in order.
    pub(super) fn new(n_bytes: impl IntoIterator<Item = u64>) -> Self {
        let length = |n_bytes| Length { n_bytes, total_s: None, done_s: 0.0 };
        Self(Mutex::new(n_bytes.into_iter().map(length).collect()))
    }

    /// The recording was opened and has this length.
    pub(super) fn opened(&self, nth: usize, total_s: f64) {
        self.change(nth, |length| length.total_s = Some(total_s));
    }

    /// So much more of the recording is transcribed. Negative if an attempt was in vain.
    pub(super) fn further(&self, nth: usize, by_s: f64) {
        self.change(nth, |length| length.done_s += by_s);
    }

    /// The recording has ended, and this run has transcribed so much of it.
    pub(super) fn ended(&self, nth: usize, done_s: f64) {
        self.change(nth, |length| *length = Length { total_s: Some(done_s), done_s, ..*length });
    }

    /// The sums. A recording that was not opened counts as long as its size makes likely.
    pub(super) fn sum(&self) -> Audio {
        let lengths = self.0.lock();
        let opened = || lengths.iter().filter_map(|length| Some((length.n_bytes, length.total_s?)));
        // Recordings that an earlier run has transcribed, and failed ones, say nothing about others.
        let known = || opened().filter(|(_, total_s)| *total_s > 0.0);
        let s_per_byte = known().map(|(_, s)| s).sum::<f64>() / float(known().map(|(n, _)| n).sum());
        let unopened = lengths.iter().filter(|length| length.total_s.is_none()).map(|length| length.n_bytes);
        let n_unopened: u64 = unopened.sum();
        let likely_s =
            if n_unopened == 0 { Some(0.0) } else { known().next().map(|_| float(n_unopened) * s_per_byte) };
        let total_s = likely_s.map(|likely_s| likely_s + opened().map(|(_, s)| s).sum::<f64>());
        Audio { done_s: lengths.iter().map(|length| length.done_s).sum(), total_s }
    }

    fn change(&self, nth: usize, change: impl FnOnce(&mut Length)) {
        self.0.lock().get_mut(nth).map(change);
    }
}

impl Audio {
    /// The share of `whole` that is done, 0 while that is unknown.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share is from 0 to `whole`"
    )]
    pub(super) fn share_of(&self, whole: u64) -> u64 {
        let share =
            self.total_s.filter(|total_s| *total_s > 0.0).map_or(0.0, |total_s| self.done_s / total_s);
        (share.clamp(0.0, 1.0) * float(whole)) as u64
    }

    /// The time until all is transcribed, at the mean speed so far. `None` while that is unknown.
    pub(super) fn left(&self, elapsed: Duration) -> Option<Duration> {
        let left_s = (self.total_s? - self.done_s).max(0.0);
        (self.done_s > 0.0).then(|| elapsed.mul_f64((left_s / self.done_s).min(1e6)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
const fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_recording_shows_how_much_of_it_is_done() {
        let lengths = Lengths::new([1000]);
        let minute = Duration::from_secs(60);
        assert_eq!(lengths.sum(), Audio { done_s: 0.0, total_s: None });
        assert_eq!(lengths.sum().left(minute), None);
        lengths.opened(0, 600.0);
        assert_eq!(lengths.sum().left(minute), None, "the speed is unknown");
        lengths.further(0, 100.0);
        lengths.further(0, 50.0);
        assert_eq!(lengths.sum(), Audio { done_s: 150.0, total_s: Some(600.0) });
        assert_eq!(lengths.sum().left(minute), Some(Duration::from_secs(180)));
    }

    #[test]
    fn a_recording_that_was_not_opened_counts_by_its_size() {
        let lengths = Lengths::new([1000, 3000, 500, 500]);
        lengths.opened(0, 10.0);
        assert_eq!(lengths.sum().total_s, Some(50.0));
        lengths.ended(2, 0.0);
        assert_eq!(lengths.sum().total_s, Some(45.0), "it is not transcribed in this run");
        lengths.further(0, 8.0);
        lengths.further(0, -8.0);
        lengths.ended(0, 12.0);
        assert_eq!(lengths.sum(), Audio { done_s: 12.0, total_s: Some(54.0) });
    }
}
