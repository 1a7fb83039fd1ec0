//! Translates batches of texts from one language into another.

use std::{collections::BTreeMap, sync::Arc};

use unicode_normalization::UnicodeNormalization as _;

use super::{
    constraints::{Constraints, Copies},
    indictrans,
    lexicon::Lexicon,
    network::Network,
    placeholders::{self, Masked},
    repetition::shortened,
    reverse,
    search::{GenerationConfig, Sequence, constrained, first},
    sentences::{in_small, sentences},
    tokens::Tokens,
    words::Words,
};
use crate::{
    error::LoadError,
    generation::Confidence,
    layout::Layout,
    manifest::{Manifest, ManifestError},
    numbers::{self, Language},
    runtime::{Runtime, RuntimeError},
    text::folded,
};

/// The most sentences in one run of the model.
const MAX_BATCH: usize = 16;
/// The most beams of all sentences in one run of the model, which bounds its memory.
const MAX_ROWS: usize = 64;

/// A loaded translation model with the M2M100 or the `IndicTrans2` layout.
pub struct Translator {
    network: Network,
    /// The tokens of a source; also those of a translation, unless [`IndicTrans::tokens`] are.
    tokens: Tokens,
    indictrans: Option<IndicTrans>,
    /// The token of each language code. Empty if the model translates between one pair of languages only.
    languages: BTreeMap<String, i64>,
    config: GenerationConfig,
    /// How much the reverse translation counts when one of several sequences is chosen.
    reverse_weight: f64,
    confidence: Option<Confidence>,
    pad_token_id: i64,
    /// A text with more tokens is translated in halves.
    max_source_length: usize,
    /// The rules for placeholders. `None` if the model has none.
    constraints: Option<Constraints>,
    /// Names that are copied in the script of the target.
    lexicon: Lexicon,
    /// The words that a translation may have. Any without them.
    words: Option<Arc<Words>>,
}

/// What only `IndicTrans2` has.
struct IndicTrans {
    /// The language that it translates from.
    from: Language,
    /// The tokens of a translation.
    tokens: Tokens,
    /// The tokens of the two languages, which begin each source.
    tags: [i64; 2],
}

impl IndicTrans {
    /// `source` are the tokens of a source.
    fn open(manifest: &Manifest, source: &Tokens) -> Result<Self, ManifestError> {
        let from = manifest.language.as_deref().and_then(Language::of).ok_or_else(|| {
            manifest.inconsistent("expected the language that it translates from: pa or en".to_owned())
        })?;
        let tag = |language| source.named(manifest, indictrans::tag(language));
        Ok(Self {
            from,
            tokens: Tokens::read(manifest, "target-tokenizer")?,
            tags: [tag(from)?, tag(from.other())?],
        })
    }
}

/// The translation of a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Translation {
    /// The text, in NFC.
    pub text: String,
    /// The probability that it is about right, 0 to 1. `None` if the manifest has no `[confidence]`, or if nothing had to
    /// be translated. Of a text that is translated in parts, it is that of the worst part.
    pub confidence: Option<f64>,
    /// Whether it is probably wrong: its confidence is below the manifest's `low`, or it is unsure.
    pub is_low: bool,
    /// Whether a number of the text may mean something else than that of the translation, which then stays in words.
    pub is_unsure: bool,
}

