//! Computes log-mel features of 16 kHz samples as NeMo does.
//!
//! The steps:
//! 1. pre-emphasis of 0.97;
//! 2. frames of 512 samples every 160 samples (10 ms), the first one centred on the first sample, with a
//!    symmetric Hann window of 400 samples;
//! 3. the power spectrum and the mel filters;
//! 4. the logarithm, and normalisation over the recording.

use super::{
    Features, FrontEnd, HOP, Steps,
    filters::{MelBands, hann},
    normalise::{GlobalCmvn, normalise},
};

const FFT: usize = 512;
const WINDOW: usize = 400;
const PRE_EMPHASIS: f32 = 0.97;
/// A constant that is added to an energy before the logarithm.
const FLOOR: f32 = 1.0 / 16_777_216.0; // 2^-24

/// NeMo's feature extraction.
#[derive(Clone)]
pub struct LogMel {
    bands: MelBands,
    hann: Vec<f32>,
    global_cmvn: Option<GlobalCmvn>,
}

impl LogMel {
    /// Feature extraction with `n_mels` mel bands. Models use 80 or 128.
    pub fn new(n_mels: usize) -> Self {
        Self { bands: MelBands::new(n_mels, FFT), hann: hann(WINDOW, WINDOW - 1), global_cmvn: None }
    }

    /// The same, for a model that also uses global statistics to normalise short recordings.
    pub(crate) fn with_global_cmvn(self, global_cmvn: Option<GlobalCmvn>) -> Self {
        Self { global_cmvn, ..self }
    }

    /// Writes the windowed samples around frame `t` into `frame`. Samples beyond the recording are 0.
    fn cut(&self, samples: &[f32], t: usize, frame: &mut [f32]) {
        frame.fill(0.0);
        let margin = (FFT - WINDOW) / 2;
        for (i, weight) in self.hann.iter().enumerate() {
            let at = (t * HOP + margin + i).checked_sub(FFT / 2);
            frame[margin + i] = at.and_then(|at| samples.get(at)).map_or(0.0, |s| s * weight);
        }
    }
}

impl FrontEnd for LogMel {
    fn features(&self, samples: &[f32]) -> Features {
        let mut features = self.log_energies(samples);
        self.normalise(&mut features);
        features
    }
}

impl Steps for LogMel {
    fn log_energies(&self, samples: &[f32]) -> Features {
        let n_frames = samples.len() / HOP;
        let emphasised = emphasise(samples);
        let cut = |t: usize, frame: &mut [f32]| self.cut(&emphasised, t, frame);
        let values = self.bands.energies(n_frames, cut, |energy| (energy + FLOOR).ln());
        Features { n_mels: self.bands.len(), n_frames, values }
    }

    fn normalise(&self, features: &mut Features) {
        normalise(&mut features.values, features.n_frames, self.global_cmvn.as_ref());
    }
}

fn emphasise(samples: &[f32]) -> Vec<f32> {
    let first = samples.first().copied();
    let rest = samples.windows(2).map(|w| w[1] - PRE_EMPHASIS * w[0]);
    first.into_iter().chain(rest).collect()
}
