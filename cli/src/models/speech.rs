//! A recording and speech models in; what each makes of the recording, and the time that it takes, out.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use akhar_inference::{
    KeyTerms, Manifest,
    speech::{self, Chunker, Evidence, Joiner, SpeechModel, WindowInput, segments},
};
use akhar_jobs::Language;
use akhar_platform::config::Config;
use akhar_worker::Recording;
use bytes::Bytes;

use crate::{failure::Failure, output, transcribe::seconds};

pub(super) const OPERATION: &str = "speech-recognition";

/// A recording, 16 kHz.
pub(super) struct Clip {
    pub(super) name: String,
    samples: Vec<f32>,
}

/// What a model makes of a recording.
pub(super) struct Trial {
    pub(super) text: String,
    /// The expected share of letters that are right, if the model's manifest says how to tell.
    confidence: Option<f64>,
    pub(super) took: Duration,
}

/// A model, and what its manifest says.
pub(super) type Loaded<'a> = (&'a Manifest, Box<dyn SpeechModel>);

/// Fails unless a model with this id and operation is one for speech. `what` is the command.
pub(super) fn expect_speech(what: &str, id: &str, operation: &str) -> Result<(), Failure> {
    if operation == OPERATION {
        return Ok(());
    }
    let why = format!("models {what}: {id} is a model for {operation}, expected one for {OPERATION}");
    Err(Failure::Command(why))
}

/// The code of the language that a model for speech is asked for: `lang`, or without it the model's own one. Fails for a
/// language that the model does not know. `what` is the command.
pub(super) fn language<'a>(
    what: &str,
    model: &'a Manifest,
    lang: Option<Language>,
) -> Result<&'a str, Failure> {
    expect_speech(what, &model.id, &model.operation)?;
    let own = model.language.as_deref();
    let Some(asked) = lang.map(Language::code) else { return Ok(own.unwrap_or(Language::Panjabi.code())) };
    match own {
        Some(only) if only != asked => {
            let id = &model.id;
            Err(Failure::Command(format!("models {what}: {id} is for {only} alone: expected --lang {only}")))
        }
        _ => Ok(asked),
    }
}

/// Loads models, each with its manifest.
pub(super) fn loaded<'a>(
    config: &Config,
    manifests: impl IntoIterator<Item = &'a Manifest>,
) -> Result<Vec<Loaded<'a>>, Failure> {
    let runtime = akhar_worker::runtime(config)?;
    let load = |manifest| Ok((manifest, speech::load(&runtime, manifest, config.inference_threads.get())?));
    manifests.into_iter().map(load).collect()
}

/// The width of a column of the models' ids.
pub(super) fn id_width(models: &[Loaded<'_>]) -> usize {
    models.iter().map(|(manifest, _)| manifest.id.len()).max().unwrap_or(0)
}

impl Clip {
    /// The recording in a file.
    pub(super) fn open(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let bytes = std::fs::read(file).map_err(|error| Failure::Command(format!("{name}: {error}")))?;
        Self::decode(name, bytes.into())
    }

    /// The recording in the bytes of a file.
    pub(super) fn decode(name: String, file: Bytes) -> Result<Self, Failure> {
        let failed = |what: String| Failure::Command(format!("{name}: {what}"));
        let mut recording = Recording::open(file, None).map_err(|error| failed(error.to_string()))?;
        let mut samples = Vec::new();
        while let Some(second) = recording.next_second().map_err(|error| failed(error.to_string()))? {
            samples.extend(second);
        }
        Ok(Self { name, samples })
    }

    pub(super) fn length(&self) -> Duration {
        Duration::from_secs_f64(seconds(self.samples.len()))
    }

    /// Prints its name and length.
    pub(super) fn print(&self) -> Result<(), Failure> {
        output::line(format_args!("{}  {:.1} s", self.name, self.length().as_secs_f64()))
    }

    /// Transcribes the recording as a worker does, window by window.
    pub(super) fn transcribe(
        &self,
        manifest: &Manifest,
        model: &mut dyn SpeechModel,
        lang: &str,
    ) -> Result<Trial, Failure> {
        let started = Instant::now();
        let (clock, front_end) = (model.clock(), model.front_end());
        let mut chunker = Chunker::new(clock.grid);
        let mut joiner = Joiner::new(clock);
        let terms = KeyTerms::default();
        let mut windows = chunker.push(&self.samples);
        windows.extend(chunker.finish());
        for window in windows {
            let features = front_end.features(&window.samples);
            if features.n_frames > 0 {
                for output in model.infer(&[WindowInput { features: &features, terms: &terms }], lang)? {
                    joiner.add(&window, output.decode(&terms));
                }
            }
        }
        let segments = segments(&joiner.words(), seconds(self.samples.len()));
        let evidence: Evidence = segments.iter().map(|segment| segment.evidence).sum();
        Ok(Trial {
            text: speech::text(&segments),
            confidence: manifest.confidence.and_then(|confidence| evidence.probability(&confidence)),
            took: started.elapsed(),
        })
    }
}

impl Trial {
    /// Prints what the model with this id, in a column of this width, makes of the clip.
    pub(super) fn print(&self, id: &str, width: usize, clip: &Clip) -> Result<(), Failure> {
        let confidence = self.confidence.map_or("-".to_owned(), |share| format!("{share:.2}"));
        let of_length = self.took.div_duration_f64(clip.length());
        let text = &self.text;
        output::line(format_args!(
            "  {id:width$}  {of_length:.3} of its length  confidence {confidence}  {text}"
        ))
    }
}
