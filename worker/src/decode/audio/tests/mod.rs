//! Tests of audio decoding. Decoded files are compared with the signal that they were made from.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the signals have known, small sizes"
)]

mod containers;
mod damaged;
mod formats;
mod joined;
mod levels;
mod limits;
mod mutated;
mod random_bytes;
mod tagged;
mod wav_file;

use std::{f64::consts::TAU, path::Path};

use akhar_requests::{MediaType, Upload};

use super::{reader::tests::on_disk, *};

/// The length of the signal in the fixtures, as training/fixtures/audio.py makes it, seconds.
const CHIRP_SECONDS: f64 = 0.75;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/audio");
    std::fs::read(folder.join(name)).unwrap()
}

fn upload(name: &str, bytes: Vec<u8>) -> Upload {
    let media_type = match name.rsplit('.').next() {
        Some("mp3") => MediaType::Mp3,
        Some("flac") => MediaType::Flac,
        Some("ogg") => MediaType::Ogg,
        Some("m4a" | "mp4") => MediaType::Mp4,
        Some("webm") => MediaType::WebM,
        Some("aac") => MediaType::Aac,
        _ => MediaType::Wav,
    };
    Upload { media_type, bytes: bytes.into() }
}

struct Decoded {
    samples: Vec<f32>,
    warnings: Vec<String>,
}

fn decode(name: &str, bytes: Vec<u8>) -> Result<Decoded, Undecodable> {
    decode_within(&AudioLimits::default(), name, bytes)
}

/// Decodes a file in memory, and the same file on disk, which must give the same.
fn decode_within(limits: &AudioLimits, name: &str, bytes: Vec<u8>) -> Result<Decoded, Undecodable> {
    let in_memory = JobFile::from(upload(name, bytes));
    let content = on_disk(&in_memory.content.start(usize::MAX));
    let on_disk = decode_file(limits, JobFile { content, ..in_memory });
    let decoded = decode_file(limits, in_memory);
    match (&decoded, &on_disk) {
        (Ok(decoded), Ok(on_disk)) => {
            assert!(decoded.samples == on_disk.samples && decoded.warnings == on_disk.warnings, "{name}");
        }
        (decoded, on_disk) => {
            let detail =
                |decoded: &Result<Decoded, Undecodable>| decoded.as_ref().err().map(|e| e.detail.clone());
            assert_eq!(detail(decoded), detail(on_disk), "{name}");
        }
    }
    decoded
}

fn decode_file(limits: &AudioLimits, file: JobFile) -> Result<Decoded, Undecodable> {
    let mut audio = Audio::open(file, limits, Channels::Mixed)?;
    let mut samples: Vec<f32> = Vec::new();
    while let Some(piece) = audio.next()? {
        assert!(piece.len() == 1 && (1..=PIECE).contains(&piece[0].len()));
        samples.extend(&piece[0]);
        assert!((audio.seconds() - samples.len() as f64 / 16_000.0).abs() < 1e-5);
    }
    assert!(audio.next()?.is_none());
    assert!(samples.iter().all(|x| x.is_finite()));
    Ok(Decoded { samples, warnings: audio.warnings().to_vec() })
}

/// The signal of the fixtures, a chirp of `seconds` seconds at `rate` Hz.
fn chirp(seconds: f64, rate: f64) -> Vec<f32> {
    let n = (seconds * rate).round() as usize;
    let sample = |n: usize| {
        let t = n as f64 / rate;
        let phase = TAU * (150.0 * t + 1550.0 * t * t / 2.0 / CHIRP_SECONDS);
        (0.5 * (0.6 + 0.4 * (TAU * 4.0 * t).sin()) * phase.sin()) as f32
    };
    (0..n).map(sample).collect()
}

/// Compares `decoded` with `expected`: the delay of at most 100 samples at which they correlate best, and
/// that correlation.
fn delay_and_correlation(decoded: &[f32], expected: &[f32]) -> (i64, f64) {
    let at = |lag: i64| {
        let (mut de, mut dd, mut ee) = (0.0, 1e-12, 1e-12);
        for (n, &e) in expected.iter().enumerate().step_by(4) {
            let Some(&d) = usize::try_from(n as i64 + lag).ok().and_then(|n| decoded.get(n)) else {
                continue;
            };
            let (d, e) = (f64::from(d), f64::from(e));
            (de, dd, ee) = (de + d * e, dd + d * d, ee + e * e);
        }
        de / (dd * ee).sqrt()
    };
    let lags = (-100..=100).map(|lag| (lag, at(lag)));
    lags.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

/// The root mean square of the samples.
fn level(samples: &[f32]) -> f64 {
    let sum: f64 = samples.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    (sum / samples.len() as f64).sqrt()
}

/// Checks that the file decodes to the chirp: with a delay of at most 1 ms, a length within 3 ms, and about
/// the same level (LAME lowers it by 5 %). Returns the warnings.
#[track_caller]
fn assert_chirp(name: &str, bytes: Vec<u8>, min_correlation: f64) -> Vec<String> {
    let decoded = decode(name, bytes).unwrap();
    let expected = chirp(CHIRP_SECONDS, 16_000.0);
    let (lag, correlation) = delay_and_correlation(&decoded.samples, &expected);
    assert!(lag.abs() <= 16, "{name}: {lag} samples late");
    assert!(correlation > min_correlation, "{name}: correlation {correlation}");
    let n_more = decoded.samples.len() as i64 - expected.len() as i64;
    assert!(n_more.abs() <= 48, "{name}: {n_more} samples too many");
    let ratio = level(&decoded.samples) / level(&expected);
    assert!((0.94..=1.05).contains(&ratio), "{name}: {ratio} times the level");
    decoded.warnings
}
