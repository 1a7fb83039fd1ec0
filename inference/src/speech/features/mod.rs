//! What speech models take: samples at 16 kHz come in; the features of a window go out.

mod filters;
#[cfg(test)]
pub(super) mod golden_tests;
mod log_mel;
mod normalise;
mod stream;
mod waveform;
mod whisper_mel;

use crate::cast::dimension;

pub use log_mel::LogMel;
pub(crate) use normalise::GlobalCmvn;
pub use stream::stream;
pub(crate) use waveform::Waveform;
pub use whisper_mel::WhisperMel;

/// The sampling rate that all models expect, Hz.
pub const SAMPLE_RATE: usize = 16_000;
/// The same as a floating-point number.
pub(crate) const RATE_HZ: f64 = 16_000.0;
/// The number of samples from one frame of log-mel features to the next (10 ms).
pub const HOP: usize = 160;

/// The feature extraction of a model.
pub trait FrontEnd: Send + Sync {
    /// The features of a recording, or of one window of it. `samples` are at 16 kHz, with a full scale of 1.
    fn features(&self, samples: &[f32]) -> Features;
}

/// The steps of a front end with log-mels, which training takes one by one.
trait Steps {
    /// The logarithms of the bands' energies, in the base of the front end.
    fn log_energies(&self, samples: &[f32]) -> Features;
    /// Turns such logarithms into what a network takes.
    fn normalise(&self, features: &mut Features);
}

/// The features of a recording: `n_mels` rows of `n_frames` values.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The number of mel bands.
    pub n_mels: usize,
    /// The number of frames. Of log-mel features it is the number of samples, divided by [`HOP`].
    pub n_frames: usize,
    /// The values in row-major order, one row for each mel band.
    pub values: Vec<f32>,
}

impl Features {
    /// The same features with `n` frames of the value `silence` before and behind them.
    pub(crate) fn padded(&self, n: usize, silence: f32) -> Self {
        let n_frames = self.n_frames + 2 * n;
        let mut values = vec![silence; self.n_mels * n_frames];
        let rows = self.values.chunks_exact(self.n_frames.max(1));
        for (row, place) in rows.zip(values.chunks_exact_mut(n_frames.max(1))) {
            place[n..n + row.len()].copy_from_slice(row);
        }
        Self { n_mels: self.n_mels, n_frames, values }
    }
}

/// The features of several windows, each padded with zeros to the length of the longest.
pub(crate) struct Batch {
    /// The numbers of windows, mel bands and frames.
    pub(crate) shape: [i64; 3],
    /// The values in row-major order.
    pub(crate) signal: Vec<f32>,
    /// The number of frames of each window, without padding.
    pub(crate) lengths: Vec<i64>,
}

impl Batch {
    /// A batch of windows that have the same number of mel bands.
    pub(crate) fn of(windows: &[&Features]) -> Self {
        let n_mels = windows.first().map_or(0, |w| w.n_mels);
        let n_frames = windows.iter().map(|w| w.n_frames).max().unwrap_or(0);
        let mut signal = vec![0.0; windows.len() * n_mels * n_frames];
        for (window, block) in windows.iter().zip(signal.chunks_exact_mut((n_mels * n_frames).max(1))) {
            let rows = window.values.chunks_exact(window.n_frames.max(1));
            for (row, place) in rows.zip(block.chunks_exact_mut(n_frames)) {
                place[..window.n_frames].copy_from_slice(row);
            }
        }
        let lengths = windows.iter().map(|w| dimension(w.n_frames)).collect();
        Self { shape: [windows.len(), n_mels, n_frames].map(dimension), signal, lengths }
    }
}
