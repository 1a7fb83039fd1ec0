//! Files of every format that the service reads, changed as a seed says. Each is answered soon, whatever is in it.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use akhar_tests::{Form, images, root};
use rand::{Rng, RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use reqwest::{Method, RequestBuilder};
use tokio::task::JoinSet;

use super::attacker::{Answers, Attacker, answer_to};

/// Files that are sent at the same time.
const N_CLIENTS: usize = 8;
/// The longest time to an answer.
const MAX_ANSWER: Duration = Duration::from_secs(10);
/// The changes of one file, at most.
const MAX_CHANGES: usize = 8;
/// The most bytes of a recording.
const MAX_RECORDING: usize = 2 * 1024 * 1024;

const AUDIO: &str = "tests/fixtures/audio";
const IMAGES: &str = "tests/fixtures/images";

/// Each format with the folder and the endings of its files, and how many bytes at their start say to a fuzz target how the rest
/// arrives: the fixtures of the tests, and seeds of fuzz targets.
const FORMATS: [(&str, &str, &[&str], usize); 10] = [
    ("wav", AUDIO, &["wav"], 0),
    ("mp3", AUDIO, &["mp3"], 0),
    ("flac", AUDIO, &["flac"], 0),
    ("ogg", AUDIO, &["ogg"], 0),
    ("mp4", AUDIO, &["mp4", "m4a"], 0),
    ("webm", AUDIO, &["webm"], 0),
    ("png", IMAGES, &["png"], 0),
    ("jpeg", IMAGES, &["jpg"], 0),
    ("form", "tests/fuzz/corpus/multipart", &[""], 2),
    ("json", "tests/fuzz/corpus/handwriting_form", &[""], 1),
];

/// Lengths that parsers get wrong.
const LENGTHS: [u32; 9] = [0, 1, 2, 8, 64, 0x7fff_ffff, 0x8000_0000, u32::MAX - 7, u32::MAX];

/// Files of one format.
struct Format {
    name: &'static str,
    files: Vec<Vec<u8>>,
}

/// Changed files of every format in turn, which each take [`MAX_ANSWER`] at most.
pub(super) async fn mutated(attacker: &Attacker, seed: u64, end: Instant) -> Answers {
    let formats = formats();
    let mut answers = Answers::default();
    let mut sent = JoinSet::new();
    for nth in 0.. {
        let is_over = Instant::now() >= end;
        if is_over || sent.len() >= N_CLIENTS {
            let Some(answer) = sent.join_next().await else { break };
            let (format, file, answer, took): (&str, String, String, Duration) =
                answer.expect("a client of an attack does not panic");
            let is_right = answer == "200" || answer.starts_with('4');
            if took > MAX_ANSWER || !is_right {
                answers.failures.push(format!("{file}: {answer} after {took:?}"));
            }
            answers.count(format);
            answers.count(format!("{format} {answer}"));
        }
        if !is_over {
            let format = &formats[nth % formats.len()];
            let bytes = format.mutated(&mut rng(seed, nth));
            let (name, file) = (format.name, format!("file {nth} of seed {seed}, {}", format.name));
            let request = request(attacker, name, &bytes);
            sent.spawn(async move {
                let started = Instant::now();
                let answer = answer_to(request).await;
                (name, file, answer, started.elapsed())
            });
        }
    }
    answers
}

fn rng(seed: u64, nth: usize) -> StdRng {
    StdRng::seed_from_u64(seed.wrapping_mul(1_000_000_007).wrapping_add(nth as u64))
}

fn request(attacker: &Attacker, format: &str, bytes: &[u8]) -> RequestBuilder {
    let post = |path: &str| attacker.request(Method::POST, path, &attacker.key);
    let raw = |operation: &str, content_type: &str, bytes: &[u8]| {
        post(&format!("/v1/models/{operation}")).header("content-type", content_type).body(bytes.to_vec())
    };
    match format {
        "png" | "jpeg" => attacker.post("digit-recognition", &Form::upload(bytes)),
        "json" => raw("handwriting-generator", "application/json", bytes),
        "form" => raw("speech-recognition", "multipart/form-data; boundary=B", bytes),
        _ => Form::upload_and(bytes, "model", "speech-pa").send_with(post("/v1/audio/transcriptions")),
    }
}

fn formats() -> Vec<Format> {
    let format = |(name, folder, endings, n_skipped): (&'static str, &str, &[&str], usize)| {
        let ending =
            |path: &Path| path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_owned();
        let entries = fs::read_dir(root().join(folder)).expect("a folder");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        paths.retain(|path| endings.contains(&&*ending(path)));
        paths.sort();
        let file = |path| fs::read(path).expect("a file").split_off(n_skipped);
        Format { name, files: paths.iter().map(file).collect() }
    };
    FORMATS.into_iter().map(format).collect()
}

impl Format {
    /// One of the files with some changes: bits and lengths are others, and parts are copied, cut off or those of another file.
    fn mutated(&self, rng: &mut impl Rng) -> Vec<u8> {
        let file = |rng: &mut _| self.files.choose(rng).expect("a file of each format");
        let mut bytes = file(rng).clone();
        for _ in 0..rng.random_range(1..=MAX_CHANGES) {
            let Some(at) = place(rng, bytes.len()) else { break };
            match rng.random_range(0..9) {
                0..3 => bytes[at] ^= 1 << rng.random_range(0..8),
                3..6 => {
                    let length = if rng.random() {
                        *LENGTHS.choose(rng).expect("a length")
                    } else {
                        rng.random_range(0..40_000)
                    };
                    let length = if rng.random() { length.to_le_bytes() } else { length.to_be_bytes() };
                    let end = bytes.len().min(at + length.len());
                    bytes[at..end].copy_from_slice(&length[..end - at]);
                }
                6 => {
                    let end = bytes.len().min(at + rng.random_range(1..4096));
                    let part = bytes[at..end].to_vec();
                    let to = place(rng, bytes.len()).unwrap_or(0);
                    bytes.splice(to..to, part);
                }
                7 => bytes.truncate(at),
                _ => bytes.extend_from_slice(file(rng)),
            }
        }
        bytes.truncate(match self.name {
            "png" | "jpeg" => images::MAX_BYTES,
            _ => MAX_RECORDING,
        });
        bytes
    }
}

/// A place in a file of so many bytes; every second one is at its start, where the headers are.
fn place(rng: &mut impl Rng, n_bytes: usize) -> Option<usize> {
    let most = if rng.random() { n_bytes } else { n_bytes.min(200) };
    (most > 0).then(|| rng.random_range(0..most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64) -> Vec<Vec<u8>> {
        let formats = formats();
        (0..100).map(|nth| formats[nth % formats.len()].mutated(&mut rng(seed, nth))).collect()
    }

    #[test]
    fn a_seed_gives_the_same_files_again() {
        assert_eq!(drawn(11), drawn(11));
        assert_ne!(drawn(11), drawn(12));
    }
}
