//! Constraints of the beam search for models with placeholders: which tokens a hypothesis may continue with.

use std::sync::Arc;

use super::{
    placeholders,
    term_bias::TermBias,
    tokens::Tokens,
    words::{Place, SourceWords},
};
use crate::numbers::Language;

/// How often a token may stand in a row.
const LONGEST_RUN: usize = 2;

/// The tokens of a tokeniser that have rules.
#[derive(Debug, Clone)]
pub(super) struct Constraints {
    /// The tokens of each placeholder and reserved character: as a word's beginning, and within a word.
    placeholders: Vec<(char, [i64; 2])>,
    /// Tokens that no translation has: bytes, special tokens, the languages', and those with digits, which a translation
    /// has only through placeholders.
    never: Vec<i64>,
    /// Tokens with Latin letters, which a Panjabi translation has only through placeholders.
    latin: Vec<i64>,
    /// Tokens with Gurmukhi letters.
    gurmukhi: Vec<i64>,
}

impl Constraints {
    /// The constraints of a tokeniser; `None` if it has no placeholders.
    pub(super) fn of(tokens: &Tokens, eos_token_id: i64) -> Option<Self> {
        let pieces = placeholders::reserved()
            .map(|c| Some((c, [tokens.find(&format!("▁{c}"))?, tokens.find(&c.to_string())?])))
            .collect::<Option<Vec<_>>>()?;
        let mut constraints =
            Self { placeholders: pieces, never: Vec::new(), latin: Vec::new(), gurmukhi: Vec::new() };
        for (id, piece) in tokens.pieces() {
            let is_byte = piece.len() == 6 && piece.starts_with("<0x");
            let has_digit = piece.chars().any(|c| c.is_ascii_digit() || ('੦'..='੯').contains(&c));
            if is_byte || has_digit || tokens.is_special(&piece) {
                if id != eos_token_id {
                    constraints.never.push(id);
                }
            } else if piece.chars().any(|c| c.is_ascii_alphabetic()) {
                constraints.latin.push(id);
            } else if piece.chars().any(|c| ('\u{a00}'..='\u{a7f}').contains(&c)) {
                constraints.gurmukhi.push(id);
            }
        }
        Some(constraints)
    }

    /// The rules for the translation of one text. `words` are those that it may consist of; any without them.
    pub(super) fn copies(
        &self,
        required: &[char],
        to: Option<Language>,
        words: Option<SourceWords>,
    ) -> Copies {
        let (required, other): (Vec<_>, Vec<_>) =
            self.placeholders.iter().copied().partition(|(c, _)| required.contains(c));
        let other_script = match to {
            Some(Language::English) => self.gurmukhi.as_slice(),
            Some(Language::Panjabi) => self.latin.as_slice(),
            None => &[],
        };
        let other = other.into_iter().flat_map(|(_, ids)| ids);
        Copies {
            required: required.into_iter().map(|(_, ids)| ids).collect(),
            never: other.chain(self.never.iter().chain(other_script).copied()).collect(),
            longest_run: Some(LONGEST_RUN),
            terms: None,
            words,
        }
    }
}

/// What the translation of one text must and must not have. Without rules, everything is allowed.
#[derive(Debug, Clone, Default)]
pub(super) struct Copies {
    /// The two tokens of each placeholder that the translation must have exactly once.
    required: Vec<[i64; 2]>,
    /// Tokens that it must not have.
    never: Vec<i64>,
    /// How often a token may stand in a row; any number of times without it.
    longest_run: Option<usize>,
    /// Terms that are preferred.
    terms: Option<Arc<TermBias>>,
    /// The words that it may consist of.
    words: Option<SourceWords>,
}

impl Copies {
    /// The rules for a text in which terms are preferred.
    pub(super) fn preferring(terms: Arc<TermBias>) -> Self {
        Self { terms: Some(terms), ..Self::default() }
    }

    /// The rules for a text whose translation consists of words.
    #[cfg(test)]
    pub(super) fn among(words: SourceWords) -> Self {
        Self { words: Some(words), ..Self::default() }
    }

    /// Those of some tokens that would not go on in a key term behind `tokens`.
    pub(super) fn outside_terms(&self, some: &[i64], tokens: &[i64]) -> Vec<i64> {
        let within = self.terms.as_ref().map(|terms| terms.further(tokens.get(1..).unwrap_or_default()));
        let within = within.unwrap_or_default();
        some.iter().copied().filter(|token| !within.contains(token)).collect()
    }

