//! Compares results with those of a reference in numpy, on tiny models in the files that are published, which
//! `training/fixtures` made.

use serde::Deserialize;

use super::load;
use crate::{
    key_terms::KeyTerms,
    manifest::Manifest,
    speech::{ctc::Units, features::Features},
    testing::{apart, draws, golden, manifest_of, runtime},
};

const N_MELS: usize = 80;
/// What `config.json` has, for the models without one.
const CONFIG: &str = "[config]\nsubsampling_factor = 4\n";

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    n_frames: usize,
    units: Vec<usize>,
    starts: Vec<usize>,
    /// Of the first frames.
    #[serde(default)]
    log_probs: Vec<f32>,
}

fn assert_equals_reference(folder: &str, tables: &str, files: &[(&str, &str)]) {
    let manifest = manifest_of(&format!("conformer/{folder}"), "nemo-ctc", tables, files);
    assert_gives_golden(folder, &manifest);
}

fn assert_gives_golden(folder: &str, manifest: &Manifest) {
    let units = Units::read(manifest).unwrap();
    let mut model = load(runtime(), manifest, 1).unwrap();
    let cases = golden::<Golden>(&format!("conformer/{folder}/golden.json")).cases;
    let input = |case: &Case| {
        let values = draws(case.seed, N_MELS * case.n_frames).into_iter().map(|x| 2.0 * x).collect();
        Features { n_mels: N_MELS, n_frames: case.n_frames, values }
    };
    let inputs: Vec<Features> = cases.iter().map(input).collect();
    let all = model.emissions(&inputs.iter().collect::<Vec<_>>()).unwrap();
    for (case, emissions) in cases.iter().zip(all) {
        let values: Vec<f32> = emissions.frames(units.len()).flatten().copied().collect();
        assert_eq!(values.len(), ((case.n_frames - 1) / 4 + 1) * units.len());
        let n_stored = case.log_probs.len().min(values.len());
        assert!(apart(&values[..n_stored], &case.log_probs) <= 1e-4, "{folder}, seed {}", case.seed);
        let transcript = model.decoder().decode(&emissions, &KeyTerms::default());
        let given: Vec<_> = transcript.tokens.iter().map(|token| (&*token.text, token.frame)).collect();
        let expected = case.units.iter().zip(&case.starts).map(|(unit, start)| (units.text(*unit), *start));
        assert_eq!(given, expected.collect::<Vec<_>>(), "{folder}, seed {}", case.seed);
    }
}

#[test]
fn weights_may_lie_in_a_file_beside_the_graph() {
    let files = [
        ("model", "model.onnx"),
        ("model-weights", "model.onnx_data"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    assert_equals_reference("float32", "", &files);
}

#[test]
fn a_quantised_model_gives_the_numbers_of_the_reference() {
    assert_equals_reference("int8", CONFIG, &[("model", "model.int8.onnx"), ("vocab", "tokens.txt")]);
}

#[test]
fn of_a_model_for_22_languages_only_panjabi_is_heard() {
    assert_equals_reference("languages", CONFIG, &[("model", "model.int8.onnx"), ("vocab", "vocab.txt")]);
}

/// The model in two graphs, with this table.
fn in_two_graphs(config: &str) -> Manifest {
    let files = [
        ("encoder", "two-graphs/encoder-model.onnx"),
        ("encoder-weights", "two-graphs/encoder-model.onnx.data"),
        ("head", "two-graphs/ctc_decoder-model.onnx"),
        ("vocab", "languages/vocab.txt"),
    ];
    manifest_of("conformer", "indic-conformer", config, &files)
}

#[test]
fn a_model_in_two_graphs_gives_the_numbers_of_the_reference() {
    assert_gives_golden("two-graphs", &in_two_graphs(CONFIG));
}

#[test]
fn a_subsampling_factor_that_is_not_the_models_is_refused() {
    let window = Features { n_mels: N_MELS, n_frames: 9, values: draws(1, N_MELS * 9) };
    let mut model = load(runtime(), &in_two_graphs("[config]\nsubsampling_factor = 8\n"), 1).unwrap();
    let error = model.emissions(&[&window]).unwrap_err().to_string();
    assert!(error.contains("encoded_lens is [3.0]: expected [2] by the subsampling_factor"), "{error}");
}

#[test]
fn a_vocab_of_panjabi_alone_fits_a_model_for_22_languages_and_no_other_does() {
    let window = Features { n_mels: N_MELS, n_frames: 9, values: draws(1, N_MELS * 9) };
    let emissions = |vocab| {
        let files = [("model", "languages/model.int8.onnx"), ("vocab", vocab)];
        let manifest = manifest_of("conformer", "nemo-ctc", CONFIG, &files);
        load(runtime(), &manifest, 1).unwrap().emissions(&[&window])
    };
    let given = emissions("int8/tokens.txt").unwrap();
    assert_eq!(given, emissions("languages/vocab.txt").unwrap());
    let error = emissions("../transducer/tdt/vocab.txt").unwrap_err().to_string();
    assert!(error.contains("expected [1, T, ") && error.contains("5633"), "{error}");
}
