//! The utterances of a session: when one begins, what it may become, and its text.

use std::{mem, ops::Range};

use akhar_inference::{Confidence, speech::TimedText};
use akhar_requests::{
    Outcome, SpeechParameters, Word,
    live::{LiveEvent, LivePreview, LiveUtterance},
};

use super::{
    super::{error::OperationError, language_engine::LanguageEngine, shown::thousandths, speech::SpeechJob},
    cutter::CutterState,
    item::Item,
    recogniser::{LiveJob, Recognised, engine, recognise},
    session::Session,
    stable::Hypothesis,
};
use crate::{engine::EngineError, low_priority};

/// The further speech after which there is another hypothesis, milliseconds.
const FURTHER_MS: u64 = 400;

impl Session<'_> {
    /// An utterance begins, as the sound up to `heard` shows. The sound before it need not be read again, so that no more is kept
    /// than an utterance and what it is recognised with. The cutter finds it again from `next`.
    pub(super) async fn start_item(
        &mut self,
        at: u64,
        heard: u64,
        next: CutterState,
    ) -> Result<(), OperationError> {
        // What goes on from an utterance that was too long may have a word that begins before its end.
        if !next.is_further {
            self.go_on_from(at, heard).await?;
        }
        let started = LiveEvent::SpeechStarted { item: self.item.number, start_ms: self.ms(at) };
        let event = self.item.once(started).filter(|_| self.asked.turn_detection.is_some());
        self.say(event.into_iter().collect(), None, Some(next)).await
    }

    /// The sound before `position` is needed only in so far as what follows is recognised with it. An utterance in a language that
    /// is not known yet is recognised alone.
    pub(super) async fn go_on_from(&mut self, position: u64, heard: u64) -> Result<(), OperationError> {
        if self.asked.speech.detect_language {
            self.context.begin_at(position);
        } else if self.context.has_ended_window(heard) {
            let passage = self.context.passage(heard, heard);
            let grid = engine(self.speech, self.asked.speech.lang).await?.clock.grid;
            let window = low_priority::spawn("prepare", move || passage.last_window(position, grid));
            let window = window.map_err(OperationError::Thread)?.await;
            self.context.go_on_from(window.map_err(|_| OperationError::Decoder)??);
        }
        Ok(())
    }

    pub(super) async fn end_open_item(&mut self) -> Result<(), OperationError> {
        let utterance = self.cutter.commit();
        self.end_item(utterance, self.cutter.end(), self.cutter.state(), false).await
    }

    /// An utterance is over, at a pause or because its caller says so. The cutter goes on from `next`.
    pub(super) async fn end_item(
        &mut self,
        utterance: Range<u64>,
        heard: u64,
        next: CutterState,
        at_pause: bool,
    ) -> Result<(), OperationError> {
        self.hypothesis = None;
        let (start_ms, end_ms) = (self.ms(utterance.start), self.ms(utterance.end));
        let is_turn = at_pause && self.asked.turn_detection.is_some();
        let item = self.item.number;
        let stopped = is_turn.then_some(LiveEvent::SpeechStopped { item, end_ms });
        let events = stopped.into_iter().chain([LiveEvent::Committed { item, start_ms, end_ms }]);
        let events = events.filter_map(|event| self.item.once(event)).collect();
        self.say(events, None, None).await?;
        let passage = self.context.passage(utterance.end, heard);
        // Without sound, there is nothing but what it would be recognised with.
        let recognised = if self.context.state.boundary < utterance.end {
            recognise(self.speech, self.job.requester, &self.asked.speech, passage).await
        } else {
            Ok(Recognised::default())
        };
        let boundary = recognised.as_ref().ok().and_then(|r| r.boundary_s(self.seconds(utterance.end)));
        let boundary = boundary.filter(|_| !self.asked.speech.detect_language);
        let boundary = boundary.map_or(utterance.end, |seconds| self.context.position(seconds));
        let completed = match recognised {
            Ok(recognised) => self.complete(&utterance, recognised).await,
            Err(error) => Err(error),
        };
        let last = match completed {
            Ok(last) => last,
            Err(error) => {
                let detail = of_model(error, "there is no text")?;
                vec![LiveEvent::Failed { item: self.item.number, code: "model_failed".to_owned(), detail }]
            }
        };
        self.item = Item::new(self.item.number + 1);
        self.context.state.boundary = boundary;
        self.go_on_from(utterance.end.min(boundary), heard).await?;
        self.say(last, None, Some(next)).await
    }

    /// Says the text of an utterance. Returns what is said at its end.
    async fn complete(
        &mut self,
        utterance: &Range<u64>,
        recognised: Recognised,
    ) -> Result<Vec<LiveEvent>, OperationError> {
        self.spent += recognised.spent;
        let (start_ms, end_ms) = (self.ms(utterance.start), self.ms(utterance.end));
        let said = (&recognised.words[..], recognised.confidence, self.seconds(utterance.end));
        let asked = self.asked.speech.clone();
        let parameters = SpeechParameters {
            lang: recognised.detected.unwrap_or(asked.lang),
            with_translation: false,
            translate_into: None,
            with_timestamps: true,
            with_words: true,
            with_confidence: true,
            ..asked
        };
        let outcome = self.outcome_of(&parameters, said).await?;
        let Outcome::Transcription { transcription, words, confidence, mut warnings, .. } = outcome else {
            return Ok(Vec::new());
        };
        let texts: Vec<String> = transcription.split_whitespace().map(str::to_owned).collect();
        let (further, is_changed) = self.item.words.finish(&texts);
        self.n_changed += usize::from(is_changed);
        let mut last: Vec<LiveEvent> = self.item.delta(further).into_iter().collect();
        let mut translation = None;
        if asked.with_translation && !transcription.is_empty() {
            self.say(mem::take(&mut last), None, None).await?;
            let translate_into = asked.translate_into;
            let parameters = SpeechParameters { with_translation: true, translate_into, ..parameters };
            match self.outcome_of(&parameters, said).await {
                Ok(Outcome::Transcription { translation: found, warnings: all, .. }) => {
                    (translation, warnings) = (found, all);
                }
                Err(error) => warnings.push(of_model(error, "there is no translation")?),
                Ok(_) => (),
            }
            let (item, text) = (self.item.number, translation.clone());
            last.extend(text.map(|text| LiveEvent::TranslationDelta { item, text, end_ms }));
        }
        warnings.extend(recognised.warnings);
        let words = words.unwrap_or_default().into_iter();
        let words = words.map(|w| Word { start: thousandths(w.start), end: thousandths(w.end), ..w });
        last.push(LiveEvent::Completed(LiveUtterance {
            item: self.item.number,
            start_ms,
            end_ms,
            text: self.item.words.text(),
            words: words.collect(),
            confidence,
            lang: parameters.lang,
            language: recognised.detected,
            translation,
            warnings,
        }));
        Ok(last)
    }

    /// What a recording with these words would become.
    async fn outcome_of(
        &mut self,
        parameters: &SpeechParameters,
        (words, confidence, seconds): (&[TimedText], Option<Confidence>, f64),
    ) -> Result<Outcome, OperationError> {
        let LiveJob { requester, progress, .. } = self.job;
        let job = SpeechJob { requester, parameters, progress };
        let (outcome, took) = self.speech.outcome_of(&job, confidence, words, seconds).await?;
        self.spent.model += took;
        Ok(outcome)
    }

    /// Makes a hypothesis of the open utterance, if nobody else needs the model. What is written with marks and figures, or in
    /// a language that is not known yet, is not known word by word. Returns `false` if one is due and the model is not idle.
    pub(super) fn guess(&mut self) -> bool {
        let is_word_by_word = self.asked.speech.written.is_none() && !self.asked.speech.detect_language;
        let Some(spoken) = self.cutter.open().filter(|_| is_word_by_word) else { return true };
        let n_further = spoken.1.saturating_sub(self.guessed_until.max(spoken.0));
        let is_due = self.hypothesis.is_none() && self.ms(n_further) >= FURTHER_MS;
        let Some(engine) = self.speech.engines.get(&self.asked.speech.lang).filter(|_| is_due) else {
            return true;
        };
        // Without one, it is loaded first.
        let idle = engine.ready().map(LanguageEngine::idle_thread);
        if idle.as_ref().is_some_and(Option::is_none) {
            return false;
        }
        let (speech, requester, session) = (self.speech, self.job.requester, self.asked.speech.clone());
        let heard = self.context.end();
        let passage = self.context.passage(heard, heard);
        let recognising = async move {
            let recognised = recognise(speech, requester, &session, passage).await;
            drop(idle);
            recognised
        };
        self.guessed_until = spoken.1;
        self.hypothesis = Some(Box::pin(recognising));
        true
    }

    pub(super) async fn take_hypothesis(
        &mut self,
        guessed: Result<Recognised, OperationError>,
    ) -> Result<(), OperationError> {
        let recognised = match guessed {
            Ok(recognised) => recognised,
            Err(error) => {
                tracing::debug!(%error, "a hypothesis failed");
                return Ok(());
            }
        };
        self.spent += recognised.spent;
        let until = self.seconds(self.cutter.belongs_until());
        let hypothesis = Hypothesis::new(&recognised, until, self.asked.speech.script);
        let (further, open) = self.item.words.further(hypothesis);
        self.context.known = recognised.known;
        let text = self.item.words.text() + &open;
        let preview = LivePreview { item: self.item.number, text };
        let delta = self.item.delta(further);
        self.say(delta.into_iter().collect(), Some(preview), None).await
    }
}

/// What is said of an utterance with which a model failed. The session goes on; with any other error it does not.
fn of_model(error: OperationError, without: &str) -> Result<String, OperationError> {
    let OperationError::Engine(EngineError::Run(error)) = error else { return Err(error) };
    tracing::error!(error, without, "a model failed with an utterance");
    Ok(format!("{without}, because the model failed with this utterance"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_utterance_with_which_a_model_fails_does_not_end_the_session() {
        let failed = |error: EngineError| of_model(error.into(), "there is no text");
        let detail = "there is no text, because the model failed with this utterance";
        assert_eq!(failed(EngineError::Run("odd".to_owned())).ok().as_deref(), Some(detail));
        assert!(matches!(failed(EngineError::Gone), Err(OperationError::Engine(EngineError::Gone))));
    }
}
