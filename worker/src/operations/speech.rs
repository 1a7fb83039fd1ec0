//! Speech jobs: a recording comes in; what it says comes out, window by window, in memory that does not
//! grow with its length.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{
    Runtime, RuntimeError, Shelf,
    speech::{
        Clock, FrontEnd, Heard as Emitted, Joiner, Listener, Recogniser, Segment, Window, features::Features,
        segments,
    },
};
use akhar_jobs::{self as jobs, Language, Operation, Outcome, Timing, Upload};
use akhar_platform::config::Config;
use tokio::sync::{mpsc, watch};

use crate::{
    WorkerError,
    decode::audio::{Audio, Limits, Undecodable},
    engine::{BatchModel, Engine, EngineError},
    operations::by_language::by_language,
    operations::micros,
    operations::translation::Translation,
};

/// Windows that may be ready and wait for the model: decoding goes on meanwhile.
const READY: usize = 1;

/// Every language's engine.
pub(crate) struct Speech {
    ears: HashMap<Language, Ear>,
    translation: Translation,
    limits: Limits,
}

/// A window's features and the language spoken in it.
pub(crate) struct Wanted {
    features: Features,
    language: Language,
}

/// One language's engine, which another may share, and what prepares its input.
struct Ear {
    engine: Arc<Engine<Recogniser>>,
    front_end: FrontEnd,
    clock: Clock,
}

