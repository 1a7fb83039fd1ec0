//! `akhar models try`: transcribes recordings with an installed model and with the bundled one, side by side.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_inference::{
    KeyTerms, Manifest, Registry,
    speech::{self, Chunker, Evidence, Joiner, SpeechModel, WindowInput, segments},
};
use akhar_platform::config::Config;
use akhar_requests::Language;
use akhar_worker::Recording;

use super::error::failed;
use crate::{failure::Failure, output, transcribe::seconds};

const OPERATION: &str = "speech-recognition";

pub(super) fn run(config: &Config, id: &str, lang: Language, files: &[PathBuf]) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let model = registry.get(id).map_err(failed("try"))?;
    expect_speech(model, lang.code())?;
    let is_bundled = |other: &&Manifest| {
        registry.is_bundled(&other.id)
            && other.operation == OPERATION
            && other.language.as_deref() == Some(lang.code())
    };
    let bundled = registry.all().iter().find(is_bundled).filter(|bundled| bundled.id != id);
    let manifests: Vec<&Manifest> = bundled.into_iter().chain([model]).collect();
    let width = manifests.iter().map(|manifest| manifest.id.len()).max().unwrap_or(0);
    let runtime = akhar_worker::runtime(config)?;
    let mut models = Vec::new();
    for &manifest in &manifests {
        models.push((manifest, speech::load(&runtime, manifest, config.inference_threads.get())?));
    }
    for file in files {
        let samples = samples(file)?;
        let length = Duration::from_secs_f64(seconds(samples.len()));
        output::line(format_args!("{}  {:.1} s", file.display(), length.as_secs_f64()))?;
        for (manifest, model) in &mut models {
            let started = Instant::now();
            let (text, confidence) = transcribed(&samples, manifest, &mut **model, lang.code())?;
            let of_length = started.elapsed().div_duration_f64(length);
            let id = &manifest.id;
            output::line(format_args!(
                "  {id:width$}  {of_length:.3} of its length  confidence {confidence}  {text}"
            ))?;
        }
    }
    Ok(())
}

/// Fails unless a model is one for speech in this language.
fn expect_speech(model: &Manifest, lang: &str) -> Result<(), Failure> {
    let (id, operation) = (&model.id, &model.operation);
    let why = match model.language.as_deref() {
        _ if operation != OPERATION => format!("a model for {operation}, expected one for {OPERATION}"),
        Some(only) if only != lang => format!("for {only} alone: expected --lang {only}"),
        _ => return Ok(()),
    };
    Err(Failure::Command(format!("models try: {id} is {why}")))
}

/// The samples of the recording in a file, 16 kHz.
fn samples(file: &Path) -> Result<Vec<f32>, Failure> {
    let failed = |what: String| Failure::Command(format!("{}: {what}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let mut recording = Recording::open(bytes.into(), None).map_err(|error| failed(error.to_string()))?;
    let mut samples = Vec::new();
    while let Some(second) = recording.next_second().map_err(|error| failed(error.to_string()))? {
        samples.extend(second);
    }
    Ok(samples)
}

/// Transcribes a recording as a worker does, window by window. Returns the text, and the expected share of letters that are
/// right, `-` if the model's manifest does not say how to tell.
fn transcribed(
    samples: &[f32],
    manifest: &Manifest,
    model: &mut dyn SpeechModel,
    lang: &str,
) -> Result<(String, String), Failure> {
    let (clock, front_end) = (model.clock(), model.front_end());
    let mut chunker = Chunker::new(clock.grid);
    let mut joiner = Joiner::new(clock);
    let terms = KeyTerms::default();
    let mut windows = chunker.push(samples);
    windows.extend(chunker.finish());
    for window in windows {
        let features = front_end.features(&window.samples);
        if features.n_frames > 0 {
            for output in model.infer(&[WindowInput { features: &features, terms: &terms }], lang)? {
                joiner.add(&window, output.decode(&terms));
            }
        }
    }
    let segments = segments(&joiner.words(), seconds(samples.len()));
    let evidence: Evidence = segments.iter().map(|segment| segment.evidence).sum();
    let confidence = manifest.confidence.and_then(|confidence| evidence.probability(&confidence));
    Ok((speech::text(&segments), confidence.map_or("-".to_owned(), |share| format!("{share:.2}"))))
}
