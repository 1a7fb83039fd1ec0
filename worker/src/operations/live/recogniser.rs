//! Recognises the sound of an utterance as that of a recording is recognised.

use std::time::Duration;

use akhar_inference::{
    Confidence,
    speech::{Chunker, Evidence, Joiner, TimedText, Window, features::Features, is_certain, likeliest},
};
use akhar_requests::{
    Language, Outcome, SpeechParameters,
    live::{LiveParameters, LiveSession},
};
use tokio::sync::watch;

use super::super::{
    error::OperationError,
    language_engine::{LanguageEngine, Recognising, SpeechInput, cost},
    progress::Progress,
    speech::{SpeechJob, SpeechOperation},
};
use crate::{
    decode::audio::resampled,
    fair_queue::{Requester, Turn},
    low_priority,
    stream::Stream,
};

/// A session that is transcribed.
#[derive(Clone, Copy)]
pub(crate) struct LiveJob<'a> {
    pub(crate) requester: Requester,
    pub(crate) parameters: &'a LiveParameters,
    pub(crate) stream: &'a Stream,
    /// Receives how far the session is, whenever it goes on.
    pub(crate) progress: &'a watch::Sender<Progress>,
}

/// What is recognised of an utterance.
#[derive(Debug, Default)]
pub(super) struct Recognised {
    /// The words, with times from the beginning of the utterance.
    pub(super) words: Vec<TimedText>,
    /// The length of the sound, seconds.
    pub(super) seconds: f64,
    /// The language that was detected.
    pub(super) detected: Option<Language>,
    pub(super) confidence: Option<Confidence>,
    pub(super) warnings: Vec<String>,
    pub(super) spent: Recognising,
}

/// Recognises an utterance at this rate. Detects its language if the session asks for that.
pub(super) async fn recognise(
    speech: &SpeechOperation,
    requester: Requester,
    session: &LiveSession,
    (rate, samples): (u32, Vec<f32>),
) -> Result<Recognised, OperationError> {
    if !session.detect_language {
        return of_language(speech, requester, (session, session.lang), (rate, samples)).await;
    }
    let mut all = Vec::new();
    let mut spent = Recognising::default();
    for language in Language::ALL {
        let found = of_language(speech, requester, (session, language), (rate, samples.clone())).await?;
        spent += found.spent;
        let evidence = found.words.iter().map(|word| word.evidence).sum::<Evidence>();
        let text = found.confidence.map(|confidence| (evidence, confidence));
        if text.as_ref().is_some_and(is_certain) {
            return Ok(Recognised { detected: Some(language), spent, ..found });
        }
        all.push((language, text, found));
    }
    let texts: Option<Vec<(Evidence, Confidence)>> = all.iter().map(|(_, text, _)| *text).collect();
    let detected = texts.and_then(|texts| likeliest(&texts)).map(|place| all[place].0);
    let taken = detected.unwrap_or(session.lang);
    let found = all.into_iter().find_map(|(language, _, found)| (language == taken).then_some(found));
    Ok(Recognised { detected, spent, ..found.unwrap_or_default() })
}

async fn of_language(
    speech: &SpeechOperation,
    requester: Requester,
    (session, language): (&LiveSession, Language),
    (rate, samples): (u32, Vec<f32>),
) -> Result<Recognised, OperationError> {
    let engine = speech.engines.get(&language).ok_or(OperationError::NoModel(language.code()))?.get().await?;
    let (terms, without_effect) = engine.terms(&session.keyterms);
    let (windows, seconds) = prepared(engine, rate, samples).await?;
    let mut joiner = Joiner::new(engine.clock);
    let mut spent = Recognising::default();
    for (window, features) in windows {
        let input = SpeechInput { features, language, terms: terms.clone() };
        let turn = Turn { requester, cost: cost(&window) };
        joiner.add(&window, engine.recognise(turn, input, &mut spent).await?);
    }
    let (words, confidence) = (joiner.words(), engine.confidence);
    let warnings = without_effect.into_iter().collect();
    Ok(Recognised { words, seconds, detected: None, confidence, warnings, spent })
}

/// The windows of an utterance with their features, and its length in seconds.
async fn prepared(
    engine: &LanguageEngine,
    rate: u32,
    samples: Vec<f32>,
) -> Result<(Vec<(Window, Features)>, f64), OperationError> {
    let (front_end, clock) = engine.input();
    let prepare = move || {
        let sound = resampled(rate, &samples).map_err(|error| OperationError::Sound(error.detail))?;
        let mut chunker = Chunker::new(clock.grid);
        let mut windows = chunker.push(&sound);
        windows.extend(chunker.finish());
        let with_features = windows.into_iter().map(|window| {
            let features = front_end.features(&window.samples);
            (window, features)
        });
        let with_features = with_features.filter(|(_, features)| features.n_frames > 0).collect();
        #[expect(clippy::cast_precision_loss, reason = "an utterance is short")]
        Ok((with_features, samples.len() as f64 / f64::from(rate)))
    };
    let prepared = low_priority::spawn("prepare", prepare).map_err(OperationError::Thread)?;
    prepared.await.map_err(|_| OperationError::Decoder)?
}

/// What a recording with these words would become.
pub(super) async fn outcome_of(
    speech: &SpeechOperation,
    LiveJob { requester, progress, .. }: LiveJob<'_>,
    parameters: &SpeechParameters,
    recognised: &Recognised,
) -> Result<(Outcome, Duration), OperationError> {
    let job = SpeechJob { requester, parameters, progress };
    speech.outcome_of(&job, recognised.confidence, &recognised.words, recognised.seconds).await
}
