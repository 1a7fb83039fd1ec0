//! Compares results with those of the transformers library, on a tiny Whisper with the real layout, which
//! `training/fixtures` made.

use rand::{SeedableRng as _, rngs::StdRng};
use serde::Deserialize;

use super::{Whisper, segments::segments};
use crate::{
    speech::features::Features,
    testing::{draws, golden, manifest_of, runtime},
};

#[derive(Deserialize)]
struct Golden {
    max_new_tokens: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    language: String,
    prompt: Vec<i64>,
    tokens: Vec<i64>,
    text: String,
    average_logprob: f64,
    timestamp_tokens: Vec<i64>,
    timestamp_average_logprob: f64,
    segments: Vec<Span>,
    no_speech_probability: f64,
}

#[derive(Deserialize)]
struct Span {
    start: f64,
    end: f64,
    tokens: Vec<i64>,
    text: String,
}

fn whisper() -> Whisper {
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("decoder", "decoder_model_merged.onnx"),
        ("tokenizer", "tokenizer.json"),
        ("generation", "generation_config.json"),
    ];
    let languages = "[languages]\npa = '<|pa|>'\nen = '<|en|>'\nhi = '<|hi|>'";
    Whisper::load(runtime(), &manifest_of("whisper", "whisper", languages, &files), 1).unwrap()
}

/// The same features as in the fixtures' script: 300 random numbers, each repeated over 8 bands and 100
/// frames.
fn features(seed: u64) -> Features {
    let blocks = draws(seed, 300);
    let value = |n: usize| 1.5 * blocks[n / 3000 / 8 * 30 + n % 3000 / 100];
    Features { n_mels: 80, n_frames: 3000, values: (0..80 * 3000).map(value).collect() }
}

#[test]
fn whisper_transcribes_as_the_reference_does() {
    let golden: Golden = golden("whisper/golden.json");
    let mut whisper = whisper();
    assert!(golden.cases.len() >= 50);
    let mut rng = StdRng::seed_from_u64(0);
    for case in &golden.cases {
        let mut decode = |prompt: &[i64], with_timestamps: bool| {
            let features = features(case.seed);
            whisper.decode(&features, prompt, with_timestamps, golden.max_new_tokens, 0.0, &mut rng).unwrap()
        };
        let plain = decode(&case.prompt, false);
        assert_eq!(plain.tokens, case.tokens, "seed {}", case.seed);
        assert!(
            (plain.avg_logprob - case.average_logprob).abs() < 1e-3,
            "seed {}: {}",
            case.seed,
            plain.avg_logprob
        );
        let apart = (plain.no_speech - case.no_speech_probability).abs();
        assert!(apart < 1e-4 + 1e-3 * case.no_speech_probability, "seed {}: {}", case.seed, plain.no_speech);
        let timed = decode(&case.prompt[..3], true);
        assert_eq!(timed.tokens, case.timestamp_tokens, "seed {}, {}", case.seed, case.language);
        assert!((timed.avg_logprob - case.timestamp_average_logprob).abs() < 1e-3, "seed {}", case.seed);
        assert_eq!(whisper.text(&plain.tokens).unwrap(), case.text);
        if case.segments.len() == 1 && case.segments[0].tokens.len() == case.timestamp_tokens.len() {
            continue; // no segment has an end, so the reference makes one segment of all tokens
        }
        let cut = segments(&timed.tokens, &whisper.rules);
        assert!(cut.len() >= case.segments.len(), "seed {}", case.seed);
        for (given, expected) in cut.iter().zip(&case.segments) {
            let seconds = [given.start, given.end].map(|step| f64::from(u32::try_from(step).unwrap()) * 0.02);
            assert!((seconds[0] - expected.start).abs() < 1e-6, "seed {}: {given:?}", case.seed);
            if given.end < 1500 {
                assert!((seconds[1] - expected.end).abs() < 1e-6, "seed {}: {given:?}", case.seed);
            }
            assert_eq!(whisper.text(&given.tokens).unwrap(), expected.text, "seed {}", case.seed);
        }
    }
}

#[test]
fn a_window_is_transcribed_in_the_requested_language() {
    let mut whisper = whisper();
    let transcript = whisper.transcribe(&features(1), "pa").unwrap();
    assert_eq!(transcript.blanks.len(), 1500);
    assert!(transcript.tokens.is_sorted_by_key(|t| t.frame));
    let again = whisper.transcribe(&features(1), "pa").unwrap();
    assert_eq!(transcript, again, "the random numbers depend on the sound only");
    let unknown = whisper.transcribe(&features(1), "fr").unwrap_err().to_string();
    assert!(unknown.contains("fr"), "{unknown}");
}
