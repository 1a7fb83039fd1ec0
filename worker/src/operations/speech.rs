//! Speech jobs: from a recording to its transcript, and on request a translation.
//!
//! A recording is processed in windows. Only a few windows are in memory at a time, so the memory use does
//! not grow with the length of the recording. At the model, accounts take turns with their windows, so a short
//! recording of one account does not wait for the end of a long one of another.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{
    Confidence, Registry, Runtime, RuntimeError,
    speech::{
        self, Clock, Evidence, FrontEnd, Joiner, Segmenter, SpeechModel, TimedText, Transcript, WindowOutput,
        features::Features, segments, text, unlikely_parts,
    },
};
use akhar_jobs::{self as jobs, Language, Operation, Outcome, ProbablyWrong, TextKind, Timing, Upload};
use akhar_platform::config::Config;
use tokio::sync::watch;
use uuid::Uuid;

use super::{
    by_language::by_language,
    engines,
    error::OperationError,
    preparation::{Prepared, Preparing, prepare},
    progress::Progress,
    shown::{Shown, thousandths},
    timing::micros,
    translation::Translators,
    written::{Punctuation, Writer},
};
use crate::{
    decode::audio::AudioLimits,
    engine::{BatchLimits, BatchModel, Engine, EngineError, RunningModel},
    error::WorkerError,
    fair_queue::Turn,
    low_priority,
};

/// Windows in one run of a recogniser at most: some short ones, or a long one of up to 14 s. The cost is samples.
const BATCHES: BatchLimits = BatchLimits { max_inputs: 4, max_cost: 16 * speech::SAMPLE_RATE as u64 };

/// The engines of all languages, and the translators.
pub(crate) struct SpeechOperation {
    engines: HashMap<Language, LanguageEngine>,
    translators: Translators,
    punctuation: Punctuation,
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

/// A job that is transcribed.
pub(super) struct SpeechJob<'a> {
    pub(super) account_id: Uuid,
    pub(super) parameters: jobs::SpeechParameters,
    /// Receives how far the job is, after each run of a model.
    pub(super) progress: &'a watch::Sender<Progress>,
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

/// A recording of which everything is known but the translation.
struct Transcribed {
    segments: Vec<TimedText>,
    /// The texts of the segments as the translator reads them.
    sources: Vec<String>,
    words: Option<Vec<jobs::Word>>,
    seconds: f64,
    warnings: Vec<String>,
    probably_wrong: Vec<ProbablyWrong>,
    /// The expected share of letters that are right.
    confidence: Option<f64>,
    shown: Shown,
}

/// The time that recognising a recording takes once its windows are prepared.
#[derive(Debug, Clone, Copy, Default)]
struct Recognising {
    /// The runs of the models, translation included.
    model: Duration,
    search: Duration,
}

impl Recognising {
    fn with(self, preparing: Preparing) -> Timing {
        Timing { decode_us: micros(preparing.total()), infer_us: micros(self.model + self.search) }
    }
}

impl LanguageEngine {
    /// The transcript of a window, when it is its turn.
    async fn recognise(
        &self,
        turn: Turn,
        input: SpeechInput,
        spent: &mut Recognising,
    ) -> Result<Transcript, OperationError> {
        let answer = self.engine.infer(turn, input).await?;
        spent.model += answer.took;
        let search = move || {
            let started = Instant::now();
            (answer.output.decode(), started.elapsed())
        };
        let searched = low_priority::spawn("search", search).map_err(OperationError::Thread)?;
        let (transcript, took) = searched.await.map_err(|_| OperationError::Search)?;
        spent.search += took;
        Ok(transcript)
    }
}

impl SpeechOperation {
    /// Loads a model for every language and warms it up. Blocks the thread. The threads of the models have this
    /// thread's priority.
    pub(crate) fn load(runtime: &Runtime, registry: &Registry, config: &Config) -> Result<Self, WorkerError> {
        let operation = Operation::SpeechRecognition.name();
        let engines = engines::by_language(registry, operation, |manifest| {
            let load = || speech::load(runtime, manifest, config.inference_threads.get());
            let model = load()?;
            let (front_end, clock) = (model.front_end(), model.clock());
            let mut copies = vec![Recogniser(model)];
            for _ in 1..config.speech_copies().get() {
                copies.push(Recogniser(load()?));
            }
            let engine = Arc::new(engines::start_copies(manifest, copies, BATCHES)?);
            Ok(LanguageEngine { engine, front_end, clock, confidence: manifest.confidence })
        })?;
        let translators = Translators::load(runtime, registry, config)?;
        let punctuation = Punctuation::load(runtime, registry, config)?;
        Ok(Self { engines, translators, punctuation, limits: AudioLimits::default() })
    }

