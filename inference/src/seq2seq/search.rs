//! Beam search over the logits of each next token.
//!
//! The search gives the same tokens as the transformers library. There are twice as many candidates as beams,
//! and finished sequences are ranked by their log-probability divided by a power of their length.

use std::sync::Arc;

use super::{
    constraints::{Copies, forbid},
    term_bias::TermBias,
    tokens::Tokens,
    words::{Place, SourceWords},
};
use crate::{
    cast::count,
    generation::{Generation, TokenId},
    manifest::{Manifest, ManifestError},
    runtime::{Array, RuntimeError},
    scores::log_total,
};

/// A source of the next tokens' logits: [`super::network::DecoderState`], or a table in a test.
pub(crate) trait Steps {
    /// Adds one token to each row. Returns the logits of the token after it: `[rows, vocabulary]`.
    fn step(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError>;
    /// Replaces the batch by these of its rows.
    fn reorder(&mut self, rows: &[usize]) -> Result<(), RuntimeError>;
}

impl Steps for super::network::DecoderState<'_> {
    fn step(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError> {
        self.step(tokens)
    }

    fn reorder(&mut self, rows: &[usize]) -> Result<(), RuntimeError> {
        self.reorder(rows)
    }
}

/// The parameters of generation, with the names of the transformers library. Tokens are given by their ids.
#[derive(Debug, Clone)]
pub(crate) struct GenerationConfig {
    /// The number of beams for each source. With 1, each token is the likeliest one (greedy search).
    pub(crate) num_beams: usize,
    /// A finished sequence's log-probability is divided by its length to the power of this exponent.
    pub(crate) length_penalty: f64,
    /// An n-gram with this number of tokens is not generated twice. 0 turns the rule off.
    pub(crate) no_repeat_ngram_size: usize,
    /// The largest number of tokens, without the first one.
    pub(crate) max_new_tokens: usize,
    /// The first token of every sequence.
    pub(crate) decoder_start_token_id: i64,
    /// The token that ends a sequence.
    pub(crate) eos_token_id: i64,
    /// The token after the first one, such as that of the target language.
    pub(crate) forced_bos_token_id: Option<i64>,
    /// Tokens that are generated only within a key term.
    pub(crate) suppress_tokens: Vec<i64>,
}

/// A sequence that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sequence {
    /// From the token behind the start up to and with the end.
    pub(crate) tokens: Vec<i64>,
    /// The sum of the tokens' log-probabilities.
    pub(crate) log_prob: f64,
    /// By which sequences are ranked: the sum, divided by a power of the length.
    pub(super) score: f64,
    /// The mean log-probability of the source's tokens, given the sequence; 0 until [`super::reverse`] has measured it.
    pub(super) reverse: f64,
}

impl Sequence {
    /// The mean log-probability of the tokens behind the first `n_forced`; `None` if there are none.
    pub(super) fn mean_log_prob(&self, n_forced: usize) -> Option<f64> {
        let n_tokens = count(self.tokens.len().saturating_sub(n_forced));
        (n_tokens > 0.0).then(|| self.log_prob / n_tokens)
    }
}

/// A sequence being considered.
#[derive(Debug, Clone)]
struct Beam {
    /// The tokens with the start token.
    tokens: Vec<i64>,
    log_prob: f64,
}

/// The tokens that may follow a beam.
struct Next<'a> {
    /// The score of each token, minus infinity where it is suppressed.
    scores: &'a [f32],
    /// A token's log-probability is its score less this.
    log_total: f64,
    /// The words that the beam may consist of, and where in them it is; none where the token is forced.
    words: Option<(&'a SourceWords, Place)>,
}

impl Next<'_> {
    /// Whether the words allow a token here.
    fn allows(&self, token: i64) -> bool {
        self.words.as_ref().is_none_or(|(words, place)| words.allow(place, token))
    }
}

/// The search for one source.
struct Source<'a> {
    /// What its translation must and must not have.
    copies: &'a Copies,
    /// The index of the source in the batch.
    place: usize,
    beams: Vec<Beam>,
    /// With their scores, as many as there are beams at most.
    finished: Vec<(f64, Beam)>,
}

/// The best sequence for one source, in which terms may be preferred. Its log-probability is with their bonuses.
pub(crate) fn search(
    steps: &mut impl Steps,
    terms: Option<&Arc<TermBias>>,
    config: &GenerationConfig,
) -> Result<Sequence, RuntimeError> {
    let copies = terms.map_or_else(Copies::default, |terms| Copies::preferring(terms.clone()));
    Ok(constrained(steps, &[copies], config)?.pop().map(first).unwrap_or_default())
}

