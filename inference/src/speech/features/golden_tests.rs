//! Compares features with those of the reference implementations: for NeMo's, that of `tests/fixtures/speech/SOURCE.md`,
//! and the transformers library for Whisper's.

use serde::Deserialize;

use super::{FrontEnd, GlobalCmvn, LogMel, WhisperMel};
use crate::testing::{apart, bytes, floats, golden, signal};

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
    let signals: std::collections::BTreeMap<String, Recording> = golden("speech/log-mel.json");
    assert_eq!(signals.len(), 5);
    for (name, recording) in signals {
        recording.check(&name);
    }
}

#[test]
fn a_short_recording_is_normalised_with_global_statistics() {
    let recording: Recording = golden("speech/global-cmvn.json");
    assert!(recording.global_cmvn.as_ref().is_some_and(|global| global.fits(80)));
    recording.check("vowel");
}

#[derive(Deserialize)]
struct WhisperGolden {
    every_band: usize,
    every_frame: usize,
    log_mels: Vec<Mel>,
}

/// The features of one signal: some frames of some bands.
#[derive(Deserialize)]
struct Mel {
    seed: u64,
    n_samples: usize,
    values: Vec<f32>,
}

/// Sums of a few hundred products in another order differ by less than 1e-3.
fn assert_whisper_features(front_end: &WhisperMel, file: &str, n_frames: impl Fn(&Mel) -> usize) {
    let golden: WhisperGolden = golden(file);
    assert_eq!(golden.log_mels.len(), 3);
    for mel in &golden.log_mels {
        let given = front_end.features(&signal(mel.seed, mel.n_samples));
        assert_eq!(given.n_frames, n_frames(mel));
        let rows = given.values.chunks_exact(given.n_frames).step_by(golden.every_band);
        let kept: Vec<f32> = rows.flat_map(|row| row.iter().step_by(golden.every_frame).copied()).collect();
        let apart = apart(&kept, &mel.values);
        assert!(apart < 1e-3, "{} samples: {apart}", mel.n_samples);
    }
}

#[test]
fn whispers_features_equal_those_of_the_reference() {
    assert_whisper_features(&WhisperMel::new(80), "whisper/golden.json", |_| 3000);
}

#[test]
fn whispers_features_of_any_length_equal_those_of_the_reference() {
    let n_frames = |mel: &Mel| mel.n_samples / 160;
    assert_whisper_features(&WhisperMel::of_any_length(80), "whisper_ctc/golden.json", n_frames);
}

/// The floor of the energy and the logarithm of it are exact to a few units in the last place.
#[test]
fn padding_is_what_silence_in_the_recording_gives() {
    for gain in [1.0, 1e-3, 1e-6] {
        let mut samples: Vec<f32> = signal(7, 8000).iter().map(|s| s * gain).collect();
        samples.resize(16_000, 0.0);
        let window = WhisperMel::of_any_length(80).features(&samples);
        for row in window.values.chunks_exact(window.n_frames) {
            let apart = row[80] - WhisperMel::silence(&window);
            assert!(apart.abs() < 1e-5, "gain {gain}: {}", row[80]);
        }
    }
}
