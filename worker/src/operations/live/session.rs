//! One session, from where an earlier attempt may have left it to its end.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use akhar_inference::{Confidence, speech::TimedText};
use akhar_jobs::{Timing, store::InputPart};
use akhar_requests::{
    Outcome, SpeechParameters, Word,
    live::{LIVE_IDLE_S, LiveEvent, LiveMark, LivePreview, LiveSession, LiveUtterance, MAX_LIVE_S},
};
use serde_json::Value;
use tokio::time::sleep;

use super::{
    super::{
        error::OperationError,
        language_engine::{LanguageEngine, Recognising},
        preparation::Preparing,
        progress::goes_on,
        shown::thousandths,
        speech::{SpeechJob, SpeechOperation},
    },
    context::Context,
    cutter::{Cut, Cutter, CutterState},
    hypotheses::Hypotheses,
    inputs::Inputs,
    item::Item,
    outcome,
    recogniser::{LiveJob, Recognised, last_window, recognise},
    sound::SoundReader,
    stable::Hypothesis,
};
use crate::engine::EngineError;

/// After so many parts that were read together, there may be more.
const MANY_PARTS: usize = 8;
/// A statement that takes longer than this has waited for Postgres to come back.
const READ_TIME: Duration = Duration::from_secs(2);
/// How often a hypothesis that is due looks for an idle model, and how often at most before the input is read again.
const MODEL_LOOK: Duration = Duration::from_millis(20);
const MAX_MODEL_LOOKS: usize = 50;
/// The shortest time between two checkpoints while nobody speaks.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);

/// A session, and what is known of it.
struct Session<'a> {
    speech: &'a SpeechOperation,
    job: LiveJob<'a>,
    /// What is asked for now.
    asked: LiveSession,
    reader: SoundReader,
    cutter: Cutter,
    context: Context,
    inputs: Inputs,
    item: Item,
    /// The number of events that were said.
    n_said: i64,
    hypotheses: Hypotheses<'a>,
    checkpointed: Instant,
    /// How many utterances became other texts than was said of them.
    n_changed: usize,
    spent: Recognising,
}

/// Transcribes a session until its end, or until no input has come for too long.
pub(crate) async fn transcribe(
    speech: &SpeechOperation,
    job: LiveJob<'_>,
) -> Result<(Outcome, Timing), OperationError> {
    let mut session = Session::begin(speech, job).await?;
    if session.cutter.is_open() {
        let position = session.cutter.end();
        session.start_item(position, position).await?;
    }
    session.run().await?;
    if session.cutter.is_open() {
        session.end_open_item().await?;
    }
    let seconds = session.seconds(session.cutter.end());
    tracing::info!(
        seconds,
        n_utterances = session.item.number - 1,
        n_changed = session.n_changed,
        "session ended"
    );
    let said = job.stream.said().await?;
    Ok((outcome::outcome(events(said), seconds), session.spent.with(Preparing::default())))
}

/// Events that this version knows.
fn events(said: Vec<Value>) -> impl Iterator<Item = LiveEvent> {
    said.into_iter().filter_map(|event| serde_json::from_value(event).ok())
}

impl<'a> Session<'a> {
    async fn begin(speech: &'a SpeechOperation, job: LiveJob<'a>) -> Result<Self, OperationError> {
        let format = job.parameters.format;
        let inputs = Inputs::new(job.parameters, job.stream.start().await?);
        let said = job.stream.said().await?;
        let asked = inputs.checkpoint().session.clone();
        Ok(Self {
            speech,
            job,
            reader: SoundReader::new(format),
            cutter: Cutter::new(format.rate(), asked.detection(), inputs.checkpoint().cutter),
            context: Context::new(format.rate(), inputs.checkpoint().context),
            inputs,
            n_said: i64::try_from(said.len()).unwrap_or(i64::MAX),
            item: Item::after(events(said)),
            asked,
            hypotheses: Hypotheses::default(),
            checkpointed: Instant::now(),
            n_changed: 0,
            spent: Recognising::default(),
        })
    }

