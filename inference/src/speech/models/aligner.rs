//! Gives a text of another model its times: a CTC model beside that one says which frames its words are in.
//!
//! The same model says whether there is any speech, independently of the model that writes the text.

use super::{SpeechModel as _, ctc::CtcModel, nemo_ctc};
use crate::{
    error::LoadError,
    generation::Alignment,
    key_terms::KeyTerms,
    layout::Layout,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError},
    speech::{
        ctc::{Emissions, Spelling, confidence},
        words::{Clock, Token},
    },
};

/// A loaded CTC model and how it spells.
pub(super) struct Aligner {
    model: CtcModel,
    spelling: Spelling,
    alignment: Alignment,
}

/// What the CTC model gives for one window with speech in it.
pub(super) struct Speech {
    emissions: Emissions,
    /// For each output frame, whether the blank is its likeliest unit.
    pub(super) blanks: Vec<bool>,
}

impl Aligner {
    /// The model of a manifest's `[alignment]`; none where it has none.
    pub(super) fn load(
        runtime: &Runtime,
        manifest: &Manifest,
        n_threads: usize,
    ) -> Result<Option<Self>, LoadError> {
        let Some(alignment) = manifest.alignment else { return Ok(None) };
        let part = manifest.part("aligner-", Layout::NemoCtc);
        let model = nemo_ctc::load(runtime, &part, n_threads)?;
        let spelling = Spelling::of(model.decoder().units()).ok_or_else(|| {
            let expected = "expected ▁, letters, at most 254 of them, and the blank last";
            manifest.inconsistent(format!("its aligner's vocab: {expected}"))
        })?;
        Ok(Some(Self { model, spelling, alignment }))
    }

    /// The times that frames of its transcripts stand for.
    pub(super) fn clock(&self) -> Clock {
        Clock { latency_s: self.alignment.latency_s, ..self.model.clock() }
    }

    /// The speech in a window; none where nothing is said.
    pub(super) fn speech(&mut self, samples: &[f32]) -> Result<Option<Speech>, RuntimeError> {
        let features = self.model.front_end().features(samples);
        if features.n_frames == 0 {
            return Ok(None);
        }
        let Some(emissions) = self.model.emissions(&[&features])?.pop() else { return Ok(None) };
        let greedy = self.model.decoder().decode(&emissions, &KeyTerms::default());
        let frames: Vec<&[f32]> = emissions.frames(self.model.decoder().n_units()).collect();
        let is_speech = confidence(&frames, &greedy) >= self.alignment.min_confidence;
        Ok(is_speech.then_some(Speech { emissions, blanks: greedy.blanks }))
    }

    /// Those of the terms that may be said. The others cannot displace what is said.
    pub(super) fn heard(&self, speech: &Speech, terms: &KeyTerms) -> KeyTerms {
        let frames: Vec<&[f32]> = speech.emissions.frames(self.model.decoder().n_units()).collect();
        terms.only(|term| self.spelling.may_be_said(&frames, term))
    }

    /// The words of a text, a token each, of whose own tokens `log_prob` is the mean log-probability.
    pub(super) fn tokens(&self, speech: &Speech, text: &str, log_prob: f64) -> Vec<Token> {
        let frames: Vec<&[f32]> = speech.emissions.frames(self.model.decoder().n_units()).collect();
        let tokens = self.spelling.tokens(frames.iter().copied(), text, log_prob);
        self.spelling.with_numbers(&frames, tokens, log_prob)
    }
}
