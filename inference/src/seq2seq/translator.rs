//! Translation: texts of one language come in, in batches; those of another come out.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use super::{
    network::Network,
    search::{Rules, search},
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
    rules: Rules,
    pad: i64,
    /// Texts of more tokens are translated in halves.
    max_source: usize,
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
        let warm = vec![translator.rules.end; 2];
        translator.run(&[warm], &Rules { max_tokens: 2, ..translator.rules.clone() })?;
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
        let wrong = |what: &str| manifest.inconsistent(format!("generation: {what}"));
        let lengths = [generation.max_tokens, generation.max_source];
        if !(1..=32).contains(&generation.beam) || lengths.iter().any(|n| !(1..=1024).contains(n)) {
            return Err(wrong("expected a beam of 1 to 32, max_tokens and max_source of 1 to 1024").into());
        }
        let named = |token: &String| tokens.named(manifest, token);
        let pairs = manifest.languages.iter().filter(|_| is_multilingual);
        let languages = pairs.map(|(code, token)| Ok((code.clone(), named(token)?)));
        let languages = languages.collect::<Result<BTreeMap<_, _>, ManifestError>>()?;
        if is_multilingual && languages.len() < 2 {
            return Err(manifest
                .inconsistent("languages: expected the tokens of two at least".to_owned())
                .into());
        }
        let never = generation.never.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let rules = Rules {
            n_beams: generation.beam,
            length_penalty: generation.length_penalty,
            no_repeat: generation.no_repeat_ngram,
            max_tokens: generation.max_tokens,
            start: named(&generation.decoder_start)?,
            end: named(&generation.end)?,
            first: None,
            never,
            forced_end: generation.forced_end,
            renormalise: generation.renormalise,
        };
        let pad = named(&generation.pad)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        Ok(Self {
            id: manifest.id.clone(),
            network,
            tokens,
            languages,
            rules,
            pad,
            max_source: generation.max_source,
        })
    }

    /// Translates texts of one language into another, all together; NFC. An empty text stays empty.
    pub fn translate(
        &mut self,
        texts: &[&str],
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, TranslationError> {
        let rules = Rules { first: self.language(to)?, ..self.rules.clone() };
        let mut pieces = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            self.split(text, from, n, &mut pieces)?;
        }
        let sources: Vec<Vec<i64>> = pieces.iter().map(|(_, tokens)| tokens.clone()).collect();
        let said = if sources.is_empty() { Vec::new() } else { self.run(&sources, &rules)? };
        let mut translations = vec![String::new(); texts.len()];
        for ((n, _), tokens) in pieces.iter().zip(said) {
            let text = self.tokens.text(&tokens).map_err(|reason| self.not_tokens(reason))?;
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
        let cut = spaces.min_by_key(|at| at.abs_diff(middle)).filter(|_| source.len() > self.max_source);
        if let Some(at) = cut {
            self.split(&text[..at], from, n, pieces)?;
            return self.split(&text[at..], from, n, pieces);
        }
        let end = source.len().saturating_sub(1).min(self.max_source);
        let source = source[..end].iter().copied().chain([self.rules.end]).collect();
        pieces.push((n, source));
        Ok(())
    }

    /// The language's token where the model has several, the text's, the end.
    fn source(&self, text: &str, from: &str) -> Result<Vec<i64>, TranslationError> {
        let tokens = self.tokens.of(text).map_err(|reason| self.not_tokens(reason))?;
        Ok(self.language(from)?.into_iter().chain(tokens).chain([self.rules.end]).collect())
    }

    fn run(&mut self, sources: &[Vec<i64>], rules: &Rules) -> Result<Vec<Vec<i64>>, RuntimeError> {
        search(&mut self.network.encode(sources, self.pad)?, sources.len(), rules)
    }

    /// The token of a language; none where the model knows one pair only.
    fn language(&self, code: &str) -> Result<Option<i64>, TranslationError> {
        if self.languages.is_empty() {
            return Ok(None);
        }
        let unknown = || TranslationError::Language { model: self.id.clone(), language: code.to_owned() };
        self.languages.get(code).copied().map(Some).ok_or_else(unknown)
    }

    fn not_tokens(&self, reason: String) -> TranslationError {
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
            let rules = Rules { first: translator.language(to).unwrap(), ..translator.rules.clone() };
            let said = translator.run(std::slice::from_ref(&source), &rules).unwrap().remove(0);
            let text = translator.tokens.text(&said).unwrap();
            (source, said, text)
        };
        texts.iter().map(one).collect()
    }
}
