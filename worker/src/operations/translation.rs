//! Translates texts from one of the two languages into the other.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_inference::{
    Registry, Runtime,
    seq2seq::{Translation as Translated, Translator},
};
use akhar_jobs::Language;
use akhar_platform::config::Config;
use futures::future::try_join_all;

use super::by_language::by_language;
use crate::{
    engine::{BatchModel, Engine, EngineError},
    error::WorkerError,
};

/// The operation name of translation models in manifests. Callers cannot request it on its own: it is a part
/// of speech jobs.
pub(crate) const OPERATION: &str = "translation";

/// How many segments one recording sends to the model at a time. Segments of other recordings are translated
/// between these batches.
const MAX_BATCH: usize = 8;

/// One translator for each source language.
pub(crate) struct Translation {
    by_source: HashMap<Language, Arc<Engine<Translator>>>,
}

/// A text to translate.
pub(crate) struct Text {
    text: String,
    from: Language,
}

impl BatchModel for Translator {
    type Input = Text;
    type Output = Translated;
    fn run(&mut self, batch: &[Text]) -> Result<Vec<Translated>, String> {
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

impl Translation {
    /// Loads a translator for every source language and warms it up. A model that serves several languages is
    /// loaded once. Blocks the thread.
    pub(crate) fn load(runtime: &Runtime, registry: &Registry, config: &Config) -> Result<Self, WorkerError> {
        let mut loaded: HashMap<&str, Arc<Engine<Translator>>> = HashMap::new();
        let mut by_source = HashMap::new();
        for language in Language::ALL {
            let manifest = registry.serving(OPERATION, Some(language.code()))?;
            if let Some(engine) = loaded.get(manifest.id.as_str()) {
                by_source.insert(language, engine.clone());
                continue;
            }
            let model = Translator::load(runtime, manifest, config.inference_threads.get())?;
            tracing::info!(model = %manifest.id, operation = OPERATION, "model loaded");
            let engine = Engine::start(&manifest.id, model, MAX_BATCH).map_err(WorkerError::Thread)?;
            let engine = Arc::new(engine);
            loaded.insert(&manifest.id, engine.clone());
            by_source.insert(language, engine);
        }
        Ok(Self { by_source })
    }

    /// Translates `texts`, which are in the language `from`, into the other language, one translation for
    /// each text in order. Also returns how long the model took.
    pub(crate) async fn translate(
        &self,
        texts: Vec<String>,
        from: Language,
    ) -> Result<(Vec<Translated>, Duration), EngineError> {
        let engine = self.by_source.get(&from).ok_or(EngineError::Gone)?;
        let (mut translations, mut took) = (Vec::with_capacity(texts.len()), Duration::ZERO);
        for batch in texts.chunks(MAX_BATCH) {
            let requests = batch.iter().map(|text| engine.infer(Text { text: text.clone(), from }));
            let answers = try_join_all(requests).await?;
            // Every text of a batch reports the time of the whole batch, so it counts once.
            took += answers.iter().map(|a| a.took).max().unwrap_or_default();
            translations.extend(answers.into_iter().map(|a| a.output));
        }
        Ok((translations, took))
    }
}