/// A part of a text that is translated as a whole.
struct Part {
    /// The index of the text.
    place: usize,
    tokens: Vec<i64>,
    /// What its placeholders stand for; without placeholders, the text.
    masked: Masked,
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
        let config = GenerationConfig { max_new_tokens: 2, ..translator.config.clone() };
        translator.run(&[warm], &[Copies::default()], &config, "")?;
        Ok(translator)
    }

    fn open(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let is_indictrans = match manifest.layout {
            Layout::M2m100 => false,
            Layout::IndicTrans2 => true,
            _ => return Err(manifest.unfit().into()),
        };
        let tokens = Tokens::read(manifest, if is_indictrans { "source-tokenizer" } else { "tokenizer" })?;
        let indictrans = is_indictrans.then(|| IndicTrans::open(manifest, &tokens)).transpose()?;
        let generation = manifest.generation.clone().unwrap_or_default();
        let written = indictrans.as_ref().map_or(&tokens, |indictrans| &indictrans.tokens);
        let config = GenerationConfig::read(manifest, written, &generation)?;
        let named = |token: &String| tokens.named(manifest, token);
        let pairs = manifest.languages.iter().filter(|_| !is_indictrans);
        let languages = pairs.map(|(code, token)| Ok((code.clone(), named(token)?)));
        let languages = languages.collect::<Result<BTreeMap<_, _>, ManifestError>>()?;
        if !is_indictrans && languages.len() < 2 {
            return Err(manifest
                .inconsistent("expected the tokens of at least two languages in [languages]".to_owned())
                .into());
        }
        let weight = generation.reverse_weight;
        if !(0.0..=10.0).contains(&weight) || (weight > 0.0 && is_indictrans) {
            let expected =
                "expected a reverse_weight of 0 to 10, and of 0 for a model that translates one way";
            return Err(manifest.inconsistent(format!("generation: {expected}")).into());
        }
        let pad_token_id = tokens.id(manifest, &generation.pad_token_id)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        let constraints = Constraints::of(&tokens, config.eos_token_id);
        let words = optional(manifest, "words", |bytes| Words::new(bytes, &tokens).map(Arc::new))?;
        let lexicon = optional(manifest, "names", |bytes| Lexicon::parse(&text(bytes)?))?;
        Ok(Self {
            network,
            tokens,
            indictrans,
            languages,
            config,
            reverse_weight: weight,
            confidence: manifest.confidence,
            pad_token_id,
            max_source_length: generation.max_source_length,
            constraints,
            lexicon: lexicon.unwrap_or_default(),
            words,
        })
    }

    /// Translates a batch of texts between the languages with the codes `from` and `to`, sentence by sentence. Gives
    /// one translation for each text. An empty text stays empty.
    ///
    /// # Errors
    ///
    /// When the model does not know a language, or the tokenizer or the model fails.
    pub fn translate(
        &mut self,
        texts: &[&str],
        from: &str,
        to: &str,
    ) -> Result<Vec<Translation>, RuntimeError> {
        let config = GenerationConfig { forced_bos_token_id: self.language(to)?, ..self.config.clone() };
        let mut translations = vec![Translation::default(); texts.len()];
        let mut parts = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            for sentence in sentences(&folded(text)) {
                self.split(&in_small(sentence), from, n, &mut parts)?;
            }
        }
        let translated: Vec<&Part> = parts.iter().filter(|part| part.masked.is_translated()).collect();
        let mut found = Vec::with_capacity(translated.len());
        let n_batch = (MAX_ROWS / config.num_beams).clamp(1, MAX_BATCH);
        for batch in translated.chunks(n_batch) {
            let sources: Vec<Vec<i64>> = batch.iter().map(|part| part.tokens.clone()).collect();
            let copies: Vec<Copies> = batch.iter().map(|part| self.copies(&part.masked, to)).collect();
            found.extend(self.run(&sources, &copies, &config, to)?);
        }
        let mut found = found.into_iter();
        for part in &parts {
            let whole = &mut translations[part.place];
            whole.is_unsure |= part.masked.is_unsure;
            whole.is_low |= part.masked.is_unsure;
            let text = if part.masked.is_translated() {
                let found = found.next().unwrap_or_default();
                self.rate(whole, &found);
                self.written(&found.tokens, &part.masked)?
            } else {
                part.masked.untranslated(Language::of(to))
            };
            let text = part.masked.restore(&text);
            if !whole.text.is_empty() && !text.is_empty() {
                whole.text.push(' ');
            }
            whole.text.extend(text.nfc());
        }
        if self.constraints.is_some() {
            for (translation, text) in translations.iter_mut().zip(texts) {
                translation.text = shortened(&translation.text, text);
            }
        }
        Ok(translations)
    }

    /// Lowers a translation's confidence to that of one of its parts.
    fn rate(&self, translation: &mut Translation, part: &Sequence) {
        let n_forced = usize::from(!self.languages.is_empty());
        let (Some(confidence), Some(mean)) = (&self.confidence, part.mean_log_prob(n_forced)) else { return };
        let probability = confidence.probability(part.reverse, mean);
        translation.confidence =
            Some(translation.confidence.map_or(probability, |worst| worst.min(probability)));
        translation.is_low |= probability < confidence.low;
    }

    /// What the translation of a text into the language must and must not have.
    fn copies(&self, masked: &Masked, to: &str) -> Copies {
        let constraints = self.constraints.as_ref();
        let words = self.words.as_ref().map(|words| words.of(&masked.text));
        constraints
            .map_or_else(Copies::default, |c| c.copies(&masked.placeholders(), Language::of(to), words))
    }

    /// The folded text with placeholders, if the model has them.
    fn masked(&self, text: &str, from: &str) -> Masked {
        if let Some(indictrans) = &self.indictrans {
            return indictrans::mask(text, indictrans.from);
        }
        match Language::of(from).filter(|_| self.constraints.is_some()) {
            Some(language) => {
                let phrases = numbers::phrases(text, language);
                let items = placeholders::items(text, language, &self.lexicon, Some(&phrases));
                let is_item = |at: usize| items.iter().any(|(start, item)| item.is_number_at(at, *start));
                let is_unsure = phrases.iter().any(|phrase| !phrase.is_whole && is_item(phrase.start));
                Masked { is_unsure, ..placeholders::mask(text, items) }
            }
            None => Masked { text: text.to_owned(), ..Masked::default() },
        }
    }

    /// Appends the parts of a sentence to `parts`. One that is too long, or that has too much to copy, is divided into
    /// halves.
    fn split(&self, text: &str, from: &str, n: usize, parts: &mut Vec<Part>) -> Result<(), RuntimeError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let masked = self.masked(text, from);
        let source = self.source(&masked, from)?;
        let middle = text.len() / 2;
        let spaces = text.match_indices(' ').map(|(at, _)| at);
        let is_cut = source.len() > self.max_source_length || masked.is_full;
        let cut = spaces.min_by_key(|at| at.abs_diff(middle)).filter(|_| is_cut);
        if let Some(at) = cut {
            self.split(&text[..at], from, n, parts)?;
            return self.split(&text[at..], from, n, parts);
        }
        let end = source.len().saturating_sub(1).min(self.max_source_length);
        let tokens = source[..end].iter().copied().chain([self.config.eos_token_id]).collect();
        parts.push(Part { place: n, tokens, masked });
        Ok(())
    }

    /// The source tokens of a text: the tokens of languages (for multilingual models), the text's tokens, the end token.
    fn source(&self, masked: &Masked, from: &str) -> Result<Vec<i64>, RuntimeError> {
        let (languages, tokens) = match &self.indictrans {
            Some(IndicTrans { from: only, tags, .. }) => {
                if Language::of(from) != Some(*only) {
                    return Err(self
                        .network
                        .unfit(format!("it does not translate from the language {from:?}")));
                }
                let text = indictrans::prepare(&masked.text, *only, &masked.placeholders());
                (tags.to_vec(), self.tokens.of(&text))
            }
            None => (self.language(from)?.into_iter().collect(), self.tokens.of(&masked.text)),
        };
        let tokens = tokens.map_err(|reason| self.network.unfit(reason))?;
        Ok(languages.into_iter().chain(tokens).chain([self.config.eos_token_id]).collect())
    }

    /// The text of a translation's tokens, with the placeholders of its source.
    fn written(&self, tokens: &[i64], masked: &Masked) -> Result<String, RuntimeError> {
        let text = match &self.indictrans {
            Some(indictrans) => indictrans
                .tokens
                .text(tokens)
                .map(|text| indictrans::finish(&text, indictrans.from.other(), &masked.placeholders())),
            None => self.tokens.text(tokens),
        };
        Ok(masked.apart(&text.map_err(|reason| self.network.unfit(reason))?))
    }

    fn run(
        &mut self,
        sources: &[Vec<i64>],
        copies: &[Copies],
        config: &GenerationConfig,
        to: &str,
    ) -> Result<Vec<Sequence>, RuntimeError> {
        let found = constrained(&mut self.network.encode(sources, self.pad_token_id)?, copies, config)?;
        let special = [config.decoder_start_token_id, self.pad_token_id];
        let chosen = |(found, source): (Vec<Sequence>, &Vec<i64>)| {
            let found = self.without_new_numbers(found, to);
            match self.reverse_weight {
                0.0 => Ok(first(found)),
                weight => reverse::chosen(&mut self.network, found, source, weight, special),
            }
        };
        found.into_iter().zip(sources).map(chosen).collect()
    }

    /// The sequences without a number in words, which the network made up since placeholders stand for all that the source
    /// has. If each has one, all of them.
    fn without_new_numbers(&self, found: Vec<Sequence>, to: &str) -> Vec<Sequence> {
        let Some(language) = Language::of(to).filter(|_| self.constraints.is_some()) else { return found };
        // A sequence without a text is an error once it is chosen.
        let has_number = |sequence: &Sequence| {
            self.tokens.text(&sequence.tokens).is_ok_and(|text| numbers::has_many(&text, language))
        };
        let (with, without): (Vec<_>, Vec<_>) = found.into_iter().partition(has_number);
        if without.is_empty() { with } else { without }
    }

    /// The token of a language; `None` if the model translates between one pair of languages only.
    fn language(&self, code: &str) -> Result<Option<i64>, RuntimeError> {
        if self.languages.is_empty() {
            return Ok(None);
        }
        let unknown = || self.network.unfit(format!("its manifest has no language {code:?}"));
        self.languages.get(code).copied().map(Some).ok_or_else(unknown)
    }
}

/// What the manifest's file with a role is; `None` if it has no such file.
fn optional<T>(
    manifest: &Manifest,
    role: &str,
    parse: impl FnOnce(Vec<u8>) -> Result<T, String>,
) -> Result<Option<T>, ManifestError> {
    if !manifest.files.iter().any(|file| file.role == role) {
        return Ok(None);
    }
    let parsed = parse(manifest.read(role)?);
    parsed.map(Some).map_err(|reason| manifest.inconsistent(format!("its {role}: {reason}")))
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| e.to_string())
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
            let masked = translator.masked(text, from);
            let source = translator.source(&masked, from).unwrap();
            let config = GenerationConfig {
                forced_bos_token_id: translator.language(to).unwrap(),
                ..translator.config.clone()
            };
            let copies = translator.copies(&masked, to);
            let found =
                translator.run(std::slice::from_ref(&source), &[copies], &config, to).unwrap().remove(0);
            let tokens = found.tokens;
            let text = masked.restore(&translator.written(&tokens, &masked).unwrap());
            (source, tokens, text)
        };
        texts.iter().map(one).collect()
    }
}
