//! Against the transformers library: a tiny Moonshine in the real layout, made by `training/fixtures`.

use serde::Deserialize;

use super::{GenerationConfig, Moonshine, Samples};
use crate::{
    key_terms::KeyTerms,
    seq2seq::Tokens,
    speech::features::FrontEnd as _,
    testing::{apart, golden, manifest_of, runtime, signal},
};

#[derive(Deserialize)]
struct Golden {
    max_new_tokens: usize,
    every_value: usize,
    cases: Vec<Case>,
    texts: Vec<Text>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    n_samples: usize,
    tokens: Vec<i64>,
    text: String,
    log_prob: f64,
    frames: Option<usize>,
    #[serde(default)]
    encoder: Vec<f32>,
}

#[derive(Deserialize)]
struct Text {
    tokens: Vec<i64>,
    text: String,
}

fn reference() -> Golden {
    golden("moonshine/golden.json")
}

fn manifest(tokenizer: &str) -> crate::manifest::Manifest {
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("decoder", "decoder_model_merged.onnx"),
        ("tokenizer", tokenizer),
    ];
    let generation = format!(
        "[generation]\nnum_beams = 1\nmax_new_tokens = {}\ndecoder_start_token_id = '<s>'\neos_token_id = '</s>'",
        reference().max_new_tokens
    );
    manifest_of("moonshine", "moonshine", &generation, &files)
}

#[test]
fn it_says_what_the_reference_says() {
    let (golden, mut moonshine) =
        (reference(), Moonshine::load(runtime(), &manifest("tokenizer.bin"), 1).unwrap());
    assert!(golden.cases.len() >= 50);
    for case in &golden.cases {
        // The reference writes figures.
        let generation = GenerationConfig { suppress_tokens: Vec::new(), ..moonshine.generation.clone() };
        let found = moonshine.generate(&signal(case.seed, case.n_samples), None, &generation).unwrap();
        assert_eq!(found.tokens, case.tokens, "seed {}", case.seed);
        assert_eq!(moonshine.text(&found.tokens).unwrap(), case.text, "seed {}", case.seed);
        assert!((found.log_prob - case.log_prob).abs() < 1e-3, "seed {}: {}", case.seed, found.log_prob);
    }
}

/// Sums of a few hundred products in another order differ by less than 1e-4.
#[test]
fn the_encoder_gives_what_the_reference_gives() {
    let (golden, mut moonshine) =
        (reference(), Moonshine::load(runtime(), &manifest("tokenizer.bin"), 1).unwrap());
    let detailed: Vec<&Case> = golden.cases.iter().filter(|case| case.frames.is_some()).collect();
    assert!(detailed.len() >= 4);
    for case in detailed {
        let state = moonshine.network.encode_samples(&signal(case.seed, case.n_samples)).unwrap();
        let hidden = state.hidden();
        assert_eq!(Some(hidden.shape[1]), case.frames, "seed {}", case.seed);
        let kept: Vec<f32> = hidden.values.iter().step_by(golden.every_value).copied().collect();
        let apart = apart(&kept, &case.encoder);
        assert!(apart < 1e-4, "seed {}: {apart}", case.seed);
    }
}

#[test]
fn tokens_become_the_same_text_with_either_tokenizer() {
    for name in ["tokenizer.bin", "tokenizer.json"] {
        let tokens = Tokens::read(&manifest(name), "tokenizer").unwrap();
        for Text { tokens: given, text } in reference().texts {
            assert_eq!(tokens.text(&given).unwrap(), text, "{name}: {given:?}");
        }
        assert_eq!((tokens.find("<s>"), tokens.find("</s>")), (Some(1), Some(2)), "{name}");
    }
}

#[test]
fn words_share_the_window_where_nothing_aligns_them() {
    let mut moonshine = Moonshine::load(runtime(), &manifest("tokenizer.bin"), 1).unwrap();
    for case in reference().cases.iter().take(8) {
        let window = Samples.features(&signal(case.seed, case.n_samples));
        let transcript = moonshine.transcribe(&window, &KeyTerms::default()).unwrap();
        let words: Vec<&str> = transcript.tokens.iter().map(|t| t.text.trim_start_matches('▁')).collect();
        assert_eq!(
            words.join(" "),
            moonshine.generate_text(&window.values, &KeyTerms::default()).unwrap().text,
            "seed {}",
            case.seed
        );
        assert_eq!(transcript.blanks.len(), case.n_samples.div_ceil(super::GRID));
        assert!(transcript.tokens.is_sorted_by_key(|t| t.frame));
    }
    // Too short to give a frame, but for the silence around it.
    moonshine.transcribe(&Samples.features(&[0.1; 300]), &KeyTerms::default()).unwrap();
}

#[test]
fn an_unlikely_text_is_none() {
    let mut moonshine = Moonshine::load(runtime(), &manifest("tokenizer.bin"), 1).unwrap();
    let window = signal(2, 40_123);
    assert!(!moonshine.generate_text(&window, &KeyTerms::default()).unwrap().text.is_empty());
    moonshine.logprob_threshold = -1e-6;
    assert_eq!(moonshine.generate_text(&window, &KeyTerms::default()).unwrap().text, "");
}
