//! The sound that an utterance is recognised in: that of the windows which a recording of the whole session would have there.
//!
//! A window begins before the utterance, so that its first words are recognised with what was said before them. What is kept begins
//! with the window that has the end of the utterance before.

use std::ops::Range;

use akhar_inference::speech::{Chunker, SAMPLE_RATE, Transcript, Window, WindowStart};
use serde::{Deserialize, Serialize};

use super::super::error::OperationError;
use crate::decode::audio::resampled;

/// A number of samples at any rate of a session in which the resampler has a whole number of chunks.
const CHUNKS: u64 = 3072;
/// A passage is resampled from so many chunks before its first window on: then it has the sound of the whole session.
const LEAD: u64 = 2 * CHUNKS;

/// From where the sound is kept. It is stored in rows: never rename a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ContextState {
    /// The start of the first window.
    window: WindowStart,
    /// The position in the session from which words belong to no utterance yet, samples.
    pub(super) boundary: u64,
}

impl ContextState {
    /// The position in the session of the first sample that is needed.
    pub(super) fn first_sample(&self, rate: u32) -> u64 {
        let window = self.window.sample as u64 * u64::from(rate) / SAMPLE_RATE as u64;
        (window / CHUNKS * CHUNKS).saturating_sub(LEAD)
    }
}

/// The sound that is kept.
#[derive(Debug, Clone)]
pub(super) struct Context {
    rate: u32,
    pub(super) state: ContextState,
    /// The position of the first sample.
    start: u64,
    samples: Vec<f32>,
    /// The transcripts of windows that no further sound changes, with their first samples.
    pub(super) known: Vec<(usize, Transcript)>,
}

/// What an utterance is recognised in.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub(super) sound: Context,
    /// The utterance, seconds: words that begin in it belong to it.
    pub(super) utterance: Range<f64>,
}

impl Context {
    pub(super) fn new(rate: u32, state: ContextState) -> Self {
        let start = state.first_sample(rate);
        Self { rate, state, start, samples: Vec::new(), known: Vec::new() }
    }

    /// The position behind the last sample.
    pub(super) fn end(&self) -> u64 {
        self.start + self.samples.len() as u64
    }

    pub(super) fn push(&mut self, samples: &[f32]) {
        self.samples.extend_from_slice(samples);
    }

    /// What the words up to `end` are recognised in, of the sound up to `heard`. No word lies behind the sound.
    pub(super) fn passage(&self, end: u64, heard: u64) -> Passage {
        let end = if end < heard { self.seconds(end) } else { f64::INFINITY };
        let n = usize::try_from(heard.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let samples = self.samples[..n.min(self.samples.len())].to_vec();
        let sound = Self { samples, known: self.known.clone(), ..*self };
        Passage { sound, utterance: self.seconds(self.state.boundary)..end }
    }

    /// The sound before `position` belongs to no further word.
    pub(super) fn begin_at(&mut self, position: u64) {
        self.state =
            ContextState { window: WindowStart::at(at_model_rate(self.rate, position)), boundary: 0 };
        self.drop_sound();
    }

    /// Whether the first window may have ended in the sound up to `heard`.
    pub(super) fn has_ended_window(&self, heard: u64) -> bool {
        heard.saturating_sub(self.start) > u64::from(self.rate) * Chunker::LONGEST_S as u64
    }

    /// Drops the windows before this one.
    pub(super) fn go_on_from(&mut self, window: WindowStart) {
        self.state.window = window;
        self.drop_sound();
    }

    fn drop_sound(&mut self) {
        let first = self.state.first_sample(self.rate).clamp(self.start, self.end());
        let n = usize::try_from(first - self.start).unwrap_or(usize::MAX);
        self.samples.drain(..n);
        self.start = first;
        let window = self.state.window.sample;
        self.known.retain(|(start, _)| *start >= window);
    }

    /// The position at a time, seconds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time is positive and short"
    )]
    pub(super) fn position(&self, seconds: f64) -> u64 {
        (seconds * f64::from(self.rate)) as u64
    }

    /// A position, seconds.
    #[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^52 samples")]
    pub(super) fn seconds(&self, position: u64) -> f64 {
        position as f64 / f64::from(self.rate)
    }
}

impl Passage {
    /// Up to where the sound is known, seconds from the beginning of the session.
    pub(super) fn end_s(&self) -> f64 {
        self.sound.seconds(self.sound.end())
    }

    /// The windows, and how many of them no further sound changes. `grid`: that of the model.
    pub(super) fn windows(&self, grid: usize) -> Result<(Vec<Window>, usize), OperationError> {
        let (mut chunker, samples) = self.chunker(grid)?;
        let mut windows = chunker.push(&samples);
        let n_complete = windows.len();
        windows.extend(chunker.finish());
        Ok((windows, n_complete))
    }

    /// The last window that has all sound from `position` on.
    pub(super) fn last_window(&self, position: u64, grid: usize) -> Result<WindowStart, OperationError> {
        let (chunker, samples) = self.chunker(grid)?;
        Ok(chunker.last_start(&samples, at_model_rate(self.sound.rate, position)))
    }

    /// A chunker at the first window, and the sound from there on at the rate of models.
    fn chunker(&self, grid: usize) -> Result<(Chunker, Vec<f32>), OperationError> {
        let Context { rate, start, state: ContextState { window, .. }, .. } = self.sound;
        let resampled = resampled(rate, &self.sound.samples);
        let mut samples = resampled.map_err(|error| OperationError::Sound(error.detail))?;
        let n_lead = window.sample.saturating_sub(at_model_rate(rate, start));
        samples.drain(..n_lead.min(samples.len()));
        Ok((Chunker::from(grid, window), samples))
    }
}

/// The position of a sample at the rate of models.
fn at_model_rate(rate: u32, position: u64) -> usize {
    usize::try_from(position * SAMPLE_RATE as u64 / u64::from(rate)).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
