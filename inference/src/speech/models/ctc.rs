//! CTC models: a front end, an encoder, and a decoder of the encoder's emissions.

use std::{collections::HashSet, sync::Arc};

use super::{SpeechModel, WindowInput, WindowOutput};
use crate::{
    runtime::RuntimeError,
    speech::{
        ctc::{CtcDecoder, Emissions},
        features::{Features, FrontEnd, HOP},
        words::Clock,
    },
};

/// The network of a CTC model.
pub(super) trait Encoder: Send {
    /// The log-probabilities of the units in each output frame of the windows. Each window must have at least one frame.
    fn emissions(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError>;
}

/// A loaded CTC model.
pub(super) struct CtcModel {
    front_end: Arc<dyn FrontEnd>,
    encoder: Box<dyn Encoder>,
    decoder: Arc<CtcDecoder>,
    /// The number of feature frames for one output frame.
    subsampling_factor: usize,
}

impl CtcModel {
    pub(super) fn new(
        front_end: impl FrontEnd + 'static,
        encoder: impl Encoder + 'static,
        decoder: CtcDecoder,
        subsampling_factor: usize,
    ) -> Self {
        Self {
            front_end: Arc::new(front_end),
            encoder: Box::new(encoder),
            decoder: Arc::new(decoder),
            subsampling_factor,
        }
    }

    /// The decoder of the model's emissions.
    pub(super) fn decoder(&self) -> &CtcDecoder {
        &self.decoder
    }

    /// Runs the model on windows, without decoding its emissions.
    pub(super) fn emissions(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        self.encoder.emissions(windows)
    }
}

impl SpeechModel for CtcModel {
    fn front_end(&self) -> Arc<dyn FrontEnd> {
        self.front_end.clone()
    }

    fn clock(&self) -> Clock {
        Clock { grid: self.subsampling_factor * HOP, latency_s: self.decoder.latency_s() }
    }

    fn alphabet(&self) -> HashSet<char> {
        self.decoder.alphabet()
    }

    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        _language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        let features: Vec<&Features> = windows.iter().map(|window| window.features).collect();
        let emissions = self.encoder.emissions(&features)?.into_iter();
        Ok(emissions.map(|emissions| WindowOutput::Emissions(emissions, self.decoder.clone())).collect())
    }
}
