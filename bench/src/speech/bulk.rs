//! Measures `akhar transcribe`: hours of audio in an hour, in turns with the speech model alone in this process.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use akhar_inference::{
    KeyTerms, Manifest, Runtime, load_all,
    speech::{self, Chunker, Joiner, SpeechModel, WindowInput},
};
use akhar_tests::{
    Cluster, Stack,
    figures::{count, median},
    process::command,
    stack::{models, onnxruntime},
};

use crate::{load::warm, machine::Machine, report::Report, targets};

/// Samples in a second.
const RATE: usize = 16_000;
/// Windows in one run of the model at most: the worker's default.
const MAX_WINDOWS: usize = 4;

/// Transcribes a folder of WAV files with 16 bits and 16 kHz `rounds` times in each way.
pub(crate) async fn bulk(machine: Machine, folder: &Path, lang: &str, rounds: usize) -> Report {
    let paths = recordings(folder);
    let sounds: Vec<Vec<f32>> = paths.iter().map(|path| read(path)).collect();
    let n_samples: usize = sounds.iter().map(Vec::len).sum();
    let audio_s = count(n_samples) / count(RATE);
    let about = format!("{} recordings in {lang}, {:.2} h; {rounds} rounds", paths.len(), audio_s / 3600.0);
    let mut report = Report::new(machine, "bulk", about);
    let cluster = Cluster::own();
    // As many as in the service of the command's own.
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let copies = n_cores.to_string();
    let (stack, _) = warm(Stack::with().on(&cluster).set_text("AKHAR_SPEECH_COPIES", &copies)).await;
    let mut transcriber = Transcriber::open(lang);
    let (mut alone, mut model, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        report.machine.rest().await;
        let (whole, runs) = tokio::task::block_in_place(|| transcriber.engine(&sounds));
        alone.push(audio_s / whole.as_secs_f64());
        model.push(audio_s / runs.as_secs_f64());
        // With a key of its own a round has jobs of its own.
        let key = stack.keys(&["create", "--name", &format!("round {round}")]).await;
        let out = cluster.folder().join(format!("bulk-{round}"));
        let environment = [("AKHAR_URL", &stack.base), ("AKHAR_KEY", &key)];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.clone()));
        let [from, out] = [folder, &out].map(|path| path.to_str().expect("UTF-8"));
        let mut akhar = command(&["transcribe", from, "--out", out, "--lang", lang], &environment);
        let started = Instant::now();
        let ended = akhar.output().await.expect("the command runs");
        let took = started.elapsed();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        commands.push(audio_s / took.as_secs_f64());
    }
    let [alone, model, ours] = [alone, model, commands].map(median);
    for (name, speed) in
        [("the model's runs alone", model), ("with features, alone", alone), ("akhar transcribe", ours)]
    {
        report.row(name, vec![("hours_per_hour", speed), ("beside_the_command", ours / speed)]);
    }
    report.figure(
        "akhar transcribe, beside the model alone",
        "h of audio per hour",
        ours,
        alone,
        targets::BULK,
    );
    report
}

/// Transcribes recordings in this process.
struct Transcriber {
    model: Box<dyn SpeechModel>,
    lang: String,
}

impl Transcriber {
    /// Loads the model of a language, which runs on one thread.
    fn open(lang: &str) -> Self {
        let runtime = Runtime::load(&onnxruntime()).expect("ONNX Runtime");
        let all = load_all(&models()).expect("manifests");
        let speaks =
            |m: &Manifest| m.operation == "speech-recognition" && m.language.as_deref() == Some(lang);
        let manifest = all.into_iter().find(speaks).expect("a model of this language");
        let model = speech::load(&runtime, &manifest, 1).expect("the model");
        Self { model, lang: lang.to_owned() }
    }

    /// Transcribes recordings as the worker does, without files and jobs. Returns the time of everything, and of the
    /// model's runs.
    fn engine(&mut self, recordings: &[Vec<f32>]) -> (Duration, Duration) {
        let (started, mut running) = (Instant::now(), Duration::ZERO);
        let (front_end, clock) = (self.model.front_end(), self.model.clock());
        let terms = KeyTerms::default();
        for samples in recordings {
            let mut chunker = Chunker::new(clock.grid);
            let mut windows = chunker.push(samples);
            windows.extend(chunker.finish());
            let mut joiner = Joiner::new(clock);
            for batch in windows.chunks(MAX_WINDOWS) {
                let features: Vec<_> =
                    batch.iter().map(|window| front_end.features(&window.samples)).collect();
                let heard: Vec<_> = batch.iter().zip(&features).filter(|(_, f)| f.n_frames > 0).collect();
                let inputs: Vec<_> =
                    heard.iter().map(|(_, features)| WindowInput { features, terms: &terms }).collect();
                let run = Instant::now();
                let outputs = self.model.infer(&inputs, &self.lang).expect("it runs");
                running += run.elapsed();
                for ((window, _), output) in heard.into_iter().zip(outputs) {
                    joiner.add(window, output.decode(&terms));
                }
            }
            std::hint::black_box(joiner.words());
        }
        (started.elapsed(), running)
    }
}

/// The recordings in a folder and below it.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { recordings(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "wav"))
        .collect();
    all.sort();
    all
}

fn read(path: &Path) -> Vec<f32> {
    let file = fs::read(path).expect("a recording");
    samples(&file).unwrap_or_else(|| panic!("{}: expected a WAV file", path.display()))
}

/// The samples of a plain wav file with 16 bits and 16 kHz; `None` for other files.
fn samples(file: &[u8]) -> Option<Vec<f32>> {
    let data = file.windows(4).position(|w| w == b"data")? + 8;
    let samples = file.starts_with(b"RIFF").then(|| file[data..].as_chunks().0)?;
    Some(samples.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32768.0).collect())
}