/// The sequence with the highest score.
pub(super) fn first(found: Vec<Sequence>) -> Sequence {
    found.into_iter().next().unwrap_or_default()
}

/// The sequences for each source, at most as many as there are beams and the best first, given what a translation must
/// and must not have.
pub(super) fn constrained(
    steps: &mut impl Steps,
    copies: &[Copies],
    config: &GenerationConfig,
) -> Result<Vec<Vec<Sequence>>, RuntimeError> {
    let start = Beam { tokens: vec![config.decoder_start_token_id], log_prob: 0.0 };
    let begun = |(place, copies)| Source { copies, place, beams: vec![start.clone()], finished: Vec::new() };
    let mut open: Vec<Source> = copies.iter().enumerate().map(begun).collect();
    let mut found = vec![Vec::new(); copies.len()];
    for n_tokens in 1..=config.max_new_tokens {
        let last = open.iter().flat_map(|s| &s.beams).filter_map(|b| b.tokens.last().copied());
        let mut logits = steps.step(&last.collect::<Vec<i64>>())?;
        let vocabulary = logits.shape.last().copied().unwrap_or(0).max(1);
        let mut rows = logits.values.chunks_exact_mut(vocabulary);
        let mut kept = Vec::with_capacity(open.len());
        let mut chosen = Vec::new();
        let mut row = 0;
        for mut source in open {
            let n_rows = source.beams.len();
            let given = rows.by_ref().take(n_rows).zip(&source.beams);
            let next: Vec<Next> = given.map(|(r, b)| config.next(r, b, source.copies)).collect();
            let parents = source.extend(&next, n_tokens, config);
            if n_tokens == config.max_new_tokens || source.is_done(n_tokens, config) {
                let place = source.place;
                found[place] = source.found();
            } else {
                chosen.extend(parents.into_iter().map(|parent| row + parent));
                kept.push(source);
            }
            row += n_rows;
        }
        open = kept;
        if open.is_empty() {
            break;
        }
        steps.reorder(&chosen)?;
    }
    Ok(found)
}

impl GenerationConfig {
    /// A manifest's `[generation]`, checked, with its tokens as ids.
    pub(crate) fn read(
        manifest: &Manifest,
        tokens: &Tokens,
        generation: &Generation,
    ) -> Result<Self, ManifestError> {
        let lengths = [generation.max_new_tokens, generation.max_source_length];
        if !(1..=32).contains(&generation.num_beams) || lengths.iter().any(|n| !(1..=1024).contains(n)) {
            let expected = "expected num_beams of 1 to 32, max_new_tokens and max_source_length of 1 to 1024";
            return Err(manifest.inconsistent(format!("generation: {expected}")));
        }
        let id = |token: &TokenId| tokens.id(manifest, token);
        Ok(Self {
            num_beams: generation.num_beams,
            length_penalty: generation.length_penalty,
            no_repeat_ngram_size: generation.no_repeat_ngram_size,
            max_new_tokens: generation.max_new_tokens,
            decoder_start_token_id: id(&generation.decoder_start_token_id)?,
            eos_token_id: id(&generation.eos_token_id)?,
            forced_bos_token_id: None,
            suppress_tokens: Vec::new(),
        })
    }

    /// What may follow a beam, by its logits.
    fn next<'a>(&self, logits: &'a mut [f32], beam: &Beam, copies: &'a Copies) -> Next<'a> {
        let mut log_total = log_total(logits);
        forbid(logits, &repeats(&beam.tokens, self.no_repeat_ngram_size));
        if !self.suppress_tokens.is_empty() {
            forbid(logits, &copies.outside_terms(&self.suppress_tokens, &beam.tokens));
        }
        let forced = self.forced_bos_token_id.filter(|_| beam.tokens.len() == 1);
        let words = if forced.is_some() { None } else { copies.place(&beam.tokens) };
        if let Some(forced) = forced.and_then(|f| usize::try_from(f).ok()) {
            logits.fill(f32::NEG_INFINITY);
            logits.iter_mut().skip(forced).take(1).for_each(|score| *score = 0.0);
            log_total = 0.0;
        } else {
            copies.apply(logits, &beam.tokens, self.eos_token_id);
        }
        Next { scores: logits, log_total, words }
    }

