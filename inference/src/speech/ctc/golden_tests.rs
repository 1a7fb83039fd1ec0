//! Compares texts and their times with those of the reference implementation that `tests/fixtures/speech/SOURCE.md`
//! describes.

use serde::Deserialize;

use super::{
    align::align,
    beam::{self, Weights},
    ngram::LanguageModel,
};
use crate::testing::{bytes, floats, golden};

#[derive(Deserialize)]
struct Searched {
    units: usize,
    weight: f64,
    bonus: f64,
    width: usize,
    language: String,
    said: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    emissions: String,
    units: Vec<u8>,
    first: Vec<usize>,
}

#[test]
fn texts_and_their_times_equal_those_of_the_reference() {
    let golden: Searched = golden("speech/search.json");
    let model = LanguageModel::read(&bytes(&golden.language), golden.units).unwrap();
    let weights =
        Weights { beam_width: golden.width, lm_weight: golden.weight, insertion_bonus: golden.bonus };
    assert_eq!(golden.said.len(), 50);
    for (n, said) in golden.said.iter().enumerate() {
        let emissions = floats(&said.emissions);
        let frames: Vec<&[f32]> = emissions.chunks_exact(golden.units + 1).collect();
        assert_eq!(beam::search(frames.iter().copied(), &model, weights, None), said.units, "text {n}");
        let spans = align(&frames, &said.units).unwrap();
        let first: Vec<usize> = spans.iter().map(|span| span.start).collect();
        assert_eq!(first, said.first, "text {n}");
    }
}