    /// The engine of the model for this language.
    pub(super) fn engine(&self, language: Language) -> Option<&dyn RunningModel> {
        let engine: &Engine<Recogniser> = &self.engines.get(&language)?.engine;
        Some(engine)
    }

    /// Transcribes a recording, and translates the transcript on request.
    pub(super) async fn transcribe(
        &self,
        job: SpeechJob<'_>,
        upload: Option<Upload>,
    ) -> Result<(Outcome, Timing), OperationError> {
        let SpeechJob { account_id, parameters, progress } = job;
        let upload = upload.ok_or(OperationError::NoUpload)?;
        let engine = self.engines.get(&parameters.lang);
        let engine = engine.ok_or(OperationError::NoModel(parameters.lang.code()))?;
        let mut prepared = prepare(upload, self.limits.clone(), engine.front_end.clone(), engine.clock)
            .map_err(OperationError::Thread)?;
        let shown = Shown::new(parameters, engine.confidence);
        let digits = parameters.written;
        let mut writer =
            digits.and_then(|digits| self.punctuation.writer(account_id, parameters.lang, digits));
        let mut waiting = VecDeque::new();
        let mut joiner = Joiner::new(engine.clock);
        let mut segmenter = Segmenter::default();
        let mut spent = Recognising::default();
        while let Some(next) = prepared.recv().await {
            match next {
                Prepared::Window(window, features) => {
                    let input = SpeechInput { features, language: parameters.lang };
                    let cost = u64::try_from(window.samples.len()).unwrap_or(u64::MAX);
                    let turn = Turn { account_id, cost };
                    joiner.add(&window, engine.recognise(turn, input, &mut spent).await?);
                    let words = joiner.settled();
                    waiting.extend(segmenter.further(words));
                    let finished = finished(&mut waiting, words, writer.as_mut(), &mut spent).await?;
                    let finished = finished.into_iter().map(|segment| shown.segment(segment));
                    progress.send_modify(|progress| {
                        progress.transcribed_s = window.end_s();
                        progress.segments.extend(finished);
                    });
                }
                Prepared::End { seconds, warnings, preparing } => {
                    tracing::info!(
                        seconds,
                        decode_us = micros(preparing.decoding.saturating_sub(preparing.resampling)),
                        resample_us = micros(preparing.resampling),
                        features_us = micros(preparing.features),
                        model_us = micros(spent.model),
                        search_us = micros(spent.search),
                        "recording transcribed"
                    );
                    let mut words = joiner.words();
                    let mut segments = segments(&words, seconds);
                    let mut sources: Vec<String> = segments.iter().map(|s| s.text.clone()).collect();
                    if let Some(writer) = &mut writer {
                        spent.model += writer.read(&words, true).await?;
                        (words, sources) = writer.finish(&words, &mut segments);
                    }
                    let is_low = |s: &TimedText| engine.confidence.is_some_and(|c| s.evidence.is_low(&c));
                    let unlikely = unlikely_parts(&segments, |_, s| is_low(s));
                    let evidence = segments.iter().map(|segment| segment.evidence).sum::<Evidence>();
                    let recording = Transcribed {
                        confidence: engine.confidence.and_then(|c| evidence.probability(&c)),
                        words: parameters.with_words.then(|| shown.words(&words, seconds)),
                        sources,
                        probably_wrong: probably_wrong(TextKind::Transcription, unlikely),
                        segments,
                        seconds,
                        warnings,
                        shown,
                    };
                    let (outcome, translating) = self.outcome(&job, recording).await?;
                    spent.model += translating;
                    return Ok((outcome, spent.with(preparing)));
                }
                Prepared::Undecodable(undecodable, preparing) => {
                    return Ok((undecodable.into(), spent.with(preparing)));
                }
            }
        }
        Err(OperationError::Decoder) // the panic hook has logged the panic
    }

