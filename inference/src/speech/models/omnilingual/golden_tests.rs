//! Compares tokens with those of sherpa-onnx, on a tiny model in the files that are published, which `training/fixtures`
//! makes.

use serde::Deserialize;

use super::Omnilingual;
use crate::{
    key_terms::KeyTerms,
    manifest::Manifest,
    speech::{
        Chunker, Joiner,
        ctc::Units,
        models::{self, SpeechModel, WindowInput},
        words::{Transcript, text},
    },
    testing::{golden, manifest_of, runtime, signal},
};

#[derive(Deserialize)]
struct Golden {
    float32: Vec<Case>,
    int8: Vec<Case>,
    long: [Long; 1],
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    n_samples: usize,
    #[serde(flatten)]
    tokens: Tokens,
}

#[derive(Deserialize)]
struct Tokens {
    ids: Vec<usize>,
    frames: Vec<usize>,
}

/// A recording of more than one window.
#[derive(Deserialize)]
struct Long {
    seed: u64,
    n_samples: usize,
    /// What sherpa-onnx writes, to whom the recording is one window.
    text: String,
    windows: Vec<LongWindow>,
}

#[derive(Deserialize)]
struct LongWindow {
    range: (usize, usize),
    #[serde(flatten)]
    tokens: Tokens,
}

fn manifest(model: &str) -> Manifest {
    let files: &[_] = match model {
        "int8" => &[("model", "model.int8.onnx"), ("vocab", "tokens.txt")],
        _ => &[("model", "model.onnx"), ("model-weights", "model.weights"), ("vocab", "tokens.txt")],
    };
    manifest_of("omnilingual", "omnilingual", "language = 'pa'", files)
}

fn transcribe(model: &mut dyn SpeechModel, samples: &[f32]) -> Transcript {
    let features = model.front_end().features(samples);
    let window = WindowInput { features: &features, terms: &KeyTerms::default() };
    model.infer(&[window], "pa").unwrap().remove(0).decode(&KeyTerms::default())
}

fn assert_tokens(given: &Transcript, expected: &Tokens, units: &Units, what: &str) {
    let given: Vec<_> = given.tokens.iter().map(|token| (token.text.as_str(), token.frame)).collect();
    let expected = expected.ids.iter().zip(&expected.frames).map(|(id, frame)| (units.text(*id), *frame));
    assert_eq!(given, expected.collect::<Vec<_>>(), "{what}");
}

#[test]
fn tokens_and_their_frames_equal_those_of_sherpa_onnx() {
    let Golden { float32, int8, .. } = golden("omnilingual/golden.json");
    for (name, cases) in [("float32", float32), ("int8", int8)] {
        let manifest = manifest(name);
        let units = Units::read(&manifest).unwrap();
        let mut model = models::load(runtime(), &manifest, 1).unwrap();
        assert_eq!(cases.len(), 20);
        for Case { seed, n_samples, tokens } in cases {
            let given = transcribe(&mut *model, &signal(seed, n_samples));
            assert_eq!(given.blanks.len(), (n_samples - 400) / 320 + 1);
            assert_tokens(&given, &tokens, &units, &format!("{name}, seed {seed}"));
        }
    }
}

#[test]
fn the_windows_of_a_long_recording_join_into_the_text_of_the_whole() {
    let [Long { seed, n_samples, text: whole, windows: expected }] =
        golden::<Golden>("omnilingual/golden.json").long;
    let manifest = manifest("float32");
    let units = Units::read(&manifest).unwrap();
    let mut model = models::load(runtime(), &manifest, 1).unwrap();
    let mut chunker = Chunker::new(model.clock().grid);
    let mut joiner = Joiner::new(model.clock());
    let mut windows = chunker.push(&signal(seed, n_samples));
    windows.extend(chunker.finish());
    assert_eq!((windows.len(), expected.len()), (3, 3));
    for (window, LongWindow { range, tokens }) in windows.iter().zip(&expected) {
        assert_eq!((window.start, window.start + window.samples.len()), *range);
        let transcript = transcribe(&mut *model, &window.samples);
        assert_tokens(&transcript, tokens, &units, &format!("from {}", window.start));
        joiner.add(window, transcript);
    }
    let whole: Vec<&str> = whole.split_whitespace().collect();
    assert_eq!(text(&joiner.words()), whole.join(" "));
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let error = |tables: &str, vocab: &str| {
        let files = [("model", "model.int8.onnx"), ("vocab", vocab)];
        let manifest = manifest_of("omnilingual", "omnilingual", tables, &files);
        models::load(runtime(), &manifest, 1).err().unwrap().to_string()
    };
    let said = error("language = 'pa'", "../conformer/int8/tokens.txt");
    assert!(said.contains("257 units of its vocab") && said.contains("expected [1, T, 257]"), "{said}");
    let said = error("language = 'pa'", "golden.json");
    assert!(said.contains("vocab is not valid: line "), "{said}");
    let decoding = "[decoding]\nbeam_width = 8\nlm_weight = 0.5\ninsertion_bonus = 0.5\nlatency_s = 0.0";
    assert!(error(decoding, "tokens.txt").contains("expected no [decoding]"));
    let files = [("model", "../whisper_ctc/model.onnx"), ("vocab", "tokens.txt")];
    let other = manifest_of("omnilingual", "omnilingual", "language = 'pa'", &files);
    assert!(models::load(runtime(), &other, 1).is_err(), "a graph with another input");
    let whisper = manifest_of("omnilingual", "whisper-ctc", "", &files);
    assert!(Omnilingual::load(runtime(), &whisper, 1).is_err());
}
