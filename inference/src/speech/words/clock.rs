//! The times of samples and of a model's output frames.

use crate::speech::features::RATE_HZ;

/// The relation between a model's output frames and times.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The number of samples from one output frame to the next.
    pub grid: usize,
    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    pub latency_s: f64,
}

impl Clock {
    /// The output frame in which a unit appears that is spoken at `sample`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the latency is below 1 s")]
    pub(crate) fn frame(self, sample: usize) -> usize {
        (sample + (self.latency_s * RATE_HZ) as usize) / self.grid
    }
}

/// Converts a number of samples into seconds.
pub(crate) fn seconds(samples: usize) -> f64 {
    f64::from(u32::try_from(samples).unwrap_or(u32::MAX)) / RATE_HZ
}
