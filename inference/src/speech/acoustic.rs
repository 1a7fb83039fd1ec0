//! Acoustic models of the NeMo CTC layout: windows' features come in, in batches; what each frame says
//! comes out.

use std::sync::Arc;

use super::{
    Clock, Decoder,
    config::Config,
    features::{Features, HOP, LogMel, batch},
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    runtime::{Session, Tensor},
};

/// A loaded acoustic model.
pub(crate) struct Acoustic {
    session: Session,
    decoder: Arc<Decoder>,
    config: Config,
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
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::NemoCtc)?;
        let config = Config::read(manifest)?;
        let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
        Ok(Self { session, decoder: Arc::new(Decoder::load(manifest)?), config })
    }

    /// What makes the features it takes.
    pub(crate) fn front_end(&self) -> LogMel {
        self.config.front_end()
    }

    /// What time its output frames are.
    pub(crate) fn clock(&self) -> Clock {
        Clock { grid: self.config.subsampling_factor * HOP, latency_s: self.decoder.latency_s() }
    }

    /// What reads text out of what it hears.
    pub(crate) fn decoder(&self) -> Arc<Decoder> {
        self.decoder.clone()
    }

    /// Hears windows of at least one frame each, together.
    pub(crate) fn hear(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        let batch = batch(windows);
        let inputs = vec![
            ("audio_signal", Tensor::F32(&batch.shape, &batch.signal)),
            ("length", Tensor::I64(&batch.shape[..1], &batch.lengths)),
        ];
        let [log_probs] = self.session.run(inputs, ["logprobs"])?;
        let &[b, t, v] = &log_probs.shape[..] else {
            return Err(self.session.layout_error(format!("gave logprobs {:?}", log_probs.shape)));
        };
        let (n, n_units) = (windows.len(), self.decoder.n_units());
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
