//! Chooses among the translations that a search found by how well the source follows from them: where a translation
//! leaves a word out, that word of the source becomes improbable. The model translates both ways, so it scores its own
//! translations (noisy channel reranking; Yee and others, 2019).

use super::{
    network::Network,
    search::{Sequence, first},
};
use crate::{cast::count, runtime::RuntimeError, scores::log_prob};

/// The one of the translations of a source with the highest sum of its score and `weight` times the mean log-probability
/// of the source given it. The first token of the source, its language, does not count. `start` is the decoder's first
/// token, and `pad` the padding token.
pub(super) fn chosen(
    network: &mut Network,
    found: Vec<Sequence>,
    source: &[i64],
    weight: f64,
    [start, pad]: [i64; 2],
) -> Result<Sequence, RuntimeError> {
    let Some((_, tokens)) = source.split_last().filter(|(_, tokens)| !found.is_empty() && !tokens.is_empty())
    else {
        return Ok(first(found));
    };
    let translations: Vec<Vec<i64>> = found.iter().map(|sequence| sequence.tokens.clone()).collect();
    let given: Vec<i64> = [start].iter().chain(tokens).copied().collect();
    let logits = network.encode(&translations, pad)?.run(&given.repeat(found.len()))?;
    let vocabulary = logits.shape.last().copied().unwrap_or(0).max(1);
    let steps: Vec<&[f32]> = logits.values.chunks_exact(vocabulary).collect();
    let n_tokens = count(tokens.len());
    let total = |(sequence, steps): (Sequence, &[&[f32]])| {
        let reverse: f64 = steps.iter().zip(source).skip(1).map(|(step, token)| log_prob(step, *token)).sum();
        let reverse = reverse / n_tokens;
        (sequence.score + weight * reverse, Sequence { reverse, ..sequence })
    };
    let totals = found.into_iter().zip(steps.chunks_exact(given.len())).map(total);
    Ok(totals.max_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Sequence::default, |(_, sequence)| sequence))
}
