//! Emissions: the log-probabilities that an acoustic model gives for one window.

/// A window's output frames, each with the log-probabilities of the model's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Emissions {
    /// Row-major, a row for a frame.
    log_probs: Vec<f32>,
}

impl Emissions {
    /// Of log-probabilities, row-major, a row for a frame.
    pub(crate) const fn new(log_probs: Vec<f32>) -> Self {
        Self { log_probs }
    }

    /// Frames of `n_units` values.
    pub(crate) fn frames(&self, n_units: usize) -> impl Iterator<Item = &[f32]> {
        self.log_probs.chunks_exact(n_units.max(1))
    }
}
