//! `akhar models try`: transcribes recordings with an installed model and with the bundled one, side by side.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_inference::{
    Manifest, Registry,
    speech::{self, Chunker, Evidence, Joiner, SpeechModel, segments},
};
use akhar_platform::config::Config;
use akhar_worker::Recording;

use super::error::failed;
use crate::{failure::Failure, language::Language, output, transcribe::seconds};

const OPERATION: &str = "speech-recognition";

/// What a model makes of a recording.
struct Trial {
    text: String,
    /// The expected share of letters that are right, if the model's manifest says how to tell.
    confidence: Option<f64>,
    took: Duration,
}

pub(super) fn run(config: &Config, id: &str, lang: Language, files: &[PathBuf]) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let model = registry.get(id).map_err(failed("try"))?;
    let refused = |what: String| Failure::Command(format!("models try: {what}"));
    if model.operation != OPERATION {
        return Err(refused(format!(
            "{id} is a model for {}, expected one for {OPERATION}",
            model.operation
        )));
    }
    let lang = lang.code();
    if let Some(only) = model.language.as_deref().filter(|only| *only != lang) {
        return Err(refused(format!("{id} is for {only} alone: expected --lang {only}")));
    }
    let is_bundled = |other: &&Manifest| {
        registry.is_bundled(&other.id)
            && other.operation == OPERATION
            && other.language.as_deref() == Some(lang)
    };
    let bundled = registry.all().iter().find(is_bundled).filter(|bundled| bundled.id != id);
    let runtime = akhar_worker::runtime(config)?;
    let load = |manifest| Ok((manifest, speech::load(&runtime, manifest, config.inference_threads.get())?));
    let mut models = bundled.into_iter().chain([model]).map(load).collect::<Result<Vec<_>, Failure>>()?;
    let width = models.iter().map(|(manifest, _)| manifest.id.len()).max().unwrap_or(0);
    for file in files {
        let samples = samples(file)?;
        let length = Duration::from_secs_f64(seconds(samples.len()));
        output::line(format_args!("{}  {:.1} s", file.display(), length.as_secs_f64()))?;
        for (manifest, model) in &mut models {
            let Trial { text, confidence, took } = transcribe(manifest, &mut **model, lang, &samples)?;
            let confidence = confidence.map_or("-".to_owned(), |share| format!("{share:.2}"));
            let of_length = took.div_duration_f64(length);
            let id = &manifest.id;
            output::line(format_args!(
                "  {id:width$}  {of_length:.3} of its length  confidence {confidence}  {text}"
            ))?;
        }
    }
    Ok(())
}

/// The sound of a file, 16 kHz.
fn samples(file: &Path) -> Result<Vec<f32>, Failure> {
    let failed = |what: String| Failure::Command(format!("{}: {what}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let mut recording = Recording::open(bytes.into()).map_err(|error| failed(error.to_string()))?;
    let mut samples = Vec::new();
    while let Some(second) = recording.next_second().map_err(|error| failed(error.to_string()))? {
        samples.extend(second);
    }
    Ok(samples)
}

/// Transcribes a recording as a worker does, window by window.
fn transcribe(
    manifest: &Manifest,
    model: &mut dyn SpeechModel,
    lang: &str,
    samples: &[f32],
) -> Result<Trial, Failure> {
    let started = Instant::now();
    let (clock, front_end) = (model.clock(), model.front_end());
    let mut chunker = Chunker::new(clock.grid);
    let mut joiner = Joiner::new(clock);
    let mut windows = chunker.push(samples);
    windows.extend(chunker.finish());
    for window in windows {
        let features = front_end.features(&window.samples);
        if features.n_frames > 0 {
            for output in model.infer(&[&features], lang)? {
                joiner.add(&window, output.decode());
            }
        }
    }
    let segments = segments(&joiner.words(), seconds(samples.len()));
    let evidence: Evidence = segments.iter().map(|segment| segment.evidence).sum();
    Ok(Trial {
        text: speech::text(&segments),
        confidence: manifest.confidence.and_then(|confidence| evidence.probability(&confidence)),
        took: started.elapsed(),
    })
}
