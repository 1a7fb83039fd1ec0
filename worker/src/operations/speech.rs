//! Speech jobs: from a recording to its transcript, and on request a translation.
//!
//! A recording is processed in windows. Only a few windows are in memory at a time, so the memory use does
//! not grow with the length of the recording. At the model, accounts take turns with their windows, so a short
//! recording of one account does not wait for the end of a long one of another.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::Arc,
    time::Duration,
};

use akhar_inference::{
    Confidence, KeyTerms, Registry,
    speech::{
        Evidence, Interleaving, Joiner, Recognised, Segmenter, TimedText, Transcript, text, unlikely_parts,
        utterances,
    },
};
use akhar_jobs::Timing;
use akhar_requests::{
    Channels, Digits, Language, Operation, Outcome, ProbablyWrong, Segment, SpeechParameters, TextKind,
};
use futures::future::try_join_all;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{
    detection::{Detected, detect, heard_instead},
    engines,
    error::OperationError,
    language_engine::{LanguageEngine, Recognising, SpeechInput, cost},
    lazy_model::{LazyModel, LazyModels},
    preparation::{Last, Prepared, Preparing, Track, prepare},
    progress::{Progress, goes_on},
    punctuation::{Punctuation, form},
    shown::{Shown, thousandths},
    timing::micros,
    translation::{Translators, in_form},
    written::{Written, finished, written},
};
use crate::{
    decode::{
        audio::{self, AudioLimits},
        job_file::JobFile,
        undecodable::Undecodable,
    },
    decoding::DecodingTurns,
    engine::RunningModel,
    error::WorkerError,
    fair_queue::{Requester, Turn},
};

/// The models of all languages, and the translators.
pub(crate) struct SpeechOperation {
    pub(super) engines: HashMap<Language, Arc<LazyModel<LanguageEngine>>>,
    translators: Translators,
    punctuation: Punctuation,
    turns: DecodingTurns,
}

/// A job that is transcribed.
pub(super) struct SpeechJob<'a> {
    pub(super) requester: Requester,
    pub(super) parameters: &'a SpeechParameters,
    /// Receives how far the job is, after each run of a model.
    pub(super) progress: &'a watch::Sender<Progress>,
}

/// How reading a recording, or one of its channels, ended.
enum Ended {
    Recognised(Recognised, Preparing),
    Undecodable(Undecodable, Preparing),
}

/// One reading of a recording.
struct Reading<'a> {
    track: Track,
    /// The channel that is read, from 0. `None`: all of them, mixed.
    channel: Option<usize>,
    /// Takes the segments of all readings.
    interleaving: &'a Mutex<Interleaving<Segment>>,
    /// The terms that are preferred.
    terms: &'a KeyTerms,
    /// The transcripts of the first windows, as far as they are known already.
    known: VecDeque<Transcript>,
}

impl SpeechOperation {
    /// Finds the model for every language. Blocks the thread.
    pub(crate) fn open(
        models: &LazyModels,
        registry: &Registry,
        turns: DecodingTurns,
    ) -> Result<Self, WorkerError> {
        let operation = Operation::SpeechRecognition.name();
        let engines = engines::by_language(registry, operation, |manifest| {
            models.of(registry, manifest, LanguageEngine::load)
        })?;
        let translators = Translators::open(models, registry)?;
        let punctuation = Punctuation::open(models, registry)?;
        Ok(Self { engines, translators, punctuation, turns })
    }

    /// The engine of the model for this language.
    pub(super) fn engine(&self, language: Language) -> Option<&dyn RunningModel> {
        Some(&**self.engines.get(&language)?)
    }

    /// Transcribes a recording, and translates the transcript on request.
    pub(super) async fn transcribe(
        &self,
        job: SpeechJob<'_>,
        file: Option<JobFile>,
    ) -> Result<(Outcome, Timing), OperationError> {
        let file = file.ok_or(OperationError::NoUpload)?;
        let transcribed = self.transcribe_file(job, &file).await?;
        match file.read_error() {
            Some(error) => Err(OperationError::Read(error.to_string())),
            None => Ok(transcribed),
        }
    }

