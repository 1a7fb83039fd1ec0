//! Runs rewritten models and compares with numpy, and rewrites files with unknown fields and damaged ones.

use std::fs;

use bytes::Bytes;
use proptest::prelude::*;
use serde::Deserialize;

use super::{
    graph::rewritten,
    proto::number,
    wire::{Field, fields, message},
};
use crate::{
    manifest::Graph,
    runtime::Tensor,
    testing::{apart, draws, fixtures, golden, runtime},
};

const WIDTH: usize = 8;
/// Halves have 11 bits: the outputs are below 4.
const TOLERANCE: f32 = 4e-3;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    then: bool,
    y: Vec<f32>,
}

fn model() -> Bytes {
    fs::read(fixtures("int8/model.onnx")).unwrap().into()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn products_are_those_of_numpy_with_int8_matrices() {
    let bytes = rewritten(&model(), &fixtures("int8")).unwrap().unwrap();
    let mut session = runtime().open("int8", Graph::Whole(bytes.to_vec()), 1).unwrap();
    let cases = golden::<Golden>("int8/golden.json").cases;
    assert!(cases.len() > 4);
    for case in cases {
        let x = draws(case.seed, 5 * WIDTH);
        let inputs = vec![
            ("x", Tensor::F32(&[5, 8], &x)),
            ("then", Tensor::Bool(&[], std::slice::from_ref(&case.then))),
        ];
        let [y] = session.run(inputs, ["y"]).unwrap();
        assert_eq!(y.shape, [1, 5, 4]);
        let most = apart(&y.values, &case.y);
        assert!(most < TOLERANCE, "seed {}: {most}", case.seed);
    }
}

#[test]
fn matrices_of_floats_are_exchanged_and_nothing_else() {
    let bytes = rewritten(&model(), &fixtures("int8")).unwrap().unwrap();
    let [before, after] = [model(), bytes.clone()].map(|bytes| fields(&bytes).unwrap());
    let rest =
        |model: &[Field]| model.iter().filter(|f| f.number != number::GRAPH).cloned().collect::<Vec<_>>();
    assert_eq!(rest(&before), rest(&after));
    for name in ["first", "gemm.turned", "conv.turned", "branch.turned", "in_branch", "half"] {
        assert!(contains(&bytes, &format!("{name}.int8")), "{name}");
    }
    for name in ["wide", "batched", "gemm_bias"] {
        assert!(contains(&bytes, name) && !contains(&bytes, &format!("{name}.int8")), "{name}");
    }
    assert!(!contains(&bytes, "single"), "nobody needs the casted floats");
    assert!(!contains(&bytes, "weights.data"), "all numbers are in the model now");
    assert!(rewritten(&bytes, &fixtures("int8")).unwrap().is_none(), "there is nothing left to exchange");
}

#[test]
fn merged_decoders_are_rewritten_in_both_branches_and_load() {
    for path in [
        "whisper/encoder_model.onnx",
        "whisper/decoder_model_merged.onnx",
        "moonshine/decoder_model_merged.onnx",
    ] {
        let model = Bytes::from(fs::read(fixtures(path)).unwrap());
        let bytes = rewritten(&model, &fixtures("whisper")).unwrap().unwrap();
        assert!(contains(&bytes, "MatMulInteger"), "{path}");
        assert!(rewritten(&bytes, &fixtures("whisper")).unwrap().is_none(), "{path}");
        runtime().open(path, Graph::Whole(bytes.to_vec()), 1).unwrap();
    }
}

/// A message with an unknown field in it, and in the messages below that these numbers lead to.
fn with_unknown(bytes: &Bytes, path: &[u64]) -> Bytes {
    let mut all = fields(bytes).unwrap();
    if let Some((number, rest)) = path.split_first() {
        for field in all.iter_mut().filter(|field| field.number == *number) {
            *field = Field::new(*number, &with_unknown(&field.content(), rest)).unwrap();
        }
    }
    all.push(Field::new(5000, format!("unknown in {path:?}").as_bytes()).unwrap());
    message(&all)
}

#[test]
fn fields_that_nobody_knows_are_kept() {
    use number::{ATTRIBUTE, GRAPH, INITIALIZER, INPUT, NODE, OUTPUT, SUBGRAPH};
    for path in [
        &[GRAPH, NODE, ATTRIBUTE, SUBGRAPH, OUTPUT][..],
        &[GRAPH, INITIALIZER],
        &[GRAPH, INPUT],
        &[number::OPERATORS],
    ] {
        let bytes = rewritten(&with_unknown(&model(), path), &fixtures("int8")).unwrap().unwrap();
        for n in 0..=path.len() {
            assert!(contains(&bytes, &format!("unknown in {:?}", &path[n..])), "{path:?} from {n}");
        }
    }
}

#[test]
fn files_that_are_no_such_model_are_refused() {
    let said =
        |bytes: &[u8]| rewritten(&Bytes::copy_from_slice(bytes), &fixtures("int8")).unwrap_err().to_string();
    assert!(said(b"").contains("one graph"));
    assert!(said(&[model(), model()].concat()).contains("one graph"));
    assert!(said(&model()[..model().len() - 1]).contains("bytes"));
    let elsewhere = rewritten(&model(), &fixtures("whisper")).unwrap_err().to_string();
    assert!(elsewhere.contains("weights.data"), "{elsewhere}");
    let nested = (0..40).fold(Bytes::new(), |inner, _| {
        let attribute = Field::new(number::SUBGRAPH, &inner).unwrap();
        let node = Field::new(number::ATTRIBUTE, &message(&[attribute])).unwrap();
        message(&[Field::new(number::NODE, &message(&[node])).unwrap()])
    });
    assert!(said(&message(&[Field::new(number::GRAPH, &nested).unwrap()])).contains("more than 16 times"));
}

proptest! {
    #[test]
    fn damage_is_an_error_or_another_model(at in 0..1600_usize, byte: u8, n_kept in 0..1700_usize) {
        let mut bytes = model().to_vec();
        bytes[at] = byte;
        bytes.truncate(n_kept);
        let _model_or_reason = rewritten(&bytes.into(), &fixtures("int8")).map_err(|error| error.to_string());
    }
}
