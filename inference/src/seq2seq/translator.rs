//! Translation: texts of one language come in, in batches; those of another come out.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use super::{
    network::Network,
    search::{GenerationConfig, search},
    tokens::Tokens,
};
use crate::{Layout, LoadError, Manifest, ManifestError, Runtime, RuntimeError};

/// A loaded translator of the Marian or the M2M100 layout.
pub struct Translator {
    id: String,
    network: Network,
    tokens: Tokens,
    /// By language code, the token that stands for it; empty where a model knows one pair only.
    languages: BTreeMap<String, i64>,
    config: GenerationConfig,
    pad_token_id: i64,
    /// Texts of more tokens are translated in halves.
    max_source_length: usize,
}

/// Why a text is not translated.
#[derive(Debug, thiserror::Error)]
pub enum TranslationError {
    /// The model's run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Its tokenizer.
    #[error("tokenizer of {model}: {reason}")]
    Tokens {
        /// Whose.
        model: String,
        /// What it said.
        reason: String,
    },
    /// A language it was not made for.
    #[error("model {model} has no language {language:?}")]
    Language {
        /// Which model.
        model: String,
        /// What was asked of it.
        language: String,
    },
}

impl Translator {
    /// Loads the model and translates a word, so that the first caller does not pay for set-up.
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
                .inconsistent("languages: expected the tokens of two at least".to_owned())
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

    /// Translates texts of one language into another, all together; NFC. An empty text stays empty.
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

    /// A text's tokens as the model takes them; of a long text, those of its halves.
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

    /// The language's token where the model has several, the text's, the end.
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

    /// The token of a language; none where the model knows one pair only.
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
    /// For the golden tests: the tokens of a text, and what follows the start.
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
