//! Recognises an utterance as it is recognised in a recording.

use akhar_inference::{
    Confidence,
    speech::{Evidence, Joiner, TimedText, Transcript, Window, features::Features, is_certain, likeliest},
};
use akhar_requests::{KeyTerm, Language, SpeechParameters, live::LiveParameters};
use tokio::sync::watch;

use super::{
    super::{
        error::OperationError,
        language_engine::{LanguageEngine, Recognising, SpeechInput, cost},
        progress::Progress,
        speech::SpeechOperation,
    },
    context::Passage,
};
use crate::{
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
    /// The words, with times from the beginning of the session.
    pub(super) words: Vec<TimedText>,
    /// The start of the word behind them, if one was heard.
    pub(super) next_s: Option<f64>,
    /// How many of the first ones no further sound changes.
    pub(super) n_settled: usize,
    /// Up to where the sound is known, seconds from there.
    pub(super) seconds: f64,
    /// The transcripts of windows that no further sound changes, with their first samples.
    pub(super) known: Vec<(usize, Transcript)>,
    /// The language that was detected.
    pub(super) detected: Option<Language>,
    pub(super) confidence: Option<Confidence>,
    pub(super) warnings: Vec<String>,
    pub(super) spent: Recognising,
}

impl Recognised {
    /// From where on words belong to the utterance behind this one, which ends at `end_s`, if any word was heard. The next time,
    /// words may seem to begin a little earlier or later, and there may be one that this one was ended in.
    pub(super) fn boundary_s(&self, end_s: f64) -> Option<f64> {
        let last = self.words.last()?;
        Some(self.next_s.map_or(last.end.min(end_s), |next| f64::midpoint(last.start, next)))
    }
}

/// Recognises an utterance. Detects its language if that is asked for.
pub(super) async fn recognise(
    speech: &SpeechOperation,
    requester: Requester,
    asked: &SpeechParameters,
    passage: Passage,
) -> Result<Recognised, OperationError> {
    if !asked.detect_language {
        return of_language(speech, requester, (asked.lang, &asked.keyterms), passage).await;
    }
    let mut all = Vec::new();
    let mut spent = Recognising::default();
    for language in Language::ALL {
        let found = of_language(speech, requester, (language, &asked.keyterms), passage.clone()).await?;
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
    let taken = detected.unwrap_or(asked.lang);
    let found = all.into_iter().find_map(|(language, _, found)| (language == taken).then_some(found));
    Ok(Recognised { detected, spent, ..found.unwrap_or_default() })
}

pub(super) async fn engine(
    speech: &SpeechOperation,
    language: Language,
) -> Result<&LanguageEngine, OperationError> {
    Ok(speech.engines.get(&language).ok_or(OperationError::NoModel(language.code()))?.get().await?)
}

async fn of_language(
    speech: &SpeechOperation,
    requester: Requester,
    (language, keyterms): (Language, &[KeyTerm]),
    passage: Passage,
) -> Result<Recognised, OperationError> {
    let engine = engine(speech, language).await?;
    let (terms, without_effect) = engine.terms(keyterms);
    let (utterance, seconds) = (passage.utterance.clone(), passage.end_s());
    let mut joiner = Joiner::new(engine.clock);
    let mut spent = Recognising::default();
    let mut known = Vec::new();
    let mut n_settled = 0;
    for Prepared { window, is_complete, sound } in prepared(engine, passage).await? {
        let transcript = match sound {
            Sound::Known(transcript) => transcript,
            Sound::Features(features) => {
                let input = SpeechInput { features, language, terms: terms.clone() };
                let turn = Turn { requester, cost: cost(&window) };
                engine.recognise(turn, input, &mut spent).await?
            }
        };
        if is_complete {
            known.push((window.start, transcript.clone()));
        }
        joiner.add(&window, transcript);
        if is_complete {
            n_settled = joiner.settled().len();
        }
    }
    let mut words = joiner.words();
    let is_said = |word: &TimedText| utterance.contains(&word.start);
    let next_s = words.iter().map(|word| word.start).find(|start| *start >= utterance.end);
    let n_settled = words[..n_settled].iter().filter(|word| is_said(word)).count();
    words.retain(is_said);
    let warnings = without_effect.into_iter().collect();
    Ok(Recognised {
        words,
        next_s,
        n_settled,
        seconds,
        known,
        detected: None,
        confidence: engine.confidence,
        warnings,
        spent,
    })
}

/// A window of a passage.
struct Prepared {
    window: Window,
    /// Whether no further sound changes it.
    is_complete: bool,
    sound: Sound,
}

/// What is known of the sound of a window.
enum Sound {
    Features(Features),
    Known(Transcript),
}

/// The windows of a passage in which there may be words of its utterance.
async fn prepared(engine: &LanguageEngine, passage: Passage) -> Result<Vec<Prepared>, OperationError> {
    let (front_end, clock) = engine.input();
    let prepare = move || {
        let (windows, n_complete) = passage.windows(clock.grid)?;
        let mut known = passage.sound.known.into_iter().peekable();
        let prepared = windows.into_iter().enumerate().map(|(nth, window)| {
            let transcript = known.next_if(|(start, _)| *start == window.start);
            let features = || Sound::Features(front_end.features(&window.samples));
            let sound = transcript.map_or_else(features, |(_, transcript)| Sound::Known(transcript));
            Prepared { is_complete: nth < n_complete, window, sound }
        });
        let has_frames = |prepared: &Prepared| match &prepared.sound {
            Sound::Features(features) => features.n_frames > 0,
            Sound::Known(_) => true,
        };
        Ok(prepared.filter(has_frames).collect())
    };
    let prepared = low_priority::spawn("prepare", prepare).map_err(OperationError::Thread)?;
    prepared.await.map_err(|_| OperationError::Decoder)?
}
