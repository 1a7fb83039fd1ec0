//! One session, from where an earlier attempt may have left it to its end.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use akhar_inference::speech::TimedText;
use akhar_jobs::{Timing, store::InputPart};
use akhar_requests::{
    Outcome, SpeechParameters,
    live::{LIVE_IDLE_S, LiveEvent, LiveMark, LivePreview, LiveSession, LiveUtterance, LiveWord, MAX_LIVE_S},
};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    super::{
        error::OperationError,
        language_engine::{LanguageEngine, Recognising},
        preparation::Preparing,
        progress::goes_on,
        shown::in_script,
        speech::SpeechOperation,
    },
    asked::{as_recording, cutter_settings},
    cutter::{Cut, Cutter, CutterState, UtteranceSound},
    inputs::Inputs,
    item::Item,
    outcome,
    recogniser::{LiveJob, Recognised, outcome_of, recognise},
    sound::SoundReader,
};
use crate::engine::EngineError;

/// The sound after which there is another hypothesis, milliseconds.
const HYPOTHESIS_MS: u64 = 400;
/// After so many parts that were read together, there may be more.
const MANY_PARTS: usize = 8;
/// A statement that takes longer than this has waited for Postgres to come back.
const READ_TIME: Duration = Duration::from_secs(2);
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
    inputs: Inputs,
    item: Item,
    /// The number of events that were said.
    n_said: i64,
    /// A hypothesis of the open utterance that is being made, and the sound that the last one had.
    hypothesis: Option<BoxFuture<'a, Result<Recognised, OperationError>>>,
    n_guessed: usize,
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
    let mut session = Session::begin(speech, job).await;
    if session.cutter.is_open() {
        session.start_item(session.cutter.end()).await?;
    }
    session.run().await?;
    if session.cutter.is_open() {
        let sound = session.cutter.commit();
        session.end_item(sound, session.cutter.state(), false).await?;
    }
    let seconds = session.seconds();
    tracing::info!(
        seconds,
        n_utterances = session.item.number - 1,
        n_changed = session.n_changed,
        "session ended"
    );
    let said = job.stream.said().await;
    Ok((outcome::outcome(events(said), seconds), session.spent.with(Preparing::default())))
}

/// Events that this version knows.
fn events(said: Vec<Value>) -> impl Iterator<Item = LiveEvent> {
    said.into_iter().filter_map(|event| serde_json::from_value(event).ok())
}

impl<'a> Session<'a> {
    async fn begin(speech: &'a SpeechOperation, job: LiveJob<'a>) -> Self {
        let format = job.parameters.format;
        let inputs = Inputs::new(job.parameters, job.stream.start().await);
        let said = job.stream.said().await;
        let asked = inputs.checkpoint().session.clone();
        Self {
            speech,
            job,
            reader: SoundReader::new(format),
            cutter: Cutter::new(format.rate(), cutter_settings(&asked), inputs.checkpoint().cutter),
            inputs,
            n_said: i64::try_from(said.len()).unwrap_or(i64::MAX),
            item: Item::after(events(said)),
            asked,
            hypothesis: None,
            n_guessed: 0,
            checkpointed: Instant::now(),
            n_changed: 0,
            spent: Recognising::default(),
        }
    }

    /// Reads the input to its end.
    async fn run(&mut self) -> Result<(), OperationError> {
        let stream = self.job.stream;
        let began = Instant::now();
        let mut read_at = began;
        loop {
            let asked_at = Instant::now();
            let parts = stream.read(self.inputs.n_known()).await;
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
            let is_too_long = began.elapsed() >= limit || self.seconds() >= limit.as_secs_f64();
            if is_too_long || read_at.elapsed() >= Duration::from_secs(LIVE_IDLE_S.into()) {
                return Ok(());
            }
            if n_parts >= MANY_PARTS {
                continue;
            }
            self.forget_silence().await?;
            self.guess();
            tokio::select! {
                guessed = made(&mut self.hypothesis) => self.take_hypothesis(guessed).await?,
                () = stream.woken() => (),
            }
        }
    }

