//! Translates texts from one of the two languages into the other.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_inference::{
    Manifest, Registry, Runtime,
    seq2seq::{Translation, Translator},
    speech::WrittenForm,
};
use akhar_platform::config::Config;
use akhar_requests::{Language, Operation};
use futures::future::try_join_all;

use super::{
    by_language::by_language,
    engines,
    error::OperationError,
    lazy_model::{LazyModel, LazyModels},
};
use crate::{
    engine::{BatchLimits, BatchModel, Engine, EngineError, RunningModel},
    error::WorkerError,
    fair_queue::{Requester, Turn},
};

/// How many texts one job sends to the model at a time: segments of a recording or sentences. Those of other jobs are
/// translated between these batches.
const MAX_BATCH: usize = 8;
const BATCHES: BatchLimits = BatchLimits { max_inputs: MAX_BATCH, max_cost: u64::MAX };

/// One translator for each source language.
pub(crate) struct Translators {
    by_source: HashMap<Language, Arc<LazyModel<Engine<Translator>>>>,
}

/// A text to translate.
pub(crate) struct SourceText {
    text: String,
    from: Language,
}

impl BatchModel for Translator {
    type Input = SourceText;
    type Output = Translation;
    fn run(&mut self, batch: &[SourceText]) -> Result<Vec<Translation>, String> {
        by_language(
            batch,
            |text| text.from,
            |from, texts| {
                let texts: Vec<&str> = texts.iter().map(|t| t.text.as_str()).collect();
                self.translate(&texts, from.code(), from.other().code()).map_err(|e| e.to_string())
            },
        )
    }
}

impl Translators {
    /// Finds the translator for every source language. Blocks the thread.
    pub(crate) fn open(models: &LazyModels, registry: &Registry) -> Result<Self, WorkerError> {
        let operation = Operation::Translation.name();
        let by_source =
            engines::by_language(registry, operation, |manifest| models.of(registry, manifest, engine))?;
        Ok(Self { by_source })
    }

    /// The translator from this language.
    pub(super) fn engine(&self, from: Language) -> Option<&dyn RunningModel> {
        Some(&**self.by_source.get(&from)?)
    }

    /// Translates `texts`, which are in the language `from`, into the other language, one translation for
    /// each text in order. They take the turns of the account, by their letters. Calls `step` after each batch. Also
    /// returns how long the model took.
    pub(crate) async fn translate(
        &self,
        requester: Requester,
        texts: Vec<String>,
        from: Language,
        step: impl Fn(),
    ) -> Result<(Vec<Translation>, Duration), OperationError> {
        let engine = self.by_source.get(&from).ok_or(EngineError::Gone)?.get().await?;
        let mut translations = Vec::with_capacity(texts.len());
        let mut took = Duration::ZERO;
        for batch in texts.chunks(MAX_BATCH) {
            let requests = batch.iter().map(|text| {
                let turn = Turn { requester, cost: u64::try_from(text.chars().count()).unwrap_or(u64::MAX) };
                engine.infer(turn, SourceText { text: text.clone(), from })
            });
            let answers = try_join_all(requests).await?;
            step();
            // Every text of a batch reports the time of the whole batch, so it counts once.
            took += answers.iter().map(|a| a.took).max().unwrap_or_default();
            translations.extend(answers.into_iter().map(|a| a.output));
        }
        Ok((translations, took))
    }
}

/// A translation with its numbers in figures, if there is a form and none of them is unsure.
pub(super) fn in_form(translation: &Translation, form: Option<WrittenForm>) -> String {
    let form = form.filter(|_| !translation.is_unsure);
    form.map_or_else(|| translation.text.clone(), |form| form.text(&translation.text))
}

fn engine(
    runtime: &Runtime,
    manifest: &Manifest,
    config: &Config,
) -> Result<Engine<Translator>, WorkerError> {
    engines::load_at_low_priority(|| {
        let model = Translator::load(runtime, manifest, config.inference_threads.get())?;
        engines::start(manifest, model, BATCHES)
    })
}

#[cfg(test)]
mod tests {
    use akhar_inference::speech::Digits;

    use super::*;

    #[test]
    fn a_number_that_is_unsure_stays_in_words() {
        let form = WrittenForm::new("en", Digits::Latin);
        let text = |is_unsure| {
            let translation =
                Translation { text: "It is ten rupees.".to_owned(), is_unsure, ..Translation::default() };
            in_form(&translation, form)
        };
        assert_eq!(text(false), "It is ₹10.");
        assert_eq!(text(true), "It is ten rupees.");
    }
}
