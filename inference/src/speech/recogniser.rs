//! Runs speech recognition models of any layout: from batches of windows' features to the windows'
//! transcripts.

use std::sync::Arc;

use super::{
    acoustic::Acoustic,
    decoder::CtcDecoder,
    emissions::Emissions,
    features::{Features, FrontEnd, HOP, SAMPLE_RATE, WhisperMel},
    moonshine::{Moonshine, Samples},
    transcript::Transcript,
    transducer::Transducer,
    whisper::{self, Whisper},
    whisper_ctc::WhisperCtc,
    words::Clock,
};
use crate::{Layout, LoadError, Manifest, Runtime, RuntimeError, generation::Confidence};

/// A loaded speech recognition model.
pub struct Recogniser {
    network: Network,
    confidence: Option<Confidence>,
}

enum Network {
    Ctc(Acoustic),
    WhisperCtc(WhisperCtc),
    Transducer(Transducer),
    Whisper(Box<Whisper>),
    Moonshine(Box<Moonshine>),
}

/// The output of a model for one window.
pub enum WindowOutput {
    /// CTC emissions and the decoder that turns them into a transcript.
    Emissions(Emissions, Arc<CtcDecoder>),
    /// The transcript, from a model that decodes its output itself.
    Transcript(Transcript),
}

impl WindowOutput {
    /// The window's transcript. CTC beam search happens in this call.
    pub fn decode(self) -> Transcript {
        match self {
            Self::Emissions(emissions, decoder) => decoder.decode(&emissions),
            Self::Transcript(transcript) => transcript,
        }
    }
}

impl Recogniser {
    /// Loads the model and runs it once, so that the first request is not slowed down by set-up. `n_threads`
    /// is the number of threads that one run may use.
    ///
    /// # Errors
    ///
    /// When the layout is not one for speech, a file is missing, invalid or has another hash, or the model
    /// cannot be run.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        if let Some(fault) = manifest.confidence.and_then(|confidence| confidence.fault()) {
            return Err(manifest.inconsistent(fault).into());
        }
        let network = match manifest.layout {
            Layout::NemoCtc => Network::Ctc(Acoustic::load(runtime, manifest, n_threads)?),
            Layout::WhisperCtc => Network::WhisperCtc(WhisperCtc::load(runtime, manifest, n_threads)?),
            Layout::NemoTdt | Layout::NemoRnnt => {
                Network::Transducer(Transducer::load(runtime, manifest, n_threads)?)
            }
            Layout::Whisper => Network::Whisper(Box::new(Whisper::load(runtime, manifest, n_threads)?)),
            Layout::Moonshine => Network::Moonshine(Box::new(Moonshine::load(runtime, manifest, n_threads)?)),
            _ => return Err(manifest.unfit().into()),
        };
        let mut recogniser = Self { network, confidence: manifest.confidence };
        let silence = recogniser.front_end().features(&vec![0.0; SAMPLE_RATE]);
        if let Some(language) = manifest.languages.keys().next().or(manifest.language.as_ref()) {
            recogniser.infer(&[&silence], language)?;
        }
        Ok(recogniser)
    }

    /// The feature extraction that the model expects.
    pub fn front_end(&self) -> Arc<dyn FrontEnd> {
        match &self.network {
            Network::Ctc(acoustic) => Arc::new(acoustic.front_end()),
            Network::WhisperCtc(model) => Arc::new(model.front_end()),
            Network::Transducer(transducer) => Arc::new(transducer.config().front_end()),
            Network::Whisper(whisper) => Arc::new(WhisperMel::new(whisper.n_mels())),
            Network::Moonshine(_) => Arc::new(Samples),
        }
    }

    /// How likely the model's transcripts are right, if its manifest says so.
    pub const fn confidence(&self) -> Option<Confidence> {
        self.confidence
    }

    /// The times of the model's output frames.
    pub fn clock(&self) -> Clock {
        match &self.network {
            Network::Ctc(acoustic) => acoustic.clock(),
            Network::WhisperCtc(model) => model.clock(),
            Network::Transducer(transducer) => {
                Clock { grid: transducer.config().subsampling_factor * HOP, latency_s: 0.0 }
            }
            Network::Whisper(_) => Clock { grid: whisper::GRID, latency_s: 0.0 },
            Network::Moonshine(moonshine) => moonshine.clock(),
        }
    }

    /// Runs the model on a batch of windows, and gives one output for each. Each window must have at least
    /// one frame. `language` is a code such as `pa`, which multilingual models use.
    ///
    /// # Errors
    ///
    /// When a run fails, the outputs do not have the shapes of the layout, or the model does not know the
    /// language.
    pub fn infer(
        &mut self,
        windows: &[&Features],
        language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        Ok(match &mut self.network {
            Network::Ctc(acoustic) => {
                let decoder = acoustic.decoder();
                let emissions = acoustic.infer(windows)?.into_iter();
                emissions.map(|emissions| WindowOutput::Emissions(emissions, decoder.clone())).collect()
            }
            Network::WhisperCtc(model) => {
                let decoder = model.decoder();
                let emissions = windows.iter().map(|window| model.infer(window));
                emissions
                    .map(|emissions| Ok(WindowOutput::Emissions(emissions?, decoder.clone())))
                    .collect::<Result<_, RuntimeError>>()?
            }
            Network::Transducer(transducer) => {
                transducer.transcribe(windows)?.into_iter().map(WindowOutput::Transcript).collect()
            }
            Network::Whisper(whisper) => {
                let transcripts = windows.iter().map(|window| whisper.transcribe(window, language));
                transcripts
                    .map(|transcript| Ok(WindowOutput::Transcript(transcript?)))
                    .collect::<Result<_, RuntimeError>>()?
            }
            Network::Moonshine(moonshine) => {
                let transcripts = windows.iter().map(|window| moonshine.transcribe(window));
                transcripts
                    .map(|transcript| Ok(WindowOutput::Transcript(transcript?)))
                    .collect::<Result<_, RuntimeError>>()?
            }
        })
    }
}