    /// Takes the next part of the input. Returns whether it is the last one.
    async fn take(&mut self, part: InputPart) -> Result<bool, OperationError> {
        let samples = self.reader.read(self.inputs.new_bytes(&part.bytes));
        self.inputs.advance(part.n, part.bytes.len());
        for cut in self.cutter.push(&samples) {
            match cut {
                Cut::Started(at) => self.start_item(at).await?,
                Cut::Ended(sound, next) => self.end_item(sound, next, true).await?,
            }
        }
        match part.mark.and_then(|mark| serde_json::from_value(mark).ok()) {
            None => self.inputs.add(None),
            Some(LiveMark::Session { session }) => {
                self.inputs.add(Some(session.clone()));
                self.cutter.set(cutter_settings(&session));
                self.asked = session;
            }
            Some(LiveMark::Commit) => {
                self.inputs.add(None);
                let sound = self.cutter.commit();
                self.end_item(sound, self.cutter.state(), false).await?;
            }
            Some(LiveMark::Clear) => {
                self.inputs.add(None);
                self.cutter.clear();
                self.forget_hypothesis();
                self.item = self.item.cleared();
                self.say(vec![LiveEvent::Cleared], None, Some(self.cutter.state())).await?;
            }
            // It is not deleted before the job has ended, so that the next attempt ends too.
            Some(LiveMark::End) => return Ok(true),
        }
        Ok(false)
    }

    async fn start_item(&mut self, at: u64) -> Result<(), OperationError> {
        let event = self.item.started(self.ms(at)).filter(|_| self.asked.turn_detection.is_some());
        self.say(event.into_iter().collect(), None, None).await
    }

    /// An utterance is over, at a pause or because its caller says so. The cutter goes on from `next`.
    async fn end_item(
        &mut self,
        sound: UtteranceSound,
        next: CutterState,
        at_pause: bool,
    ) -> Result<(), OperationError> {
        self.forget_hypothesis();
        let (start_ms, end_ms) = (self.ms(sound.start), self.ms(sound.end()));
        let is_turn = at_pause && self.asked.turn_detection.is_some();
        let stopped = is_turn.then(|| self.item.stopped(end_ms)).flatten();
        let committed = self.item.committed(start_ms, end_ms);
        self.say(stopped.into_iter().chain(committed).collect(), None, None).await?;
        let rate = self.job.parameters.format.rate();
        let recognised = recognise(self.speech, self.job.requester, &self.asked, (rate, sound.samples)).await;
        let last = match recognised {
            Ok(recognised) => self.complete((start_ms, end_ms), recognised).await?,
            Err(OperationError::Engine(EngineError::Run(error))) => {
                tracing::error!(error, "an utterance has no text");
                let detail = "The model failed with the sound of this utterance.".to_owned();
                vec![LiveEvent::Failed { item: self.item.number, code: "model_failed".to_owned(), detail }]
            }
            Err(error) => return Err(error),
        };
        self.item = self.item.next();
        self.say(last, None, Some(next)).await
    }

    /// Says the text of an utterance. Returns what is said at its end.
    async fn complete(
        &mut self,
        (start_ms, end_ms): (u64, u64),
        recognised: Recognised,
    ) -> Result<Vec<LiveEvent>, OperationError> {
        self.spent += recognised.spent;
        let mut parameters = as_recording(&self.asked);
        parameters.lang = recognised.detected.unwrap_or(parameters.lang);
        let translates = std::mem::take(&mut parameters.with_translation);
        let into = parameters.translate_into.take();
        let (outcome, took) = outcome_of(self.speech, self.job, &parameters, &recognised).await?;
        self.spent.model += took;
        let Outcome::Transcription { transcription, words, confidence, mut warnings, .. } = outcome else {
            return Ok(Vec::new());
        };
        let texts: Vec<String> = transcription.split_whitespace().map(str::to_owned).collect();
        let (further, is_changed) = self.item.words.finish(&texts);
        self.n_changed += usize::from(is_changed);
        let mut last: Vec<LiveEvent> = self.item.delta(further).into_iter().collect();
        let mut translation = None;
        if translates && !transcription.is_empty() {
            self.say(std::mem::take(&mut last), None, None).await?;
            let parameters =
                SpeechParameters { with_translation: true, translate_into: into, ..parameters.clone() };
            let (outcome, took) = outcome_of(self.speech, self.job, &parameters, &recognised).await?;
            self.spent.model += took;
            if let Outcome::Transcription { translation: Some(text), warnings: all, .. } = outcome {
                warnings = all;
                last.push(LiveEvent::TranslationDelta { item: self.item.number, text: text.clone(), end_ms });
                translation = Some(text);
            }
        }
        warnings.extend(recognised.warnings);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an utterance is short")]
        let ms = |seconds: f64| start_ms + (seconds * 1e3).round() as u64;
        let words = words.unwrap_or_default().into_iter().map(|word| LiveWord {
            start_ms: ms(word.start),
            end_ms: ms(word.end),
            text: word.text,
            confidence: word.confidence,
        });
        last.push(LiveEvent::Completed(LiveUtterance {
            item: self.item.number,
            start_ms,
            end_ms,
            text: self.item.words.text(),
            words: words.collect(),
            confidence,
            language: recognised.detected,
            translation,
            warnings,
        }));
        Ok(last)
    }