    fn ranked(&self, log_prob: f64, n_tokens: usize) -> f64 {
        log_prob / count(n_tokens).powf(self.length_penalty)
    }
}

impl Source<'_> {
    /// The best continuations of all beams, the likeliest first: their log-probabilities, the index of the beam, and the
    /// token. If no token that the words allow may follow any beam, others do.
    fn candidates(&self, next: &[Next], n_candidates: usize) -> Vec<(f64, usize, i64)> {
        let among = |only_words: bool| {
            let mut candidates: Vec<(f64, usize, i64)> = Vec::with_capacity(n_candidates + 1);
            for (parent, (beam, next)) in self.beams.iter().zip(next).enumerate() {
                let before = beam.log_prob - next.log_total;
                // What a score must exceed.
                let least_of = |candidates: &[(f64, usize, i64)]| {
                    candidates.get(n_candidates - 1).map_or(f64::NEG_INFINITY, |(worst, ..)| worst - before)
                };
                let mut least = least_of(&candidates);
                for (score, token) in next.scores.iter().zip(0i64..) {
                    let score = f64::from(*score);
                    if score > least && (!only_words || next.allows(token)) {
                        let log_prob = before + score;
                        let rank = candidates.partition_point(|(better, ..)| *better >= log_prob);
                        candidates.insert(rank, (log_prob, parent, token));
                        candidates.truncate(n_candidates);
                        least = least_of(&candidates);
                    }
                }
            }
            candidates
        };
        Some(among(true)).filter(|candidates| !candidates.is_empty()).unwrap_or_else(|| among(false))
    }

    /// Keeps the best continuations. Returns, for each, the index of the beam that it continues. The last
    /// allowed token finishes all sequences.
    fn extend(&mut self, next: &[Next], n_tokens: usize, config: &GenerationConfig) -> Vec<usize> {
        let n_candidates = if config.num_beams == 1 { 1 } else { 2 * config.num_beams };
        let candidates = self.candidates(next, n_candidates);
        let mut beams = Vec::with_capacity(config.num_beams);
        let mut parents = Vec::with_capacity(config.num_beams);
        for (rank, (log_prob, parent, token)) in candidates.into_iter().enumerate() {
            let mut tokens = self.beams[parent].tokens.clone();
            tokens.push(token);
            if token == config.eos_token_id || n_tokens == config.max_new_tokens {
                if rank < config.num_beams {
                    self.finished.push((config.ranked(log_prob, n_tokens), Beam { tokens, log_prob }));
                }
            } else if beams.len() < config.num_beams {
                beams.push(Beam { tokens, log_prob });
                parents.push(parent);
            }
        }
        self.finished.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.finished.truncate(config.num_beams);
        self.beams = beams;
        parents
    }

    /// Whether no unfinished beam can become better than the finished sequences.
    fn is_done(&self, n_tokens: usize, config: &GenerationConfig) -> bool {
        let Some(open) = self.beams.first() else { return true };
        match self.finished.last() {
            Some((worst, _)) if self.finished.len() >= config.num_beams => {
                *worst >= config.ranked(open.log_prob, n_tokens)
            }
            _ => false,
        }
    }

    /// What is finished.
    fn found(self) -> Vec<Sequence> {
        let sequence = |(score, Beam { tokens, log_prob }): (f64, Beam)| Sequence {
            tokens: tokens[1..].to_vec(),
            log_prob,
            score,
            reverse: 0.0,
        };
        self.finished.into_iter().map(sequence).collect()
    }
}

