//! Key terms in the search of a decoder: the tokens of a text come in; the log-probabilities of the tokens that may follow
//! go out, higher for those that go on in a term.
//!
//! A term is followed letter by letter, not token by token: a decoder may write it in other tokens than a tokenizer would.

use std::{collections::HashMap, sync::Arc};

use super::tokens::Tokens;
use crate::{
    cast::narrow,
    key_terms::{KeyTerms, Progress},
};

/// The bonus for each letter of a key term. `speech.measure.keyterms` measures it.
const BONUS: f32 = 2.0;

/// The texts of a tokenizer's tokens.
#[derive(Debug)]
pub(crate) struct TokenTexts {
    /// By token, in which ▁ is a space. Tokens without text, such as the end, are a space.
    texts: Vec<String>,
    tokens: HashMap<String, usize>,
    /// The letters of the longest text.
    longest: usize,
}

impl TokenTexts {
    pub(crate) fn of(tokens: &Tokens) -> Self {
        let mut texts = Vec::new();
        let mut by_text = HashMap::new();
        for (token, piece) in tokens.pieces() {
            let Ok(token) = usize::try_from(token) else { continue };
            if texts.len() <= token {
                texts.resize(token + 1, " ".to_owned());
            }
            texts[token] = piece.replace('▁', " ");
            by_text.insert(texts[token].clone(), token);
        }
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
        Self { texts, tokens: by_text, longest }
    }
}

/// The terms of one text.
#[derive(Debug)]
pub(crate) struct TermBias {
    terms: KeyTerms,
    texts: Arc<TokenTexts>,
    /// The tokens that a term can begin with, and how many of its letters they are.
    starts: Vec<(usize, u32)>,
}

impl TermBias {
    pub(crate) fn new(terms: &KeyTerms, texts: &Arc<TokenTexts>) -> Self {
        let mut bias = Self { terms: terms.clone(), texts: texts.clone(), starts: Vec::new() };
        bias.starts = bias.continuations(Progress::START, " ");
        bias
    }

    /// The sum of the bonuses that a text of tokens has.
    pub(crate) fn total(&self, tokens: &[i64]) -> f64 {
        f64::from(bonus(self.progress(tokens).n_letters()))
    }

    /// Changes the log-probabilities of the tokens that may follow a text of tokens.
    pub(super) fn apply(&self, log_probs: &mut [f32], tokens: &[i64]) {
        let at = self.progress(tokens);
        let ended = self.terms.end(at);
        let kept = bonus(ended.n_letters()) - bonus(at.n_letters());
        let starts = self.starts.iter().map(|(token, n)| (*token, kept + bonus(*n)));
        let mut further: Vec<(usize, f32)> = starts.collect();
        if at.is_in_term() {
            let inside = self.continuations(at, "").into_iter();
            further.extend(inside.map(|(token, n)| (token, bonus(n) - bonus(at.n_letters()))));
        }
        let changed = |(token, change): (usize, f32)| Some((token, log_probs.get(token)? + change));
        let further: Vec<(usize, f32)> = further.into_iter().filter_map(changed).collect();
        if at.is_in_term() {
            let left = bonus(at.n_kept()) - bonus(at.n_letters());
            for (log_prob, text) in log_probs.iter_mut().zip(&self.texts.texts) {
                let goes_on = text.starts_with(char::is_alphanumeric);
                *log_prob += if goes_on { left } else { kept };
            }
        }
        for (token, log_prob) in further {
            log_probs[token] = log_prob;
        }
    }

    /// The tokens with which a text of tokens begins a term or goes on in one.
    pub(super) fn further(&self, tokens: &[i64]) -> Vec<i64> {
        let inside = self.continuations(self.progress(tokens), "");
        self.starts.iter().chain(&inside).filter_map(|(token, _)| i64::try_from(*token).ok()).collect()
    }

    /// The tokens that are `before` and the next letters of a term, and how many letters have a bonus behind them.
    fn continuations(&self, at: Progress, before: &str) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        self.terms.continuations(at, self.texts.longest, |letters| {
            if let Some(token) = self.texts.tokens.get(&format!("{before}{letters}")) {
                found.push((*token, self.terms.step(at, letters.chars()).n_letters()));
            }
        });
        found
    }

    fn progress(&self, tokens: &[i64]) -> Progress {
        tokens.iter().fold(Progress::START, |at, token| {
            let text = usize::try_from(*token).ok().and_then(|token| self.texts.texts.get(token));
            self.terms.step(at, text.map_or(" ", String::as_str).chars())
        })
    }
}

fn bonus(n_letters: u32) -> f32 {
    narrow(f64::from(n_letters)) * BONUS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bias(terms: &[&str], pieces: &[&str]) -> TermBias {
        let texts: Vec<String> = pieces.iter().map(|piece| piece.replace('▁', " ")).collect();
        let tokens = texts.iter().cloned().zip(0..).collect();
        let texts = Arc::new(TokenTexts { texts, tokens, longest: 4 });
        TermBias::new(&KeyTerms::new(&terms.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>()), &texts)
    }

    /// The change for each token behind these.
    fn changes(bias: &TermBias, tokens: &[i64]) -> Vec<f32> {
        let mut log_probs = vec![0.0; bias.texts.texts.len()];
        bias.apply(&mut log_probs, tokens);
        log_probs.iter().map(|change| change / BONUS).collect()
    }

    #[test]
    fn tokens_of_a_term_have_a_bonus_however_they_divide_it_until_the_text_leaves_it() {
        // The end, then pieces.
        let bias = bias(&["Gurbir"], &[" ", "▁G", "▁Gur", "ur", "bir", "s", "▁is", ","]);
        assert_eq!(changes(&bias, &[]), [0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(changes(&bias, &[1]), [-1.0, 0.0, 2.0, 2.0, -1.0, -1.0, -1.0, -1.0]);
        assert_eq!(changes(&bias, &[1, 3]), [-3.0, -2.0, 0.0, -3.0, 3.0, -3.0, -3.0, -3.0]);
        assert_eq!(changes(&bias, &[2, 4]), [0.0, 1.0, 3.0, -6.0, -6.0, -6.0, 0.0, 0.0]);
        let total = |tokens: &[i64]| bias.total(tokens) / f64::from(BONUS);
        for (tokens, expected) in [(&[2, 4, 0][..], 6.0), (&[2, 4, 5], 0.0), (&[2, 4, 7, 6, 1, 0], 6.0)] {
            assert!((total(tokens) - expected).abs() < 1e-6, "{tokens:?}");
        }
    }
}
