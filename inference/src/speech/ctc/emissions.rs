//! The emissions of an acoustic model for one window.

/// The log-probabilities (natural logarithms) of the model's units in each output frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Emissions {
    /// One row for each frame, in row-major order.
    log_probs: Vec<f32>,
}

impl Emissions {
    /// Makes emissions of log-probabilities in row-major order, with one row for each frame.
    pub(crate) const fn new(log_probs: Vec<f32>) -> Self {
        Self { log_probs }
    }

    /// The frames, each with `n_units` values.
    pub(crate) fn frames(&self, n_units: usize) -> impl Iterator<Item = &[f32]> {
        self.log_probs.chunks_exact(n_units.max(1))
    }
}