    async fn transcribe_file(
        &self,
        job: SpeechJob<'_>,
        file: &JobFile,
    ) -> Result<(Outcome, Timing), OperationError> {
        let limits = &AudioLimits::of(file);
        let turn = |cost| Turn { requester: job.requester, cost };
        let step = || goes_on(job.progress);
        let mut spent = Recognising::default();
        let mut detected = Detected::default();
        if job.parameters.detect_language {
            let turns = (&self.turns, turn);
            detected = detect(&self.engines, job.parameters, file, limits, turns, step, &mut spent).await?;
        }
        let lang = detected.language.unwrap_or(job.parameters.lang);
        let parameters = &SpeechParameters { lang, ..job.parameters.clone() };
        let job = SpeechJob { parameters, ..job };
        let engine = self.engines.get(&parameters.lang);
        let engine = engine.ok_or(OperationError::NoModel(parameters.lang.code()))?.get().await?;
        let (terms, without_effect) = engine.terms(&parameters.keyterms);
        let is_split = parameters.channels == Channels::Split;
        // The language is that of all channels, so what was recognised is the text of none.
        let known = detected.transcripts.remove(&lang).filter(|_| !is_split);
        let mut known = known.unwrap_or_default();
        let mut preparing = Preparing::default();
        let mut recognised = Recognised::default();
        let channels = if is_split { audio::Channels::Each } else { audio::Channels::Mixed };
        let opened =
            prepare((file.clone(), limits.clone()), channels, engine.input(), (&self.turns, turn(1)), step)
                .await?;
        let tracks = match opened {
            Ok(tracks) => tracks,
            Err((undecodable, took)) => return Ok((undecodable.into(), spent.with(took))),
        };
        let interleaving = &Mutex::new(Interleaving::new(tracks.len(), |segment: &Segment| segment.start));
        let readings = tracks.into_iter().enumerate().map(|(channel, track)| {
            let (channel, known) = (is_split.then_some(channel), mem::take(&mut known));
            self.recognise(&job, engine, Reading { track, channel, interleaving, terms: &terms, known })
        });
        for (ended, took) in try_join_all(readings).await? {
            spent += took;
            match ended {
                Ended::Undecodable(undecodable, took) => {
                    preparing += took;
                    return Ok((undecodable.into(), spent.with(preparing)));
                }
                Ended::Recognised(further, took) => {
                    preparing += took;
                    recognised.add(further);
                }
            }
        }
        let mut heard = None;
        if !parameters.detect_language {
            let evidence = recognised.utterances.iter().map(|utterance| utterance.segment.evidence).sum();
            let (of, file) = ((parameters, (evidence, engine.confidence)), (file.clone(), limits.clone()));
            heard = heard_instead(&self.engines, of, file, (&self.turns, turn), step, &mut spent).await?;
        }
        let heard_instead = heard.map(|heard| {
            format!("{} was probably heard, and {} was asked for", heard.english(), parameters.lang.english())
        });
        recognised.warnings.extend(without_effect.into_iter().chain(detected.warning).chain(heard_instead));
        tracing::info!(
            seconds = recognised.seconds,
            decode_us = micros(preparing.decoding.saturating_sub(preparing.resampling)),
            resample_us = micros(preparing.resampling),
            features_us = micros(preparing.features),
            model_us = micros(spent.model),
            search_us = micros(spent.search),
            "recording transcribed"
        );
        let (outcome, translating) =
            self.outcome(&job, (engine.confidence, heard.is_some()), recognised).await?;
        spent.model += translating;
        Ok((outcome, spent.with(preparing)))
    }