    /// Where in the words a translation of these tokens is.
    pub(super) fn place(&self, tokens: &[i64]) -> Option<(&SourceWords, Place)> {
        self.words.as_ref().map(|words| (words, words.place(tokens)))
    }

    /// Sets the scores of tokens that may not follow `tokens` to minus infinity, but for those that [`Self::place`] does not
    /// allow: a search asks about these when it would take them, since there are too many to ask about each.
    ///
    /// While a placeholder is missing, the text cannot end; where its end is likeliest, a missing placeholder follows.
    pub(super) fn apply(&self, scores: &mut [f32], tokens: &[i64], eos_token_id: i64) {
        forbid(scores, &self.never);
        if let Some(terms) = &self.terms {
            terms.apply(scores, tokens.get(1..).unwrap_or_default());
        }
        if let (Some(last), Some(longest)) = (tokens.last(), self.longest_run)
            && tokens.iter().rev().take_while(|token| *token == last).count() >= longest
        {
            forbid(scores, &[*last]);
        }
        if self.required.is_empty() {
            return;
        }
        let (present, missing): (Vec<[i64; 2]>, Vec<[i64; 2]>) =
            self.required.iter().copied().partition(|ids| ids.iter().any(|id| tokens.contains(id)));
        forbid(scores, present.as_flattened());
        let missing = missing.as_flattened();
        if missing.is_empty() {
            return;
        }
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let end = usize::try_from(eos_token_id).ok().and_then(|id| scores.get(id)).copied();
        if end.is_some_and(|end| end >= best) {
            for (score, id) in scores.iter_mut().zip(0i64..) {
                if !missing.contains(&id) {
                    *score = f32::NEG_INFINITY;
                }
            }
        } else {
            forbid(scores, &[eos_token_id]);
        }
    }
}

/// Sets the scores of these tokens to minus infinity.
pub(super) fn forbid(scores: &mut [f32], tokens: &[i64]) {
    for token in tokens {
        if let Some(score) = usize::try_from(*token).ok().and_then(|t| scores.get_mut(t)) {
            *score = f32::NEG_INFINITY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f32 = f32::NEG_INFINITY;

    fn applied(scores: [f32; 6], tokens: &[i64]) -> Vec<f32> {
        // 0 ends a text, 1 and 2 are a placeholder, 3 and 4 another one, 5 is a word that is not allowed.
        let copies = Copies {
            required: vec![[1, 2], [3, 4]],
            never: vec![5],
            longest_run: Some(2),
            ..Copies::default()
        };
        let mut scores = scores.to_vec();
        copies.apply(&mut scores, tokens, 0);
        scores
    }

    #[test]
    fn a_text_ends_only_with_all_placeholders_and_has_each_once() {
        let scores = [-2.0, -1.0, -3.0, -4.0, -5.0, -0.1];
        assert_eq!(applied(scores, &[9]), [NO, -1.0, -3.0, -4.0, -5.0, NO]);
        assert_eq!(applied(scores, &[9, 2, 9]), [NO, NO, NO, -4.0, -5.0, NO]);
        assert_eq!(applied(scores, &[9, 2, 3]), [-2.0, NO, NO, NO, NO, NO]);
        let ending = [-0.5, -1.0, -3.0, -4.0, -5.0, -0.1];
        assert_eq!(applied(ending, &[1]), [NO, NO, NO, -4.0, -5.0, NO]);
    }

    #[test]
    fn a_token_does_not_follow_itself_without_end() {
        let copies = Copies { longest_run: Some(2), ..Copies::default() };
        let allowed = |tokens: &[i64]| {
            let mut scores = vec![-1.0; 3];
            copies.apply(&mut scores, tokens, 0);
            scores
        };
        assert_eq!(allowed(&[9, 2]), [-1.0; 3]);
        assert_eq!(allowed(&[9, 2, 1, 2]), [-1.0; 3]);
        assert_eq!(allowed(&[9, 2, 2]), [-1.0, -1.0, NO]);
    }

    #[test]
    fn without_rules_nothing_changes() {
        let mut scores = [-1.0, -2.0];
        Copies::default().apply(&mut scores, &[1], 0);
        assert_eq!(scores.to_vec(), vec![-1.0, -2.0]);
    }
}