    /// Builds the outcome of a recording that is transcribed. Also returns how long its translation took.
    async fn outcome(
        &self,
        &SpeechJob { account_id, parameters, progress }: &SpeechJob<'_>,
        transcribed: Transcribed,
    ) -> Result<(Outcome, Duration), EngineError> {
        let Transcribed {
            segments,
            sources,
            words,
            seconds,
            mut warnings,
            mut probably_wrong,
            confidence,
            shown,
        } = transcribed;
        let mut translations: Option<Vec<String>> = None;
        let mut took = Duration::ZERO;
        if parameters.with_translation {
            let step = || progress.send_modify(|_| ()); // the attempt goes on, and has not transcribed more
            let (found, spent) =
                self.translators.translate(account_id, sources, parameters.lang, step).await?;
            let is_low = |n: usize| found.get(n).is_some_and(|translation| translation.is_low);
            let unlikely = unlikely_parts(&segments, |n, _| is_low(n));
            probably_wrong.extend(self::probably_wrong(TextKind::Translation, unlikely));
            translations = Some(found.into_iter().map(|t| t.text).collect());
            took = spent;
        }
        let transcription = text(&segments);
        let texts = segments.iter().map(|s| &s.text).chain(translations.iter().flatten());
        warnings.extend(shown.warning(texts.map(String::as_str)));
        for translation in translations.iter_mut().flatten() {
            *translation = shown.text(translation);
        }
        let of_segment = |n: usize| translations.as_ref().and_then(|all| all.get(n).cloned());
        let (timestamps, segments) = if parameters.with_timestamps {
            let segment = |(n, s)| jobs::Segment { translation: of_segment(n), ..shown.segment(s) };
            (Some(segments.into_iter().enumerate().map(segment).collect()), Vec::new())
        } else {
            (None, segments.into_iter().map(|segment| shown.segment(segment)).collect())
        };
        let translation = translations.as_ref().map(|all| join_texts(all));
        let outcome = Outcome::Transcription {
            transcription: shown.text(&transcription),
            translation,
            timestamps,
            words,
            segments,
            seconds,
            warnings,
            probably_wrong,
            confidence: confidence.map(thousandths),
            subtitles: parameters.subtitles,
        };
        Ok((outcome, took))
    }
}

fn probably_wrong(text: TextKind, parts: Vec<(f64, f64)>) -> Vec<ProbablyWrong> {
    parts.into_iter().map(|(start, end)| ProbablyWrong { text, start, end }).collect()
}

/// Takes the segments that nothing changes any more, with their words as they are written.
async fn finished(
    waiting: &mut VecDeque<(Range<usize>, TimedText)>,
    words: &[TimedText],
    writer: Option<&mut Writer>,
    spent: &mut Recognising,
) -> Result<Vec<TimedText>, EngineError> {
    let Some(writer) = writer else {
        return Ok(waiting.drain(..).map(|(_, segment)| segment).collect());
    };
    spent.model += writer.read(words, false).await?;
    let n = waiting.iter().take_while(|(range, _)| range.end <= writer.n_ready()).count();
    let written = |(range, segment): (Range<usize>, TimedText)| TimedText {
        text: text(&writer.words(words, range)),
        ..segment
    };
    Ok(waiting.drain(..n).map(written).collect())
}

/// Joins texts with single spaces and leaves out empty ones.
fn join_texts(texts: &[String]) -> String {
    let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}
