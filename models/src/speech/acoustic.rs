//! Acoustic models of the NeMo CTC layout: windows' features come in, in batches; what each frame says
//! comes out.

use std::sync::Arc;

use serde::Deserialize;

use super::{
    Clock, Decoder,
    features::{Features, HOP, LogMel},
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    ort::{Session, Tensor},
};

/// A loaded acoustic model.
pub struct Acoustic {
    session: Session,
    decoder: Arc<Decoder>,
    config: Config,
}

/// The part of an export's `config.json` that is needed to run it.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Config {
    features_size: usize,
    subsampling_factor: usize,
}

/// What a model hears in a window: each output frame's log-probabilities of its units.
#[derive(Debug, Clone, PartialEq)]
pub struct Emissions {
    /// Row-major, a row for a frame.
    log_probs: Vec<f32>,
}

impl Emissions {
    /// Frames of `n_units` values.
    pub(crate) fn frames(&self, n_units: usize) -> impl Iterator<Item = &[f32]> {
        self.log_probs.chunks_exact(n_units.max(1))
    }
}

impl Acoustic {
    /// Loads the model and runs it once, so that the first caller does not pay for set-up.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::NemoCtc)?;
        let config = manifest.read("config")?;
        let config: Config =
            serde_json::from_slice(&config).map_err(|e| manifest.inconsistent(format!("its config: {e}")))?;
        if !(1..=256).contains(&config.features_size) || !(1..=64).contains(&config.subsampling_factor) {
            return Err(manifest.inconsistent(format!("its config: {config:?}")).into());
        }
        let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
        let mut model = Self { session, decoder: Arc::new(Decoder::load(manifest)?), config };
        let silence = model.front_end().features(&vec![0.0; super::SAMPLE_RATE]);
        model.hear(&[&silence])?;
        Ok(model)
    }

    /// What makes the features it takes.
    pub fn front_end(&self) -> LogMel {
        LogMel::new(self.config.features_size)
    }

    /// What time its output frames are.
    pub fn clock(&self) -> Clock {
        Clock { grid: self.config.subsampling_factor * HOP, latency_s: self.decoder.latency_s() }
    }

    /// What reads text out of what it hears.
    pub fn decoder(&self) -> Arc<Decoder> {
        self.decoder.clone()
    }

    /// Hears windows of at least one frame each, together.
    pub fn hear(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        let dimension = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let (n, n_mels) = (windows.len(), self.config.features_size);
        let n_frames = windows.iter().map(|w| w.n_frames).max().unwrap_or(0);
        let mut signal = vec![0.0; n * n_mels * n_frames];
        for (window, block) in windows.iter().zip(signal.chunks_exact_mut((n_mels * n_frames).max(1))) {
            let rows = window.values.chunks_exact(window.n_frames.max(1));
            for (row, place) in rows.zip(block.chunks_exact_mut(n_frames)) {
                place[..window.n_frames].copy_from_slice(row);
            }
        }
        let lengths: Vec<i64> = windows.iter().map(|w| dimension(w.n_frames)).collect();
        let (shape, batch) = ([dimension(n), dimension(n_mels), dimension(n_frames)], [dimension(n)]);
        let inputs =
            vec![("audio_signal", Tensor::F32(&shape, &signal)), ("length", Tensor::I64(&batch, &lengths))];
        let [log_probs] = self.session.run(inputs, ["logprobs"])?;
        let &[b, t, v] = &log_probs.shape[..] else {
            return Err(self.session.layout_error(format!("gave logprobs {:?}", log_probs.shape)));
        };
        let n_units = self.decoder.n_units();
        if b != n || v != n_units {
            let what = format!("gave logprobs {:?} for {n} windows and {n_units} units", log_probs.shape);
            return Err(self.session.layout_error(what));
        }
        let blocks = log_probs.values.chunks_exact((t * v).max(1));
        let hear = |(block, window): (&[f32], &&Features)| {
            let valid = (window.n_frames.saturating_sub(1) / self.config.subsampling_factor + 1).min(t);
            Emissions { log_probs: block[..valid * v].to_vec() }
        };
        Ok(blocks.zip(windows).map(hear).collect())
    }
}