    /// Recognises what is said in one reading of a recording. Also returns how long that took.
    async fn recognise(
        &self,
        &SpeechJob { requester, parameters, progress }: &SpeechJob<'_>,
        engine: &LanguageEngine,
        Reading { mut track, channel, interleaving, terms, mut known }: Reading<'_>,
    ) -> Result<(Ended, Recognising), OperationError> {
        let spent = &mut Recognising::default();
        let nth = channel.unwrap_or(0);
        let step = || goes_on(progress);
        let shown = Shown::new(parameters, engine.confidence);
        let number = channel.map(|channel| u8::try_from(channel + 1).unwrap_or(u8::MAX));
        let digits = parameters.written;
        let mut writer =
            digits.and_then(|digits| self.punctuation.writer(requester, parameters.lang, digits));
        let mut waiting = VecDeque::new();
        let mut joiner = Joiner::new(engine.clock);
        let mut segmenter = Segmenter::default();
        let mut n_given = 0;
        loop {
            match track.next(step).await? {
                Prepared::Window(window, features) => {
                    let transcript = if let Some(transcript) = known.pop_front() {
                        transcript
                    } else {
                        let input = SpeechInput { features, language: parameters.lang, terms: terms.clone() };
                        let turn = Turn { requester, cost: cost(&window) };
                        engine.recognise(turn, input, spent).await?
                    };
                    joiner.add(&window, transcript);
                    let words = joiner.settled();
                    waiting.extend(segmenter.further(words));
                    let finished = finished(&mut waiting, words, writer.as_mut(), spent).await?;
                    n_given += finished.len();
                    let finished = finished.into_iter().map(|segment| shown.segment(segment, number));
                    let unfinished = waiting.front().map_or(segmenter.n_words(), |(range, _)| range.start);
                    let next_s = words.get(unfinished).map_or(joiner.next_s(), |word| word.start);
                    let mut interleaving = interleaving.lock();
                    let ready = interleaving.add(nth, finished, next_s);
                    progress.send_modify(|progress| {
                        progress.transcribed_s = interleaving.read(nth, window.end_s());
                        progress.segments.extend(ready);
                    });
                }
                Prepared::Last(Last::End { seconds, warnings }, preparing) => {
                    let words = joiner.words();
                    let Written { segments, words, sources } =
                        written(&words, seconds, writer.as_mut(), spent).await?;
                    if channel.is_some() {
                        // The segments of other channels wait for the last ones of this channel.
                        let last = segments.iter().skip(n_given).cloned();
                        let last = last.map(|segment| shown.segment(segment, number));
                        let mut interleaving = interleaving.lock();
                        let ready = interleaving.add(nth, last, f64::INFINITY);
                        progress.send_modify(|progress| {
                            progress.transcribed_s = interleaving.read(nth, seconds);
                            progress.segments.extend(ready);
                        });
                    }
                    let utterances = utterances(segments, sources, &words, number, seconds);
                    let recognised = Recognised { utterances, seconds, warnings };
                    return Ok((Ended::Recognised(recognised, preparing), *spent));
                }
                Prepared::Last(Last::Undecodable(undecodable), preparing) => {
                    return Ok((Ended::Undecodable(undecodable, preparing), *spent));
                }
            }
        }
    }

    /// The outcome of words that were recognised elsewhere, of `seconds` of sound.
    pub(super) async fn outcome_of(
        &self,
        job: &SpeechJob<'_>,
        model: Option<Confidence>,
        words: &[TimedText],
        seconds: f64,
    ) -> Result<(Outcome, Duration), OperationError> {
        let &SpeechJob { requester, parameters, .. } = job;
        let writer = |digits| self.punctuation.writer(requester, parameters.lang, digits);
        let mut writer = parameters.written.and_then(writer);
        let mut spent = Recognising::default();
        let Written { segments, words, sources } =
            written(words, seconds, writer.as_mut(), &mut spent).await?;
        let utterances = utterances(segments, sources, &words, None, seconds);
        let recognised = Recognised { utterances, seconds, warnings: Vec::new() };
        let (outcome, took) = self.outcome(job, (model, false), recognised).await?;
        Ok((outcome, took + spent.model))
    }

