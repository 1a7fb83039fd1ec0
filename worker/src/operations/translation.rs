//! Translation: texts of one language come in; those of the other come out.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_inference::{Registry, Runtime, seq2seq::Translator};
use akhar_jobs::Language;
use akhar_platform::config::Config;
use futures::future::try_join_all;

use super::by_language::by_language;
use crate::{
    engine::{BatchModel, Engine, EngineError},
    error::WorkerError,
};

/// What a translator is called as an operation; no caller asks for it alone.
pub(crate) const OPERATION: &str = "translation";

/// Segments of one recording that wait for the model at a time: other recordings' come between.
const TOGETHER: usize = 8;

/// A translator out of each language.
pub(crate) struct Translation {
    out_of: HashMap<Language, Arc<Engine<Translator>>>,
}

/// A text to translate.
pub(crate) struct Text {
    text: String,
    from: Language,
}

impl BatchModel for Translator {
    type Input = Text;
    type Output = String;
    fn run(&mut self, batch: &[Text]) -> Result<Vec<String>, String> {
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
    /// Loads and warms a translator out of every language; one model may do for all. Blocks.
    pub(crate) fn load(runtime: &Runtime, registry: &Registry, config: &Config) -> Result<Self, WorkerError> {
        let mut loaded: HashMap<&str, Arc<Engine<Translator>>> = HashMap::new();
        let mut out_of = HashMap::new();
        for language in Language::ALL {
            let manifest = registry.serving(OPERATION, Some(language.code()))?;
            if let Some(engine) = loaded.get(manifest.id.as_str()) {
                out_of.insert(language, engine.clone());
                continue;
            }
            let model = Translator::load(runtime, manifest, config.inference_threads.get())?;
            tracing::info!(model = %manifest.id, operation = OPERATION, "model loaded");
            let engine = Arc::new(Engine::start(&manifest.id, model, TOGETHER).map_err(WorkerError::Thread)?);
            loaded.insert(&manifest.id, engine.clone());
            out_of.insert(language, engine);
        }
        Ok(Self { out_of })
    }

    /// Each text in the other language, and how long the model took.
    pub(crate) async fn translate(
        &self,
        texts: Vec<String>,
        from: Language,
    ) -> Result<(Vec<String>, Duration), EngineError> {
        let engine = self.out_of.get(&from).ok_or(EngineError::Gone)?;
        let (mut translations, mut took) = (Vec::with_capacity(texts.len()), Duration::ZERO);
        for together in texts.chunks(TOGETHER) {
            let answers =
                try_join_all(together.iter().map(|text| engine.infer(Text { text: text.clone(), from })))
                    .await?;
            // What was in one batch took the same time, once.
            took += answers.iter().map(|a| a.took).max().unwrap_or_default();
            translations.extend(answers.into_iter().map(|a| a.output));
        }
        Ok((translations, took))
    }
}
