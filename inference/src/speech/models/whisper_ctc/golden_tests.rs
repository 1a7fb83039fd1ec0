//! Compares results with those of the reference: a tiny model in the layout, which `training/fixtures` makes,
//! transformers' features, and the search of another implementation.

use serde::Deserialize;

use super::load;
use crate::{
    key_terms::KeyTerms,
    manifest::Manifest,
    speech::models::{self, SpeechModel as _, ctc::CtcModel},
    testing::{apart, golden, manifest_of, runtime, signal},
};

#[derive(Deserialize)]
struct Golden {
    lm_weight: f64,
    insertion_bonus: f64,
    beam_width: usize,
    every_score: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    n_samples: usize,
    n_frames: usize,
    text: String,
    first: Vec<usize>,
    #[serde(default)]
    scores: Vec<f32>,
}

fn reference() -> Golden {
    golden("whisper_ctc/golden.json")
}

fn manifest() -> Manifest {
    let golden = reference();
    manifest_with(golden.lm_weight, golden.insertion_bonus, "")
}

/// A manifest with these weights and further tables.
fn manifest_with(lm_weight: f64, insertion_bonus: f64, tables: &str) -> Manifest {
    let files = [
        ("model", "model.onnx"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
        ("language-model", "language.lm"),
    ];
    let beam_width = reference().beam_width;
    let decoding = format!(
        "[decoding]\nbeam_width = {beam_width}\nlm_weight = {lm_weight:?}\n\
         insertion_bonus = {insertion_bonus:?}\nlatency_s = 0.0\n{tables}"
    );
    manifest_of("whisper_ctc", "whisper-ctc", &decoding, &files)
}

#[test]
fn texts_and_their_times_equal_those_of_the_reference() {
    let golden = reference();
    let mut model = load(runtime(), &manifest(), 1).unwrap();
    assert!(golden.cases.len() >= 50);
    assert!(golden.cases.iter().filter(|case| !case.scores.is_empty()).count() >= 8);
    for case in &golden.cases {
        let window = model.front_end().features(&signal(case.seed, case.n_samples));
        let emissions = model.emissions(&[&window]).unwrap().remove(0);
        let given: Vec<f32> = emissions.frames(1).flatten().copied().collect();
        assert_eq!(given.len(), case.n_frames * model.decoder().n_units(), "seed {}", case.seed);
        if !case.scores.is_empty() {
            let kept: Vec<f32> = given.into_iter().step_by(golden.every_score).collect();
            let apart = apart(&kept, &case.scores);
            assert!(apart < 1e-3, "seed {}: {apart}", case.seed);
        }
        let transcript = model.decoder().decode(&emissions, &KeyTerms::default());
        let text: String = transcript.tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(text, case.text, "seed {}", case.seed);
        let first: Vec<usize> = transcript.tokens.iter().map(|token| token.frame).collect();
        assert_eq!(first, case.first, "seed {}", case.seed);
        assert_eq!(transcript.blanks.len(), case.n_frames);
    }
}

#[test]
fn one_frame_is_enough() {
    let mut model = load(runtime(), &manifest(), 1).unwrap();
    let window = model.front_end().features(&[0.1; 160]);
    assert_eq!(window.n_frames, 1);
    let emissions = model.emissions(&[&window]).unwrap().remove(0);
    assert_eq!(emissions.frames(model.decoder().n_units()).count(), 1);
}

/// The settings of a model that is never, or always, probably wrong.
fn confidence(low: f64) -> String {
    format!("[confidence]\nintercept = 0\nacoustic = 1\nlanguage = 1\nlow = {low:?}\nlm_weight = 0.05")
}

#[test]
fn a_text_that_is_probably_wrong_is_searched_again_with_less_language_model() {
    let Golden { lm_weight, insertion_bonus, cases, .. } = reference();
    let load = |manifest: &Manifest| load(runtime(), manifest, 1).unwrap();
    let [mut plain, less] =
        [load(&manifest()), load(&manifest_with(0.05, insertion_bonus * 0.05 / lm_weight, ""))];
    let [never, always] =
        [0.0, 1.0].map(|low| load(&manifest_with(lm_weight, insertion_bonus, &confidence(low))));
    let mut n_changed = 0;
    for case in &cases {
        let window = plain.front_end().features(&signal(case.seed, case.n_samples));
        let emissions = plain.emissions(&[&window]).unwrap().remove(0);
        let decode = |model: &CtcModel| model.decoder().decode(&emissions, &KeyTerms::default());
        assert_eq!(decode(&never), decode(&plain));
        assert_eq!(decode(&always), decode(&less));
        n_changed += usize::from(decode(&always) != decode(&never));
    }
    assert!(n_changed > 5, "{n_changed}");
}

#[test]
fn confidence_out_of_range_is_refused() {
    let Golden { lm_weight, insertion_bonus, .. } = reference();
    for (from, to, expected) in [
        ("low = 0.5", "low = 1.5", "low from 0 to 1"),
        ("acoustic = 1", "acoustic = -1", "expected weights of 0 to 1000"),
        ("lm_weight = 0.05", "lm_weight = 0.5", "expected less than the 0.5 of [decoding]"),
    ] {
        let tables = confidence(0.5).replace(from, to);
        let manifest = manifest_with(lm_weight, insertion_bonus, &tables);
        let error = models::load(runtime(), &manifest, 1).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn padding_out_of_range_is_refused() {
    let config = std::env::temp_dir().join(format!("akhar-whisper-ctc-{}.json", std::process::id()));
    for padding_s in ["2.5", "-0.1", "1e30"] {
        let text = format!(r#"{{"features_size": 80, "subsampling_factor": 2, "padding_s": {padding_s}}}"#);
        std::fs::write(&config, text).unwrap();
        let files = [("model", "model.onnx"), ("vocab", "vocab.txt"), ("config", config.to_str().unwrap())];
        let manifest = manifest_of("whisper_ctc", "whisper-ctc", "", &files);
        let error = load(runtime(), &manifest, 1).err().unwrap().to_string();
        assert!(error.contains("padding_s") && error.contains("expected 0 to 2"), "{error}");
    }
    std::fs::remove_file(config).unwrap();
}

#[test]
fn another_vocabulary_or_layout_is_refused() {
    let with = |layout: &str, vocab: &str| {
        let files = [("model", "model.onnx"), ("vocab", vocab), ("config", "config.json")];
        manifest_of("whisper_ctc", layout, "", &files)
    };
    let other = with("whisper-ctc", "../transducer/tdt/vocab.txt");
    let mut model = load(runtime(), &other, 1).unwrap();
    let window = model.front_end().features(&signal(1, 16_000));
    let error = model.emissions(&[&window]).err().unwrap().to_string();
    assert!(error.contains("logprobs of the shape [1, 100, 10]"), "{error}");
    assert!(load(runtime(), &with("nemo-ctc", "vocab.txt"), 1).is_err());
}