    /// Builds the outcome of a recording that is transcribed. `is_other`: another language was heard than the model's, so that the
    /// whole text is probably wrong. Also returns how long its translation took.
    async fn outcome(
        &self,
        &SpeechJob { requester, parameters, progress }: &SpeechJob<'_>,
        (model, is_other): (Option<Confidence>, bool),
        Recognised { utterances, seconds, mut warnings, .. }: Recognised,
    ) -> Result<(Outcome, Duration), OperationError> {
        let shown = Shown::new(parameters, model);
        let said: Vec<TimedText> = utterances.iter().map(|u| u.segment.clone()).collect();
        let unlikely = unlikely_parts(&said, |_, s| is_other || model.is_some_and(|c| s.evidence.is_low(&c)));
        let mut probably_wrong = self::probably_wrong(TextKind::Transcription, unlikely);
        let evidence = said.iter().map(|segment| segment.evidence).sum::<Evidence>();
        let confidence = model.and_then(|c| evidence.probability(&c));
        let mut translations: Option<Vec<String>> = None;
        let mut took = Duration::ZERO;
        if parameters.translate_into == Some(parameters.lang) {
            translations = Some(said.iter().map(|segment| segment.text.clone()).collect());
        } else if parameters.with_translation {
            let sources = utterances.iter().map(|utterance| utterance.source.clone()).collect();
            let step = || goes_on(progress);
            let (found, spent) =
                self.translators.translate(requester, sources, parameters.lang, step).await?;
            let is_low = |n: usize| found.get(n).is_some_and(|translation| translation.is_low);
            let unlikely = unlikely_parts(&said, |n, _| is_low(n));
            probably_wrong.extend(self::probably_wrong(TextKind::Translation, unlikely));
            let language = parameters.lang.other();
            // Gurmukhi digits are for Panjabi.
            let of = |digits| if language == Language::English { Digits::Latin } else { digits };
            let form = parameters.written.and_then(|digits| form(language, of(digits)));
            translations = Some(found.iter().map(|translation| in_form(translation, form)).collect());
            took = spent;
        }
        let texts = said.iter().map(|s| &s.text).chain(translations.iter().flatten());
        warnings.extend(shown.warning(texts.map(String::as_str)));
        for translation in translations.iter_mut().flatten() {
            *translation = shown.text(translation);
        }
        let of_segment = |n: usize| translations.as_ref().and_then(|all| all.get(n).cloned());
        let mut words = Vec::new();
        let mut shown_segments = Vec::with_capacity(utterances.len());
        for (nth, utterance) in utterances.into_iter().enumerate() {
            let channel = utterance.channel;
            words.extend(utterance.words.into_iter().map(|word| shown.word(word, channel)));
            shown_segments
                .push(Segment { translation: of_segment(nth), ..shown.segment(utterance.segment, channel) });
        }
        let (timestamps, segments) = if parameters.with_timestamps {
            (Some(shown_segments), Vec::new())
        } else {
            (None, shown_segments)
        };
        let outcome = Outcome::Transcription {
            transcription: shown.text(&text(&said)),
            translation: translations.as_ref().map(|all| join_texts(all)),
            timestamps,
            words: parameters.with_words.then_some(words),
            segments,
            seconds,
            warnings,
            probably_wrong,
            confidence: confidence.map(thousandths),
            language: parameters.detect_language.then_some(parameters.lang),
            subtitles: parameters.subtitles,
        };
        Ok((outcome, took))
    }
}

fn probably_wrong(text: TextKind, parts: Vec<(f64, f64)>) -> Vec<ProbablyWrong> {
    parts.into_iter().map(|(start, end)| ProbablyWrong { text, start, end }).collect()
}

/// Joins texts with single spaces and leaves out empty ones.
fn join_texts(texts: &[String]) -> String {
    let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}