    /// Reads the input to its end.
    async fn run(&mut self) -> Result<(), OperationError> {
        let stream = self.job.stream;
        let began = Instant::now();
        let mut read_at = began;
        loop {
            let asked_at = Instant::now();
            let parts = stream.read(self.inputs.n_known()).await?;
            let n_parts = parts.len();
            // While Postgres is away, no part can come.
            if n_parts > 0 || asked_at.elapsed() > READ_TIME {
                read_at = Instant::now();
            }
            for part in parts {
                if self.take(part).await? {
                    return Ok(());
                }
            }
            self.note_progress();
            let limit = Duration::from_secs(MAX_LIVE_S.into());
            let is_too_long =
                began.elapsed() >= limit || self.seconds(self.cutter.end()) >= limit.as_secs_f64();
            if is_too_long || read_at.elapsed() >= Duration::from_secs(LIVE_IDLE_S.into()) {
                return Ok(());
            }
            if n_parts >= MANY_PARTS {
                continue;
            }
            self.forget_silence().await?;
            self.wait_for_more().await?;
        }
    }

    /// Waits until there may be further input, and makes a hypothesis meanwhile, if the model becomes idle.
    async fn wait_for_more(&mut self) -> Result<(), OperationError> {
        let stream = self.job.stream;
        let mut n_looks = 0;
        loop {
            let waits_for_model = !self.guess() && n_looks < MAX_MODEL_LOOKS;
            tokio::select! {
                guessed = self.hypotheses.made() => return self.take_hypothesis(guessed).await,
                () = stream.woken() => return Ok(()),
                () = sleep(MODEL_LOOK), if waits_for_model => n_looks += 1,
            }
        }
    }

    /// Takes the next part of the input. Returns whether it is the last one.
    async fn take(&mut self, part: InputPart) -> Result<bool, OperationError> {
        let samples = self.reader.read(self.inputs.new_bytes(&part.bytes));
        self.inputs.advance(part.n, part.bytes.len());
        // The first samples may be there only for what follows them.
        let n_context = self.cutter.end().saturating_sub(self.context.end());
        let n_context = usize::try_from(n_context).unwrap_or(usize::MAX).min(samples.len());
        self.context.push(&samples);
        for cut in self.cutter.push(&samples[n_context..]) {
            match cut {
                Cut::Started { at, heard } => self.start_item(at, heard).await?,
                Cut::Ended { utterance, heard, next } => {
                    self.end_item(utterance, heard, next, true).await?;
                }
            }
        }
        let mark = part.mark.and_then(|mark| serde_json::from_value(mark).ok());
        let mark = mark.filter(|_| !self.inputs.is_processed());
        self.inputs.add(match &mark {
            Some(LiveMark::Session { session }) => Some(session.clone()),
            // It is not deleted before the job has ended, so that the next attempt ends too.
            Some(LiveMark::End) => return Ok(true),
            _ => None,
        });
        match mark {
            Some(LiveMark::Session { session }) => {
                self.cutter.set(session.detection());
                self.hypotheses.forget();
                self.context.forget_known();
                self.asked = session;
            }
            Some(LiveMark::Commit) => self.end_open_item().await?,
            Some(LiveMark::Clear) => {
                self.cutter.clear();
                self.context.begin_at(self.cutter.end());
                self.hypotheses.forget();
                self.item = self.item.cleared();
                self.say(vec![LiveEvent::Cleared], None, Some(self.cutter.state())).await?;
            }
            Some(LiveMark::End) | None => (),
        }
        Ok(false)
    }

    /// An utterance begins, as the sound up to `heard` shows.
    async fn start_item(&mut self, at: u64, heard: u64) -> Result<(), OperationError> {
        self.go_on_from(at, heard).await?;
        let started = LiveEvent::SpeechStarted { item: self.item.number, start_ms: self.ms(at) };
        let event = self.item.once(started).filter(|_| self.asked.turn_detection.is_some());
        self.say(event.into_iter().collect(), None, None).await
    }

    /// The sound before `position` is needed only in so far as what follows is recognised with it. An utterance in a language that
    /// is not known yet is recognised alone.
    async fn go_on_from(&mut self, position: u64, heard: u64) -> Result<(), OperationError> {
        if self.asked.speech.detect_language {
            self.context.begin_at(position);
        } else if self.context.has_ended_window(heard) {
            let passage = self.context.passage(heard, heard);
            let window = last_window(self.speech, self.asked.speech.lang, (passage, position)).await?;
            self.context.go_on_from(window);
        }
        Ok(())
    }

    async fn end_open_item(&mut self) -> Result<(), OperationError> {
        let utterance = self.cutter.commit();
        self.end_item(utterance, self.cutter.end(), self.cutter.state(), false).await
    }

