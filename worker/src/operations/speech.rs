//! Speech jobs: from a recording to its transcript, and on request a translation.
//!
//! A recording is processed in windows. Only a few windows are in memory at a time, so the memory use does
//! not grow with the length of the recording.

use std::{
    collections::HashMap,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{
    Confidence, Registry, Runtime, RuntimeError,
    speech::{
        self, Chunker, Clock, FrontEnd, Joiner, Segmenter, SpeechModel, TimedText, Window, WindowOutput,
        features::Features, segments, timed, warning,
    },
};
use akhar_jobs::{self as jobs, Language, Operation, Outcome, Timing, Upload};
use akhar_platform::{config::Config, telemetry::traces};
use tokio::sync::{mpsc, watch};

use super::{by_language::by_language, progress::Progress, timing::micros, translation::Translation};
use crate::{
    decode::{
        audio::{Audio, AudioLimits},
        undecodable::Undecodable,
    },
    engine::{BatchModel, Engine, EngineError},
    error::WorkerError,
    low_priority,
};

/// How many prepared windows may wait for the model while the decoding thread goes on.
const MAX_PREPARED: usize = 1;

/// Windows in one run of a recogniser at most.
const MAX_WINDOWS: usize = 4;

/// The engines of all languages, and the translators.
pub(crate) struct SpeechOperation {
    engines: HashMap<Language, LanguageEngine>,
    translation: Translation,
    limits: AudioLimits,
}

/// A window's features and the language spoken in it.
pub(crate) struct SpeechInput {
    features: Features,
    language: Language,
}

/// One language's engine, what prepares its input, and how likely its transcripts are right. Several languages may
/// share one engine.
#[derive(Clone)]
struct LanguageEngine {
    engine: Arc<Engine<Recogniser>>,
    front_end: Arc<dyn FrontEnd>,
    clock: Clock,
    confidence: Option<Confidence>,
}

/// The reason why a speech job has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpeechError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the thread that decodes the recording panicked")]
    Decoder,
    #[error("the thread that searches for the transcript panicked")]
    Search,
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    #[error("no speech model is loaded for the language {0}")]
    NoModel(&'static str),
    #[error("the job has no upload")]
    NoUpload,
}

/// A model of any layout.
struct Recogniser(Box<dyn SpeechModel>);

impl BatchModel for Recogniser {
    type Input = SpeechInput;
    type Output = WindowOutput;
    fn run(&mut self, batch: &[SpeechInput]) -> Result<Vec<WindowOutput>, String> {
        by_language(
            batch,
            |input| input.language,
            |language, inputs| {
                let windows: Vec<&Features> = inputs.iter().map(|input| &input.features).collect();
                self.0.infer(&windows, language.code()).map_err(|e: RuntimeError| e.to_string())
            },
        )
    }
}

/// A message from the decoding thread: first the windows, ready for the model, then how decoding ended.
enum Prepared {
    Window(Window, Features),
    End { seconds: f64, warnings: Vec<String>, preparing: Preparing },
    Undecodable(Undecodable, Preparing),
}

/// The time spent before the model runs.
#[derive(Debug, Clone, Copy, Default)]
struct Preparing {
    /// From the file to samples at 16 kHz; includes `resampling`.
    decoding: Duration,
    /// The part of `decoding` that changed the sampling rate.
    resampling: Duration,
    /// From samples to features.
    features: Duration,
}

impl Preparing {
    fn total(&self) -> Duration {
        self.decoding + self.features
    }
}

impl SpeechOperation {
    /// Loads a model for every language and warms it up. Blocks the thread. The threads of the models have this
    /// thread's priority.
    pub(crate) fn load(runtime: &Runtime, registry: &Registry, config: &Config) -> Result<Self, WorkerError> {
        let mut loaded: HashMap<&str, LanguageEngine> = HashMap::new();
        let mut engines = HashMap::new();
        for language in Language::ALL {
            let manifest = registry.serving(Operation::SpeechRecognition.name(), Some(language.code()))?;
            if !loaded.contains_key(manifest.id.as_str()) {
                let model = speech::load(runtime, manifest, config.inference_threads.get())?;
                tracing::info!(model = %manifest.id, operation = %manifest.operation, "model loaded");
                let front_end = model.front_end();
                let clock = model.clock();
                let engine = Engine::start(&manifest.id, Recogniser(model), MAX_WINDOWS);
                let engine = Arc::new(engine.map_err(WorkerError::Thread)?);
                let confidence = manifest.confidence;
                loaded.insert(&manifest.id, LanguageEngine { engine, front_end, clock, confidence });
            }
            if let Some(engine) = loaded.get(manifest.id.as_str()).cloned() {
                engines.insert(language, engine);
            }
        }
        Ok(Self {
            engines,
            translation: Translation::load(runtime, registry, config)?,
            limits: AudioLimits::default(),
        })
    }

    /// The id of the model for this language.
    pub(crate) fn model(&self, language: Language) -> &str {
        self.engines.get(&language).map_or("none", |engine| engine.engine.name())
    }

    /// Whether the model for a language has answered nothing since this time, although requests wait.
    pub(crate) fn is_stuck_since(&self, language: Language, time: Instant) -> bool {
        self.engines.get(&language).is_some_and(|engine| engine.engine.is_stuck_since(time))
    }

    /// Transcribes a recording, and translates the transcript on request. `progress` receives how far that is.
    pub(crate) async fn transcribe(
        &self,
        parameters: jobs::SpeechParameters,
        upload: Option<Upload>,
        progress: &watch::Sender<Progress>,
    ) -> Result<(Outcome, Timing), SpeechError> {
        let upload = upload.ok_or(SpeechError::NoUpload)?;
        let engine =
            self.engines.get(&parameters.lang).ok_or(SpeechError::NoModel(parameters.lang.code()))?;
        let mut prepared = decode(upload, self.limits.clone(), engine).map_err(SpeechError::Thread)?;
        let (mut joiner, mut segmenter) = (Joiner::new(engine.clock), Segmenter::default());
        let [mut inferring, mut searching] = [Duration::ZERO; 2];
        let timing = |preparing: Preparing, inferring: Duration, searching: Duration| Timing {
            decode_us: micros(preparing.total()),
            infer_us: micros(inferring + searching),
        };
        while let Some(next) = prepared.recv().await {
            match next {
                Prepared::Window(window, features) => {
                    let answer =
                        engine.engine.infer(SpeechInput { features, language: parameters.lang }).await?;
                    inferring += answer.took;
                    let search = move || {
                        let started = Instant::now();
                        (answer.output.decode(), started.elapsed())
                    };
                    let searched = low_priority::spawn("search", search).map_err(SpeechError::Thread)?;
                    let (transcript, took) = searched.await.map_err(|_| SpeechError::Search)?;
                    searching += took;
                    joiner.add(&window, transcript);
                    let finished = segmenter.further(joiner.settled()).into_iter().map(untranslated);
                    progress.send_modify(|progress| {
                        progress.transcribed_s = window.end_s();
                        progress.segments.extend(finished);
                    });
                }
                Prepared::End { seconds, mut warnings, preparing } => {
                    tracing::info!(
                        seconds,
                        decode_us = micros(preparing.decoding.saturating_sub(preparing.resampling)),
                        resample_us = micros(preparing.resampling),
                        features_us = micros(preparing.features),
                        model_us = micros(inferring),
                        search_us = micros(searching),
                        "recording transcribed"
                    );
                    let words = joiner.words();
                    let segments = segments(&words, seconds);
                    warnings.extend(engine.confidence.and_then(|confidence| {
                        warning("transcription", &segments, |_, s| s.evidence.is_low(&confidence))
                    }));
                    let words = parameters.with_words.then(|| timed_words(&words, seconds));
                    let (outcome, translating) =
                        self.outcome(parameters, segments, words, seconds, warnings).await?;
                    return Ok((outcome, timing(preparing, inferring + translating, searching)));
                }
                Prepared::Undecodable(undecodable, preparing) => {
                    return Ok((undecodable.into(), timing(preparing, inferring, searching)));
                }
            }
        }
        Err(SpeechError::Decoder) // the panic hook has logged the panic
    }

    /// Builds the outcome from a recording's segments. Also returns how long their translation took.
    async fn outcome(
        &self,
        parameters: jobs::SpeechParameters,
        segments: Vec<TimedText>,
        words: Option<Vec<jobs::Word>>,
        seconds: f64,
        mut warnings: Vec<String>,
    ) -> Result<(Outcome, Duration), EngineError> {
        let texts: Vec<String> = segments.iter().map(|s| s.text.clone()).collect();
        let transcription = texts.join(" ");
        let (mut translations, mut took) = (None, Duration::ZERO);
        if parameters.with_translation {
            let (said, spent) = self.translation.translate(texts, parameters.lang).await?;
            let is_low = |n: usize| said.get(n).is_some_and(|translation| translation.is_low);
            warnings.extend(warning("translation", &segments, |n, _| is_low(n)));
            (translations, took) = (Some(said.into_iter().map(|t| t.text).collect::<Vec<_>>()), spent);
        }
        let of_segment = |n: usize| translations.as_ref().and_then(|all| all.get(n).cloned());
        let (timestamps, segments) = if parameters.with_timestamps {
            let segment = |(n, s)| jobs::Segment { translation: of_segment(n), ..untranslated(s) };
            (Some(segments.into_iter().enumerate().map(segment).collect()), Vec::new())
        } else {
            (None, segments.into_iter().map(untranslated).collect())
        };
        let translation = translations.as_ref().map(|all| join_texts(all));
        let outcome = Outcome::Transcription {
            transcription,
            translation,
            timestamps,
            words,
            segments,
            seconds,
            warnings,
        };
        Ok((outcome, took))
    }
}

fn timed_words(words: &[TimedText], seconds: f64) -> Vec<jobs::Word> {
    let word = |w: TimedText| jobs::Word { start: w.start, end: w.end, text: w.text };
    timed(words, seconds).into_iter().map(word).collect()
}

fn untranslated(segment: TimedText) -> jobs::Segment {
    jobs::Segment { start: segment.start, end: segment.end, transcription: segment.text, translation: None }
}

/// Joins texts with single spaces and leaves out empty ones.
fn join_texts(texts: &[String]) -> String {
    let said: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    said.join(" ")
}

/// Decodes a recording into windows on a thread of its own. The thread ends early when the receiver is dropped.
fn decode(
    upload: Upload,
    limits: AudioLimits,
    engine: &LanguageEngine,
) -> io::Result<mpsc::Receiver<Prepared>> {
    let (sender, prepared) = mpsc::channel(MAX_PREPARED);
    let (front_end, mut chunker) = (engine.front_end.clone(), Some(Chunker::new(engine.clock.grid)));
    let span = tracing::info_span!(target: traces::TARGET, "decode");
    low_priority::spawn("decode", move || {
        let _in_span = span.entered();
        let mut preparing = Preparing::default();
        let mut started = Instant::now();
        let mut audio = match Audio::open(upload, &limits) {
            Ok(audio) => audio,
            Err(undecodable) => {
                preparing.decoding = started.elapsed();
                return drop(sender.blocking_send(Prepared::Undecodable(undecodable, preparing)));
            }
        };
        loop {
            let (windows, is_over) = match audio.next() {
                Ok(Some(piece)) => (chunker.as_mut().map_or_else(Vec::new, |c| c.push(&piece)), false),
                Ok(None) => (chunker.take().and_then(Chunker::finish).into_iter().collect(), true),
                Err(undecodable) => {
                    preparing.decoding += started.elapsed();
                    return drop(sender.blocking_send(Prepared::Undecodable(undecodable, preparing)));
                }
            };
            for window in windows {
                preparing.decoding += started.elapsed();
                started = Instant::now();
                let features = front_end.features(&window.samples);
                preparing.features += started.elapsed();
                if features.n_frames > 0 && sender.blocking_send(Prepared::Window(window, features)).is_err()
                {
                    return;
                }
                started = Instant::now();
            }
            if is_over {
                break;
            }
        }
        preparing.decoding += started.elapsed();
        preparing.resampling = audio.resampling();
        let (seconds, warnings) = (audio.seconds(), audio.warnings().to_vec());
        let _ = sender.blocking_send(Prepared::End { seconds, warnings, preparing });
    })?;
    Ok(prepared)
}
