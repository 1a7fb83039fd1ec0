//! The written form of a recording: the words that are recognised come in, and its segments with figures and marks go out,
//! also while further words are being recognised.

use std::{ops::Range, sync::Arc, time::Duration};

use akhar_inference::{
    Manifest, Registry, Runtime,
    punctuation::{CONTEXT, Mark, SpokenWord, Tagger},
    speech::{self, AROUND, TimedText, WrittenForm, divided, text},
};
use akhar_platform::config::Config;
use akhar_requests::{Digits, Language};

use super::{
    engines,
    error::OperationError,
    lazy_model::{LazyModel, LazyModels},
};
use crate::{
    engine::{BatchLimits, BatchModel, Engine},
    error::WorkerError,
    fair_queue::{Requester, Turn},
};

/// The operation name of taggers in manifests. Callers cannot request it on its own: it is a part of speech jobs.
pub(crate) const OPERATION: &str = "punctuation";

/// Words whose marks one run gives at most.
const MAX_WORDS: usize = 512;
const BATCHES: BatchLimits = BatchLimits { max_inputs: 4, max_cost: 4 * MAX_WORDS as u64 };
/// Recordings of fewer words have no marks.
const FEWEST_WORDS: usize = 3;
/// The marks of a model that writes them itself.
const MARKS: [char; 5] = ['।', '.', ',', '?', '!'];

/// The model that finds marks.
pub(super) struct Punctuation(Arc<LazyModel<Engine<Tagger>>>);

impl BatchModel for Tagger {
    type Input = Vec<SpokenWord>;
    type Output = Vec<Mark>;
    fn run(&mut self, batch: &[Vec<SpokenWord>]) -> Result<Vec<Vec<Mark>>, String> {
        batch.iter().map(|words| self.marks(words).map_err(|e| e.to_string())).collect()
    }
}

impl Punctuation {
    /// Finds the model. Blocks the thread.
    pub(super) fn open(models: &LazyModels, registry: &Registry) -> Result<Self, WorkerError> {
        Ok(Self(models.of(registry, registry.serving(OPERATION, None)?, engine)?))
    }

    /// Writes a recording of an account. The models of English write marks themselves.
    pub(super) fn writer(&self, requester: Requester, language: Language, digits: Digits) -> Option<Writer> {
        let tagger = (language == Language::Panjabi).then(|| self.0.clone());
        Some(Writer { form: form(language, digits)?, tagger, requester, marks: Vec::new() })
    }
}

/// How the numbers of texts in a language are written.
pub(super) fn form(language: Language, digits: Digits) -> Option<WrittenForm> {
    let digits = match digits {
        Digits::Latin => speech::Digits::Latin,
        Digits::Gurmukhi => speech::Digits::Gurmukhi,
    };
    WrittenForm::new(language.code(), digits)
}

fn engine(runtime: &Runtime, manifest: &Manifest, config: &Config) -> Result<Engine<Tagger>, WorkerError> {
    engines::load_at_low_priority(|| {
        let model = Tagger::load(runtime, manifest, config.inference_threads.get())?;
        engines::start(manifest, model, BATCHES)
    })
}

/// Writes one recording.
pub(super) struct Writer {
    form: WrittenForm,
    tagger: Option<Arc<LazyModel<Engine<Tagger>>>>,
    requester: Requester,
    /// What stands behind each of the first words.
    marks: Vec<Mark>,
}

impl Writer {
    /// Finds the marks behind further words: of those that no later word can change, or at the end of the recording of all.
    /// `words` are all words so far. Returns how long the model took.
    pub(super) async fn read(
        &mut self,
        words: &[TimedText],
        is_end: bool,
    ) -> Result<Duration, OperationError> {
        let mut took = Duration::ZERO;
        let Some(tagger) = &self.tagger else { return Ok(took) };
        if is_end && words.len() < FEWEST_WORDS {
            return Ok(took);
        }
        // The pause behind the last word is not known yet.
        let n_ready = if is_end { words.len() } else { words.len().saturating_sub(CONTEXT + 1) };
        while self.marks.len() < n_ready {
            let first = self.marks.len();
            let end = n_ready.min(first + MAX_WORDS);
            let around = first.saturating_sub(CONTEXT)..words.len().min(end + CONTEXT);
            let spoken = around.clone().map(|nth| SpokenWord {
                text: words[nth].text.clone(),
                pause_s: words.get(nth + 1).map(|next| next.start - words[nth].end),
            });
            let turn = Turn { requester: self.requester, cost: MAX_WORDS as u64 };
            let answer = tagger.get().await?.infer(turn, spoken.collect()).await?;
            took += answer.took;
            self.marks.extend(&answer.output[first - around.start..end - around.start]);
        }
        Ok(took)
    }

    /// How many of the first words, of `n_words` so far, can be written.
    pub(super) fn n_ready(&self, n_words: usize) -> usize {
        let n_known = n_words.saturating_sub(AROUND);
        if self.tagger.is_some() { n_known.min(self.marks.len()) } else { n_known }
    }

    /// The words of a segment as they are written.
    pub(super) fn words(&self, words: &[TimedText], segment: Range<usize>) -> Vec<TimedText> {
        self.form.words(words, segment.clone(), self.marks(words, segment))
    }

    /// Writes the segments of the whole recording. Returns the words of each as they are written, and the segments
    /// as the translator reads them.
    pub(super) fn finish(
        &self,
        words: &[TimedText],
        segments: &mut [TimedText],
    ) -> (Vec<Vec<TimedText>>, Vec<String>) {
        let mut written = Vec::with_capacity(segments.len());
        let mut sources = Vec::with_capacity(segments.len());
        for (segment, range) in segments.iter_mut().zip(divided(words)) {
            sources.push(self.sentences(words, range.clone()));
            let words = self.words(words, range);
            segment.text = text(&words);
            written.push(words);
        }
        (written, sources)
    }

    /// A segment as it is spoken, with marks, as the translator reads it.
    fn sentences(&self, words: &[TimedText], segment: Range<usize>) -> String {
        self.form.sentences(&words[segment.clone()], self.marks(words, segment))
    }

    /// The marks of a segment, unless it has some already.
    fn marks(&self, words: &[TimedText], segment: Range<usize>) -> &[Mark] {
        let is_marked = words[segment.clone()].iter().any(|word| word.text.contains(MARKS));
        self.marks.get(segment).filter(|_| !is_marked).unwrap_or_default()
    }
}
