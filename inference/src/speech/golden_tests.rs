//! Compares results with those of the reference implementations in `training/speech`. The script
//! `speech.golden` writes the golden files.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    SAMPLE_RATE,
    align::align,
    beam::{self, Weights},
    features::{Features, LogMel},
    ngram::LanguageModel,
    normalise::GlobalCmvn,
    transducer::Transducer,
    units::Units,
};
use crate::testing::{apart, fixtures, manifest_of, runtime};

fn read<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&std::fs::read(fixtures(name)).unwrap()).unwrap()
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).unwrap()
}

fn floats(text: &str) -> Vec<f32> {
    bytes(text).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[derive(Deserialize)]
struct Recording {
    samples: String,
    features: String,
    global_cmvn: Option<GlobalCmvn>,
}

impl Recording {
    fn check(self, name: &str) {
        let samples = bytes(&self.samples);
        let samples: Vec<f32> =
            samples.as_chunks().0.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32768.0).collect();
        let expected = floats(&self.features);
        let given = LogMel::new(80).with_global_cmvn(self.global_cmvn).features(&samples);
        let apart = apart(&given.values, &expected);
        assert!(apart < 2e-3, "{name}: {apart}");
    }
}

#[test]
fn features_equal_those_of_the_reference() {
    let signals: std::collections::BTreeMap<String, Recording> = read("speech/log-mel.json");
    assert_eq!(signals.len(), 5);
    for (name, recording) in signals {
        recording.check(&name);
    }
}

#[test]
fn a_short_recording_is_normalised_with_global_statistics() {
    let recording: Recording = read("speech/global-cmvn.json");
    assert!(recording.global_cmvn.as_ref().is_some_and(|global| global.fits(80)));
    recording.check("vowel");
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
fn texts_and_their_times_equal_those_of_the_reference() {
    let golden: Searched = read("speech/search.json");
    let model = LanguageModel::read(&bytes(&golden.language), golden.units).unwrap();
    let weights =
        Weights { beam_width: golden.width, lm_weight: golden.weight, insertion_bonus: golden.bonus };
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

#[derive(Deserialize)]
struct Transduced {
    features: Vec<Transcript>,
    signals: Vec<Transcript>,
}

#[derive(Deserialize)]
struct Transcript {
    seed: u64,
    #[serde(default)]
    n_frames: usize,
    #[serde(default)]
    n_samples: usize,
    n_encoded: usize,
    tokens: Vec<usize>,
    frames: Vec<usize>,
}

/// Random numbers from -1 to 1, the same as in the fixtures' script: the upper 24 bits of Knuth's linear
/// congruential generator.
#[expect(clippy::cast_precision_loss, reason = "the numbers have 24 bits")]
pub(super) fn draws(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..n).map(|_| draw()).collect()
}

/// Noise whose level changes in steps, added to a sawtooth whose pitch changes in steps.
#[expect(clippy::cast_precision_loss, reason = "the signals last a few seconds")]
pub(super) fn signal(seed: u64, n: usize) -> Vec<f32> {
    let sample = |(n, draw): (usize, f32)| {
        let swell = (n / 800 % 5 + 1) as f32 / 20.0;
        let saw = (n * (110 + 70 * (n / 3200 % 7)) % SAMPLE_RATE) as f32 / SAMPLE_RATE as f32 - 0.5;
        draw * swell + 0.3 * saw
    };
    draws(seed, n).into_iter().enumerate().map(sample).collect()
}

fn assert_equals_reference(kind: &str) {
    let files = [
        ("encoder", "encoder-model.onnx"),
        ("decoder", "decoder_joint-model.onnx"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    let manifest = manifest_of(&format!("transducer/{kind}"), &format!("nemo-{kind}"), "", &files);
    let units = Units::read(&manifest).unwrap();
    let mut transducer = Transducer::load(runtime(), &manifest, 1).unwrap();
    let golden: Transduced = read(&format!("transducer/{kind}/golden.json"));
    let n_mels = transducer.config().features_size;
    let of_features = |t: &Transcript| {
        let values = draws(t.seed, n_mels * t.n_frames).into_iter().map(|x| 2.0 * x).collect();
        Features { n_mels, n_frames: t.n_frames, values }
    };
    let of_signal = |t: &Transcript| LogMel::new(n_mels).features(&signal(t.seed, t.n_samples));
    let inputs: Vec<Features> =
        golden.features.iter().map(of_features).chain(golden.signals.iter().map(of_signal)).collect();
    let expected: Vec<&Transcript> = golden.features.iter().chain(&golden.signals).collect();
    assert!(expected.len() >= 50);
    // Batches of five inputs with different lengths.
    for (inputs, expected) in inputs.chunks(5).zip(expected.chunks(5)) {
        let given = transducer.transcribe(&inputs.iter().collect::<Vec<_>>()).unwrap();
        for (given, expected) in given.iter().zip(expected) {
            let said: Vec<(&str, usize)> = given.tokens.iter().map(|t| (t.text.as_str(), t.frame)).collect();
            let texts = expected.tokens.iter().map(|unit| units.text(*unit));
            assert_eq!(
                said,
                texts.zip(expected.frames.iter().copied()).collect::<Vec<_>>(),
                "{kind}, seed {}",
                expected.seed
            );
            assert_eq!(given.blanks.len(), expected.n_encoded);
        }
    }
}

#[test]
fn a_transducer_with_durations_transcribes_as_the_reference_does() {
    assert_equals_reference("tdt");
}

#[test]
fn a_transducer_without_durations_transcribes_as_the_reference_does() {
    assert_equals_reference("rnnt");
}
