//! Compares results with those of the reference implementation, on tiny models in the real layouts, which
//! `training/fixtures` made.

use serde::Deserialize;

use super::Transducer;
use crate::{
    speech::{
        ctc::Units,
        features::{Features, FrontEnd as _, LogMel},
    },
    testing::{draws, golden, manifest_of, runtime, signal},
};

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

#[test]
fn a_transducer_transcribes_as_the_reference_does() {
    let files = [
        ("encoder", "encoder-model.onnx"),
        ("decoder", "decoder_joint-model.onnx"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    let manifest = manifest_of("transducer/tdt", "nemo-tdt", "", &files);
    let units = Units::read(&manifest).unwrap();
    let mut transducer = Transducer::load(runtime(), &manifest, 1).unwrap();
    let golden: Transduced = golden("transducer/tdt/golden.json");
    let n_mels = transducer.config.features_size;
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
                "seed {}",
                expected.seed
            );
            assert_eq!(given.blanks.len(), expected.n_encoded);
        }
    }
}
