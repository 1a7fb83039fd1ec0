//! Recognisers: windows' features come in, in batches; what each says comes out, whatever the layout.

use std::sync::Arc;

use super::{
    Clock, Decoder, Emissions, Reading,
    acoustic::Acoustic,
    features::{Features, HOP, LogMel},
    transducer::Transducer,
    whisper::{self, Whisper, WhisperMel},
};
use crate::{Layout, LoadError, Manifest, Runtime, RuntimeError};

/// A loaded model that hears speech.
pub struct Recogniser {
    network: Network,
}

enum Network {
    Ctc(Acoustic),
    Transducer(Transducer),
    Whisper(Box<Whisper>),
}

/// What makes a model's features.
#[derive(Clone)]
pub struct FrontEnd(Mel);

#[derive(Clone)]
enum Mel {
    Nemo(LogMel),
    Whisper(WhisperMel),
}

impl FrontEnd {
    /// Features of one window.
    pub fn features(&self, samples: &[f32]) -> Features {
        match &self.0 {
            Mel::Nemo(mel) => mel.features(samples),
            Mel::Whisper(mel) => mel.features(samples),
        }
    }
}

/// What a model made of a window.
pub enum Heard {
    /// Probabilities, yet to be read.
    Emissions(Emissions, Arc<Decoder>),
    /// Text.
    Said(Reading),
}

impl Heard {
    /// What it says.
    pub fn read(self) -> Reading {
        match self {
            Self::Emissions(emissions, decoder) => decoder.decode(&emissions),
            Self::Said(reading) => reading,
        }
    }
}

impl Recogniser {
    /// Loads the model and runs it once, so that the first caller does not pay for set-up.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let network = match manifest.layout {
            Layout::NemoCtc => Network::Ctc(Acoustic::load(runtime, manifest, n_threads)?),
            Layout::NemoTdt | Layout::NemoRnnt => {
                Network::Transducer(Transducer::load(runtime, manifest, n_threads)?)
            }
            Layout::Whisper => Network::Whisper(Box::new(Whisper::load(runtime, manifest, n_threads)?)),
            _ => return Err(manifest.unfit().into()),
        };
        let mut recogniser = Self { network };
        let silence = recogniser.front_end().features(&vec![0.0; super::SAMPLE_RATE]);
        if let Some(language) = manifest.languages.keys().next().or(manifest.language.as_ref()) {
            recogniser.hear(&[&silence], language)?;
        }
        Ok(recogniser)
    }

    /// What makes the features it takes.
    pub fn front_end(&self) -> FrontEnd {
        FrontEnd(match &self.network {
            Network::Ctc(acoustic) => Mel::Nemo(acoustic.front_end()),
            Network::Transducer(transducer) => Mel::Nemo(transducer.config().front_end()),
            Network::Whisper(whisper) => Mel::Whisper(WhisperMel::new(whisper.n_mels())),
        })
    }

    /// What time its output frames are.
    pub fn clock(&self) -> Clock {
        match &self.network {
            Network::Ctc(acoustic) => acoustic.clock(),
            Network::Transducer(transducer) => {
                Clock { grid: transducer.config().subsampling_factor * HOP, latency_s: 0.0 }
            }
            Network::Whisper(_) => Clock { grid: whisper::GRID, latency_s: 0.0 },
        }
    }

    /// Hears windows of at least one frame each, together; in a language by its code, for models that know
    /// several.
    pub fn hear(&mut self, windows: &[&Features], language: &str) -> Result<Vec<Heard>, RuntimeError> {
        Ok(match &mut self.network {
            Network::Ctc(acoustic) => {
                let decoder = acoustic.decoder();
                let heard = acoustic.hear(windows)?.into_iter();
                heard.map(|emissions| Heard::Emissions(emissions, decoder.clone())).collect()
            }
            Network::Transducer(transducer) => {
                transducer.read(windows)?.into_iter().map(Heard::Said).collect()
            }
            Network::Whisper(whisper) => {
                let readings = windows.iter().map(|window| whisper.read(window, language));
                readings.map(|reading| Ok(Heard::Said(reading?))).collect::<Result<_, RuntimeError>>()?
            }
        })
    }
}