/// The tokens that would repeat an n-gram of `n` tokens.
fn repeats(tokens: &[i64], n: usize) -> Vec<i64> {
    if n == 0 || tokens.len() < n {
        return Vec::new();
    }
    let ending = &tokens[tokens.len() + 1 - n..];
    tokens.windows(n).filter(|w| w[..n - 1] == *ending).filter_map(|w| w.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the probabilities of the end token, a and b at each step, whatever the tokens before are.
    struct Table(Vec<[f32; 3]>, usize);

    impl Steps for Table {
        fn step(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError> {
            let row = self.0[self.1.min(self.0.len() - 1)].map(f32::ln);
            self.1 += 1;
            Ok(Array { shape: vec![tokens.len(), 3], values: row.repeat(tokens.len()) })
        }

        fn reorder(&mut self, _: &[usize]) -> Result<(), RuntimeError> {
            Ok(())
        }
    }

    fn config(num_beams: usize) -> GenerationConfig {
        GenerationConfig {
            num_beams,
            length_penalty: 1.0,
            no_repeat_ngram_size: 0,
            max_new_tokens: 6,
            decoder_start_token_id: 9,
            eos_token_id: 0,
            forced_bos_token_id: None,
            suppress_tokens: Vec::new(),
        }
    }

    fn best(table: &[[f32; 3]], config: &GenerationConfig) -> Vec<i64> {
        search(&mut Table(table.to_vec(), 0), None, config).unwrap().tokens
    }

    #[test]
    fn the_tokens_log_probabilities_are_summed() {
        let table = vec![[0.1, 0.6, 0.3], [0.1, 0.6, 0.3], [0.9, 0.05, 0.05]];
        for num_beams in [1, 4] {
            let found = search(&mut Table(table.clone(), 0), None, &config(num_beams)).unwrap();
            let expected = (0.6_f64 * 0.6 * 0.9).ln();
            assert!((found.log_prob - expected).abs() < 1e-6, "{num_beams} beams: {found:?}");
        }
    }

    #[test]
    fn forced_and_repeated_tokens_follow_the_rules() {
        let table = [[0.1, 0.6, 0.3], [0.1, 0.6, 0.3], [0.9, 0.05, 0.05]];
        for num_beams in [1, 4] {
            assert_eq!(best(&table, &config(num_beams)), [1, 1, 0]);
            assert_eq!(
                best(&table, &GenerationConfig { forced_bos_token_id: Some(2), ..config(num_beams) }),
                [2, 1, 0]
            );
            let once = best(&table, &GenerationConfig { no_repeat_ngram_size: 1, ..config(num_beams) });
            assert!(once.iter().zip(&once[1..]).all(|(a, b)| a != b), "{once:?}");
            assert_eq!(best(&table, &GenerationConfig { max_new_tokens: 2, ..config(num_beams) }), [1, 1]);
        }
    }

    #[test]
    fn beam_search_finds_a_likelier_sequence_than_greedy_search() {
        /// The token after `a` is uncertain, and the token after `b` is almost surely the end. So `b` is the
        /// better start, although `a` is likelier at first.
        struct Trap;
        impl Steps for Trap {
            fn step(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError> {
                let row = |t: &i64| match t {
                    9 => [0.001, 0.55, 0.449],
                    1 => [0.34, 0.33, 0.33],
                    _ => [0.98, 0.01, 0.01],
                };
                let values = tokens.iter().flat_map(row).map(f32::ln).collect();
                Ok(Array { shape: vec![tokens.len(), 3], values })
            }
            fn reorder(&mut self, _: &[usize]) -> Result<(), RuntimeError> {
                Ok(())
            }
        }
        let best = |n: usize, num_beams: usize| {
            let found = constrained(&mut Trap, &vec![Copies::default(); n], &config(num_beams)).unwrap();
            found.into_iter().map(|found| first(found).tokens).collect::<Vec<_>>()
        };
        assert_eq!(best(1, 1), [[1, 0]]);
        assert_eq!(best(2, 3), [[2, 0], [2, 0]]);
    }

    #[test]
    fn where_no_word_can_be_finished_another_is_taken() {
        let texts = [" ", "a", "b"];
        let table = [[0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.9, 0.05, 0.05]];
        let found = |list: &[(&str, u64)]| {
            let copies = [Copies::among(SourceWords::test(list, &texts, ""))];
            let found = constrained(&mut Table(table.to_vec(), 0), &copies, &config(2)).unwrap();
            found.into_iter().map(|found| first(found).tokens).collect::<Vec<_>>()
        };
        assert_eq!(found(&[("ab", 0), ("b", 0)]), [[1, 2, 0]]);
        assert_eq!(found(&[("a", 0), ("b", 0)]), [vec![1, 0]]);
        assert_eq!(found(&[("ac", 0)]).len(), 1);
        assert!(!found(&[("ac", 0)])[0].is_empty());
    }

    #[test]
    fn tokens_that_would_repeat_an_n_gram_are_found() {
        assert_eq!(repeats(&[1, 2, 3, 1, 2], 3), [3]);
        assert_eq!(repeats(&[1, 2, 3, 1], 3), [0; 0]);
        assert_eq!(repeats(&[5, 5], 1), [5, 5]);
        assert_eq!(repeats(&[5], 3), [0; 0]);
        assert_eq!(repeats(&[5, 5], 0), [0; 0]);
    }
}