    /// Makes a hypothesis of the open utterance, if nobody else needs the model. What is written with marks and figures, or in
    /// a language that is not known yet, is not known word by word.
    fn guess(&mut self) {
        let rate = self.job.parameters.format.rate();
        let is_word_by_word = self.asked.written.is_none() && !self.asked.detect_language;
        let Some((_, samples, n_pause)) = self.cutter.open().filter(|_| is_word_by_word) else { return };
        let n_spoken = samples.len() - n_pause;
        let n_further = (n_spoken as u64).saturating_sub(self.n_guessed as u64);
        let is_due = self.hypothesis.is_none() && n_further >= u64::from(rate) * HYPOTHESIS_MS / 1000;
        let Some(engine) = self.speech.engines.get(&self.asked.lang).filter(|_| is_due) else { return };
        // Without one, it is loaded first.
        let idle = engine.ready().map(LanguageEngine::idle_thread);
        if idle.as_ref().is_some_and(Option::is_none) {
            return;
        }
        self.n_guessed = n_spoken;
        let (speech, requester) = (self.speech, self.job.requester);
        let (session, samples) = (self.asked.clone(), samples.to_vec());
        self.hypothesis = Some(Box::pin(async move {
            let recognised = recognise(speech, requester, &session, (rate, samples)).await;
            drop(idle);
            recognised
        }));
    }

    async fn take_hypothesis(
        &mut self,
        guessed: Result<Recognised, OperationError>,
    ) -> Result<(), OperationError> {
        self.hypothesis = None;
        let recognised = match guessed {
            Ok(recognised) => recognised,
            Err(error) => {
                tracing::debug!(%error, "a hypothesis failed");
                return Ok(());
            }
        };
        self.spent += recognised.spent;
        let script = self.asked.script;
        let shown = |word: &TimedText| TimedText { text: in_script(script, &word.text), ..word.clone() };
        let words: Vec<TimedText> = recognised.words.iter().map(shown).collect();
        let (further, open) = self.item.words.further(&words, recognised.seconds);
        let stable = self.item.words.text();
        let preview = LivePreview { item: self.item.number, stable, open };
        let delta = self.item.delta(further);
        self.say(delta.into_iter().collect(), Some(preview), None).await
    }

    fn forget_hypothesis(&mut self) {
        self.hypothesis = None;
        self.n_guessed = 0;
    }

    /// Deletes parts of the input in which nobody speaks.
    async fn forget_silence(&mut self) -> Result<(), OperationError> {
        let state = self.cutter.state();
        let is_due = !self.cutter.is_open() && self.checkpointed.elapsed() >= CHECKPOINT_INTERVAL;
        if is_due && self.inputs.can_delete(state) {
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
            self.inputs.reach(state);
            self.checkpointed = Instant::now();
            checkpoint = Some(serde_json::to_value(self.inputs.checkpoint()).map_err(json)?);
        }
        let read = (self.inputs.n_deleted(), checkpoint);
        if !self.job.stream.say((self.n_said, events), preview, read).await {
            return Err(OperationError::ClaimLost);
        }
        self.n_said += n_further;
        goes_on(self.job.progress);
        Ok(())
    }

    fn note_progress(&self) {
        let seconds = self.seconds();
        self.job.progress.send_modify(|progress| progress.transcribed_s = seconds);
    }

    /// The sound so far.
    #[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^52 samples")]
    fn seconds(&self) -> f64 {
        self.cutter.end() as f64 / f64::from(self.job.parameters.format.rate())
    }

    fn ms(&self, position: u64) -> u64 {
        position * 1000 / u64::from(self.job.parameters.format.rate())
    }
}

/// Waits for a hypothesis that is being made, if there is any.
async fn made<T>(hypothesis: &mut Option<BoxFuture<'_, T>>) -> T {
    match hypothesis {
        Some(hypothesis) => hypothesis.await,
        None => pending().await,
    }
}
