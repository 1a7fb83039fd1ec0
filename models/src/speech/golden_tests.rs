//! Against the reference implementations of `models/training/speech`: their golden files are what
//! `speech.golden` wrote.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    align::align,
    beam::{self, Weights},
    features::LogMel,
    ngram::LanguageModel,
};

fn read<T: DeserializeOwned>(name: &str) -> T {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/speech");
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).unwrap()
}

fn floats(text: &str) -> Vec<f32> {
    bytes(text).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[derive(Deserialize)]
struct Heard {
    samples: String,
    features: String,
}

#[test]
fn features_are_those_of_the_reference() {
    let signals: std::collections::BTreeMap<String, Heard> = read("log-mel.json");
    assert_eq!(signals.len(), 5);
    for (name, heard) in signals {
        let samples = bytes(&heard.samples);
        let samples: Vec<f32> =
            samples.as_chunks().0.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32768.0).collect();
        let expected = floats(&heard.features);
        let given = LogMel::new(80).features(&samples);
        assert_eq!(given.values.len(), expected.len(), "{name}");
        let apart = given.values.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 2e-3, "{name}: {apart}");
    }
}

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
fn texts_and_their_times_are_those_of_the_reference() {
    let golden: Searched = read("search.json");
    let model = LanguageModel::read(&bytes(&golden.language), golden.units).unwrap();
    let weights = Weights { width: golden.width, language: golden.weight, bonus: golden.bonus };
    assert_eq!(golden.said.len(), 50);
    for (n, said) in golden.said.iter().enumerate() {
        let emissions = floats(&said.emissions);
        let frames: Vec<&[f32]> = emissions.chunks_exact(golden.units + 1).collect();
        assert_eq!(beam::search(frames.iter().copied(), &model, weights), said.units, "text {n}");
        let spans = align(&frames, &said.units).unwrap();
        let first: Vec<usize> = spans.iter().map(|span| span.start).collect();
        assert_eq!(first, said.first, "text {n}");
    }
}