    /// An utterance is over, at a pause or because its caller says so. The cutter goes on from `next`.
    async fn end_item(
        &mut self,
        utterance: Range<u64>,
        heard: u64,
        next: CutterState,
        at_pause: bool,
    ) -> Result<(), OperationError> {
        self.hypotheses.forget();
        let (start_ms, end_ms) = (self.ms(utterance.start), self.ms(utterance.end));
        let is_turn = at_pause && self.asked.turn_detection.is_some();
        let item = self.item.number;
        let stopped = is_turn.then_some(LiveEvent::SpeechStopped { item, end_ms });
        let events = stopped.into_iter().chain([LiveEvent::Committed { item, start_ms, end_ms }]);
        let events = events.filter_map(|event| self.item.once(event)).collect();
        self.say(events, None, None).await?;
        let passage = self.context.passage(utterance.end, heard);
        let recognised = recognise(self.speech, self.job.requester, &self.asked.speech, passage).await;
        let last = match recognised {
            Ok(recognised) => self.complete(&utterance, recognised).await?,
            Err(OperationError::Engine(EngineError::Run(error))) => {
                tracing::error!(error, "an utterance has no text");
                let detail = "The model failed with the sound of this utterance.".to_owned();
                vec![LiveEvent::Failed { item: self.item.number, code: "model_failed".to_owned(), detail }]
            }
            Err(error) => return Err(error),
        };
        self.item = self.item.next();
        self.context.bound(utterance.end);
        self.go_on_from(utterance.end, heard).await?;
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
            self.say(std::mem::take(&mut last), None, None).await?;
            let translate_into = asked.translate_into;
            let parameters = SpeechParameters { with_translation: true, translate_into, ..parameters };
            let outcome = self.outcome_of(&parameters, said).await?;
            if let Outcome::Transcription { translation: Some(text), warnings: all, .. } = outcome {
                warnings = all;
                last.push(LiveEvent::TranslationDelta { item: self.item.number, text: text.clone(), end_ms });
                translation = Some(text);
            }
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
    fn guess(&mut self) -> bool {
        let is_word_by_word = self.asked.speech.written.is_none() && !self.asked.speech.detect_language;
        let Some(spoken) = self.cutter.open().filter(|_| is_word_by_word) else { return true };
        let is_due = self.hypotheses.is_due(spoken, self.job.parameters.format.rate());
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
        self.hypotheses.make(spoken.1, recognising);
        true
    }

    async fn take_hypothesis(
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
        self.context.keep(recognised.known);
        let stable = self.item.words.text();
        let preview = LivePreview { item: self.item.number, stable, open };
        let delta = self.item.delta(further);
        self.say(delta.into_iter().collect(), Some(preview), None).await
    }

    /// Deletes parts of the input in which nobody speaks.
    async fn forget_silence(&mut self) -> Result<(), OperationError> {
        if self.cutter.is_open() || self.checkpointed.elapsed() < CHECKPOINT_INTERVAL {
            return Ok(());
        }
        let state = self.cutter.state();
        self.go_on_from(state.position, self.cutter.end()).await?;
        if self.inputs.can_delete(state, self.context.state()) {
            self.say(Vec::new(), None, Some(state)).await?;
        }
        Ok(())
    }

    /// Says something, if there is anything to say. With a state, the next attempt would go on from there.
    async fn say(
        &mut self,
        events: Vec<LiveEvent>,
        preview: Option<LivePreview>,
        reached: Option<CutterState>,
    ) -> Result<(), OperationError> {
        if events.is_empty() && preview.is_none() && reached.is_none() {
            return Ok(());
        }
        let json = |error: serde_json::Error| OperationError::Sound(error.to_string());
        let events: Vec<Value> =
            events.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(json)?;
        let n_further = i64::try_from(events.len()).unwrap_or(i64::MAX);
        let preview = preview.map(serde_json::to_value).transpose().map_err(json)?;
        let mut checkpoint = None;
        if let Some(state) = reached {
            self.inputs.reach(state, self.context.state());
            self.checkpointed = Instant::now();
            checkpoint = Some(serde_json::to_value(self.inputs.checkpoint()).map_err(json)?);
        }
        let read = (self.inputs.n_deleted(), checkpoint);
        if !self.job.stream.say((self.n_said, events), preview, read).await? {
            return Err(OperationError::ClaimLost);
        }
        self.n_said += n_further;
        goes_on(self.job.progress);
        Ok(())
    }

    fn note_progress(&self) {
        let seconds = self.seconds(self.cutter.end());
        self.job.progress.send_modify(|progress| progress.transcribed_s = seconds);
    }

    fn seconds(&self, position: u64) -> f64 {
        self.context.seconds(position)
    }

    fn ms(&self, position: u64) -> u64 {
        position * 1000 / u64::from(self.job.parameters.format.rate())
    }
}
