//! What every speech recognition model can do, whatever its layout is.

use std::{collections::HashSet, sync::Arc};

use crate::{
    key_terms::KeyTerms,
    runtime::RuntimeError,
    speech::{
        ctc::{CtcDecoder, Emissions},
        features::{Features, FrontEnd},
        words::{Clock, Transcript},
    },
};

/// A loaded speech recognition model.
pub trait SpeechModel: Send {
    /// The feature extraction that the model expects.
    fn front_end(&self) -> Arc<dyn FrontEnd>;

    /// The times of the model's output frames.
    fn clock(&self) -> Clock;

    /// The letters that key terms may have. A term with another one has no effect. Empty if the model knows no key terms.
    fn alphabet(&self) -> HashSet<char> {
        HashSet::new()
    }

    /// Runs the model on a batch of windows, and gives one output for each. Each window must have at least one frame.
    /// `language` is a code such as `pa`, which multilingual models use.
    ///
    /// # Errors
    ///
    /// When a run fails, the outputs do not have the shapes of the layout, or the model does not know the language.
    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError>;
}

/// The input of a model for one window.
#[derive(Debug, Clone, Copy)]
pub struct WindowInput<'a> {
    /// What the model's front end makes of the window.
    pub features: &'a Features,
    /// Terms that the text probably has.
    pub terms: &'a KeyTerms,
}

/// The output of a model for one window.
pub enum WindowOutput {
    /// CTC emissions and the decoder that turns them into a transcript.
    Emissions(Emissions, Arc<CtcDecoder>),
    /// The transcript, from a model that decodes its output itself.
    Transcript(Transcript),
}

impl WindowOutput {
    /// The window's transcript. CTC beam search happens in this call, for which the terms are those of the input.
    pub fn decode(self, terms: &KeyTerms) -> Transcript {
        match self {
            Self::Emissions(emissions, decoder) => decoder.decode(&emissions, terms),
            Self::Transcript(transcript) => transcript,
        }
    }
}
