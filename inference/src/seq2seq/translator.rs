//! Translates batches of texts from one language into another.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use super::{
    network::Network,
    search::{GenerationConfig, search},
    tokens::Tokens,
};
use crate::{Layout, LoadError, Manifest, ManifestError, Runtime, RuntimeError};

/// A loaded translation model with the Marian or the M2M100 layout.
pub struct Translator {
    id: String,
    network: Network,
    tokens: Tokens,
    /// The token of each language code. Empty if the model translates between one pair of languages only.
    languages: BTreeMap<String, i64>,
    config: GenerationConfig,
    pad_token_id: i64,
    /// A text with more tokens is translated in halves.
    max_source_length: usize,
}

/// The reason why a text cannot be translated.
#[derive(Debug, thiserror::Error)]
pub enum TranslationError {
    /// A run of the model failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The tokenizer failed.
    #[error("the tokenizer of the model {model} failed: {reason}")]
    Tokens {
        /// The model's id.
        model: String,
        /// The tokenizer's error.
        reason: String,
    },
    /// The model does not know the language.
    #[error("the model {model} does not know the language {language:?}")]
    Language {
        /// The model's id.
        model: String,
        /// The requested language.
        language: String,
    },
}

impl Translator {
    /// Loads the model and runs it once, so that the first request is not slowed down by set-up. `n_threads`
    /// is the number of threads that one run may use.
    ///
    /// # Errors
    ///
    /// When the layout is not one for translation, the manifest's tables or a file are invalid, or the model
    /// cannot be run.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let mut translator = Self::open(runtime, manifest, n_threads)?;
        let warm = vec![translator.config.eos_token_id; 2];
        translator.run(&[warm], &GenerationConfig { max_new_tokens: 2, ..translator.config.clone() })?;
        Ok(translator)
    }

    fn open(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let is_multilingual = match manifest.layout {
            Layout::M2m100 => true,
            Layout::Marian => false,
            _ => return Err(manifest.unfit().into()),
        };
        let tokens = Tokens::read(manifest)?;
        let generation = manifest.generation.clone().unwrap_or_default();
        let config = GenerationConfig::read(manifest, &tokens, &generation)?;
        let named = |token: &String| tokens.named(manifest, token);
        let pairs = manifest.languages.iter().filter(|_| is_multilingual);
        let languages = pairs.map(|(code, token)| Ok((code.clone(), named(token)?)));
        let languages = languages.collect::<Result<BTreeMap<_, _>, ManifestError>>()?;
        if is_multilingual && languages.len() < 2 {
            return Err(manifest
                .inconsistent("expected the tokens of at least two languages in [languages]".to_owned())
                .into());
        }
        let pad_token_id = tokens.id(manifest, &generation.pad_token_id)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        Ok(Self {
            id: manifest.id.clone(),
            network,
            tokens,
            languages,
            config,
            pad_token_id,
            max_source_length: generation.max_source_length,
        })
    }

    /// Translates a batch of texts between the languages with the codes `from` and `to`. Gives one
    /// translation in NFC for each text. An empty text stays empty.
    ///
    /// # Errors
    ///
    /// When the model does not know a language, or the tokenizer or the model fails.
    pub fn translate(
        &mut self,
        texts: &[&str],
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, TranslationError> {
        let config = GenerationConfig { forced_bos_token_id: self.language(to)?, ..self.config.clone() };
        let mut pieces = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            self.split(text, from, n, &mut pieces)?;
        }
        let sources: Vec<Vec<i64>> = pieces.iter().map(|(_, tokens)| tokens.clone()).collect();
        let said = if sources.is_empty() { Vec::new() } else { self.run(&sources, &config)? };
        let mut translations = vec![String::new(); texts.len()];
        for ((n, _), tokens) in pieces.iter().zip(said) {
            let text = self.tokens.text(&tokens).map_err(|reason| self.tokenizer_error(reason))?;
            let whole = &mut translations[*n];
            if !whole.is_empty() && !text.is_empty() {
                whole.push(' ');
            }
            whole.extend(text.trim().nfc());
        }
        Ok(translations)
    }

    /// Appends the source tokens of a text to `pieces`. A text that is too long is divided into halves.
    fn split(
        &self,
        text: &str,
        from: &str,
        n: usize,
        pieces: &mut Vec<(usize, Vec<i64>)>,
    ) -> Result<(), TranslationError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let source = self.source(text, from)?;
        let middle = text.len() / 2;
        let spaces = text.match_indices(' ').map(|(at, _)| at);
        let cut =
            spaces.min_by_key(|at| at.abs_diff(middle)).filter(|_| source.len() > self.max_source_length);
        if let Some(at) = cut {
            self.split(&text[..at], from, n, pieces)?;
            return self.split(&text[at..], from, n, pieces);
        }
        let end = source.len().saturating_sub(1).min(self.max_source_length);
        let source = source[..end].iter().copied().chain([self.config.eos_token_id]).collect();
        pieces.push((n, source));
        Ok(())
    }

    /// The source tokens of a text: the language's token (for multilingual models), the text's tokens, the
    /// end token.
    fn source(&self, text: &str, from: &str) -> Result<Vec<i64>, TranslationError> {
        let tokens = self.tokens.of(text).map_err(|reason| self.tokenizer_error(reason))?;
        Ok(self.language(from)?.into_iter().chain(tokens).chain([self.config.eos_token_id]).collect())
    }

    fn run(
        &mut self,
        sources: &[Vec<i64>],
        config: &GenerationConfig,
    ) -> Result<Vec<Vec<i64>>, RuntimeError> {
        let mut state = self.network.encode(sources, self.pad_token_id)?;
        Ok(search(&mut state, sources.len(), config)?.into_iter().map(|found| found.tokens).collect())
    }

    /// The token of a language; `None` if the model translates between one pair of languages only.
    fn language(&self, code: &str) -> Result<Option<i64>, TranslationError> {
        if self.languages.is_empty() {
            return Ok(None);
        }
        let unknown = || TranslationError::Language { model: self.id.clone(), language: code.to_owned() };
        self.languages.get(code).copied().map(Some).ok_or_else(unknown)
    }

    fn tokenizer_error(&self, reason: String) -> TranslationError {
        TranslationError::Tokens { model: self.id.clone(), reason }
    }
}

#[cfg(test)]
impl Translator {
    /// For the golden tests: the source tokens of each text, the generated tokens after the start, and their
    /// text.
    pub(super) fn tokens_of(
        runtime: &Runtime,
        manifest: &Manifest,
        texts: &[(&str, &str, &str)],
    ) -> Vec<(Vec<i64>, Vec<i64>, String)> {
        let mut translator = Self::open(runtime, manifest, 1).unwrap();
        let one = |(text, from, to): &(&str, &str, &str)| {
            let source = translator.source(text, from).unwrap();
            let config = GenerationConfig {
                forced_bos_token_id: translator.language(to).unwrap(),
                ..translator.config.clone()
            };
            let said = translator.run(std::slice::from_ref(&source), &config).unwrap().remove(0);
            let text = translator.tokens.text(&said).unwrap();
            (source, said, text)
        };
        texts.iter().map(one).collect()
    }
}