/// Why speech has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpeechError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("decoding: {0}")]
    Decoder(#[from] tokio::task::JoinError),
    #[error("no model for {0}")]
    NoModel(&'static str),
    #[error("the job has no upload")]
    NoUpload,
}

impl BatchModel for Recogniser {
    type Input = Wanted;
    type Output = Emitted;
    fn run(&mut self, batch: &[Wanted]) -> Result<Vec<Emitted>, String> {
        by_language(
            batch,
            |wanted| wanted.language,
            |language, wanted| {
                let windows: Vec<&Features> = wanted.iter().map(|w| &w.features).collect();
                self.hear(&windows, language.code()).map_err(|e: RuntimeError| e.to_string())
            },
        )
    }
}

/// What decoding hands to the model, and last of all what it has to say of the recording.
enum Heard {
    Window(Window, Features),
    End { seconds: f64, warnings: Vec<String>, preparing: Preparing },
    Undecodable(Undecodable, Preparing),
}

/// Where the time before the model went.
#[derive(Debug, Clone, Copy, Default)]
struct Preparing {
    /// From file to samples, changing their rate included.
    decoding: Duration,
    /// The part of it that changed their rate.
    resampling: Duration,
    /// From samples to features.
    features: Duration,
}

impl Preparing {
    fn all(&self) -> Duration {
        self.decoding + self.features
    }
}

impl Speech {
    /// Loads and warms a model for every language. Blocks.
    pub(crate) fn load(runtime: &Runtime, shelf: &Shelf, config: &Config) -> Result<Self, WorkerError> {
        let mut loaded: HashMap<&str, (Arc<Engine<Recogniser>>, FrontEnd, Clock)> = HashMap::new();
        let mut ears = HashMap::new();
        for language in Language::ALL {
            let manifest = shelf.serving(Operation::SpeechRecognition.name(), Some(language.code()))?;
            if !loaded.contains_key(manifest.id.as_str()) {
                let model = Recogniser::load(runtime, manifest, config.inference_threads.get())?;
                tracing::info!(model = %manifest.id, operation = %manifest.operation, "model loaded");
                let (front_end, clock) = (model.front_end(), model.clock());
                let engine = Engine::start(&manifest.id, model, config.max_windows.get());
                let engine = Arc::new(engine.map_err(WorkerError::Thread)?);
                loaded.insert(&manifest.id, (engine, front_end, clock));
            }
            if let Some((engine, front_end, clock)) = loaded.get(manifest.id.as_str()).cloned() {
                ears.insert(language, Ear { engine, front_end, clock });
            }
        }
        Ok(Self { ears, translation: Translation::load(runtime, shelf, config)?, limits: Limits::default() })
    }

    /// Transcribes, and translates where that is wanted; tells `progress` how many seconds are done.
    pub(crate) async fn transcribe(
        &self,
        order: jobs::Speech,
        upload: Option<Upload>,
        progress: &watch::Sender<f64>,
    ) -> Result<(Outcome, Timing), SpeechError> {
        let upload = upload.ok_or(SpeechError::NoUpload)?;
        let ear = self.ears.get(&order.lang).ok_or(SpeechError::NoModel(order.lang.code()))?;
        let mut heard = listen(upload, self.limits.clone(), ear);
        let mut joiner = Joiner::new(ear.clock);
        let [mut inferring, mut searching] = [Duration::ZERO; 2];
        let timing = |preparing: Preparing, inferring: Duration, searching: Duration| Timing {
            decode_us: micros(preparing.all()),
            infer_us: micros(inferring + searching),
        };
        while let Some(next) = heard.recv().await {
            match next {
                Heard::Window(window, features) => {
                    let answer = ear.engine.infer(Wanted { features, language: order.lang }).await?;
                    inferring += answer.took;
                    let search = move || {
                        let started = Instant::now();
                        (answer.output.read(), started.elapsed())
                    };
                    let (reading, took) = tokio::task::spawn_blocking(search).await?;
                    searching += took;
                    joiner.add(&window, reading);
                    progress.send_replace(window.end_s());
                }
                Heard::End { seconds, warnings, preparing } => {
                    tracing::info!(
                        seconds,
                        decode_us = micros(preparing.decoding.saturating_sub(preparing.resampling)),
                        resample_us = micros(preparing.resampling),
                        features_us = micros(preparing.features),
                        model_us = micros(inferring),
                        search_us = micros(searching),
                        "recording transcribed"
                    );
                    let segments = segments(&joiner.words(), seconds);
                    let (outcome, translating) = self.outcome(order, segments, seconds, warnings).await?;
                    return Ok((outcome, timing(preparing, inferring + translating, searching)));
                }
                Heard::Undecodable(undecodable, preparing) => {
                    return Ok((undecodable.into(), timing(preparing, inferring, searching)));
                }
            }
        }
        Err(EngineError::Gone.into()) // decoding panicked: the log has it
    }

    /// What a recording's segments come to, and how long translating them took.
    async fn outcome(
        &self,
        order: jobs::Speech,
        segments: Vec<Segment>,
        seconds: f64,
        warnings: Vec<String>,
    ) -> Result<(Outcome, Duration), EngineError> {
        let texts: Vec<String> = segments.iter().map(|s| s.text.clone()).collect();
        let transcription = texts.join(" ");
        let (mut translations, mut took) = (None, Duration::ZERO);
        if order.with_translation {
            let (said, spent) = self.translation.translate(texts, order.lang).await?;
            (translations, took) = (Some(said), spent);
        }
        let of_segment = |n: usize| translations.as_ref().and_then(|all| all.get(n).cloned());
        let timestamps = order.with_timestamps.then(|| {
            let segment = |(n, s): (usize, Segment)| jobs::Segment {
                start: s.start,
                end: s.end,
                transcription: s.text,
                translation: of_segment(n),
            };
            segments.into_iter().enumerate().map(segment).collect()
        });
        let translation = translations.as_ref().map(|all| joined(all));
        Ok((Outcome::Transcription { transcription, translation, timestamps, seconds, warnings }, took))
    }
}

/// Texts with a space between two; what is empty leaves none.
fn joined(texts: &[String]) -> String {
    let said: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    said.join(" ")
}

/// Decodes on a blocking thread, which ends when the receiver is dropped.
fn listen(upload: Upload, limits: Limits, ear: &Ear) -> mpsc::Receiver<Heard> {
    let (tell, heard) = mpsc::channel(READY);
    let (front_end, mut listener) = (ear.front_end.clone(), Some(Listener::new(ear.clock.grid)));
    tokio::task::spawn_blocking(move || {
        let mut preparing = Preparing::default();
        let mut started = Instant::now();
        let mut audio = match Audio::open(upload, &limits) {
            Ok(audio) => audio,
            Err(undecodable) => {
                preparing.decoding = started.elapsed();
                return drop(tell.blocking_send(Heard::Undecodable(undecodable, preparing)));
            }
        };
        loop {
            let (windows, is_over) = match audio.next() {
                Ok(Some(piece)) => (listener.as_mut().map_or_else(Vec::new, |l| l.hear(&piece)), false),
                Ok(None) => (listener.take().and_then(Listener::finish).into_iter().collect(), true),
                Err(undecodable) => {
                    preparing.decoding += started.elapsed();
                    return drop(tell.blocking_send(Heard::Undecodable(undecodable, preparing)));
                }
            };
            for window in windows {
                preparing.decoding += started.elapsed();
                started = Instant::now();
                let features = front_end.features(&window.samples);
                preparing.features += started.elapsed();
                if features.n_frames > 0 && tell.blocking_send(Heard::Window(window, features)).is_err() {
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
        let _ = tell.blocking_send(Heard::End { seconds, warnings, preparing });
    });
    heard
}
