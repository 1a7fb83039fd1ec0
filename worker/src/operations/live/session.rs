//! One session, from where an earlier attempt may have left it to its end.

use std::time::{Duration, Instant};

use akhar_jobs::{Timing, store::InputPart};
use akhar_requests::{
    Outcome,
    live::{LiveEvent, LiveMark, LivePreview, LiveSession, MAX_LIVE_S},
};
use futures::future::{BoxFuture, pending};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    super::{
        error::OperationError, language_engine::Recognising, preparation::Preparing, speech::SpeechOperation,
    },
    context::Context,
    cutter::{Cut, Cutter, CutterState},
    idleness::Idleness,
    inputs::Inputs,
    item::Item,
    outcome,
    recogniser::{LiveJob, Recognised},
    sound::SoundReader,
};

/// After so many parts that were read together, there may be more.
const MANY_PARTS: usize = 8;
/// How often a hypothesis that is due looks for an idle model, and how often at most before the input is read again.
const MODEL_LOOK: Duration = Duration::from_millis(20);
const MAX_MODEL_LOOKS: usize = 50;
/// The shortest time between two checkpoints while nobody speaks.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);

/// A session, and what is known of it.
pub(super) struct Session<'a> {
    pub(super) speech: &'a SpeechOperation,
    pub(super) job: LiveJob<'a>,
    /// What is asked for now.
    pub(super) asked: LiveSession,
    reader: SoundReader,
    pub(super) cutter: Cutter,
    pub(super) context: Context,
    inputs: Inputs,
    pub(super) item: Item,
    /// The number of events that were said.
    n_said: i64,
    /// The hypothesis that is made of the open utterance, and the position up to which the last one had speech.
    pub(super) hypothesis: Option<BoxFuture<'a, Result<Recognised, OperationError>>>,
    pub(super) guessed_until: u64,
    checkpointed: Instant,
    /// How many utterances became other texts than was said of them.
    pub(super) n_changed: usize,
    pub(super) spent: Recognising,
}

/// Transcribes a session until its end, or until no input has come for too long.
pub(crate) async fn transcribe(
    speech: &SpeechOperation,
    job: LiveJob<'_>,
) -> Result<(Outcome, Timing), OperationError> {
    let mut session = Session::begin(speech, job).await?;
    if session.cutter.is_open() {
        let position = session.cutter.end();
        session.start_item(position, position, session.cutter.state()).await?;
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
    let said = events(job.stream.said().await?);
    Ok((outcome::outcome(&said, seconds), session.spent.with(Preparing::default())))
}

/// Waits for a hypothesis, if one is being made.
async fn made<T>(hypothesis: &mut Option<BoxFuture<'_, T>>) -> T {
    match hypothesis {
        Some(hypothesis) => hypothesis.await,
        None => pending().await,
    }
}

/// Events that this version knows.
fn events(said: Vec<Value>) -> Vec<LiveEvent> {
    said.into_iter().filter_map(|event| serde_json::from_value(event).ok()).collect()
}

impl<'a> Session<'a> {
    async fn begin(speech: &'a SpeechOperation, job: LiveJob<'a>) -> Result<Self, OperationError> {
        let format = job.parameters.format;
        let inputs = Inputs::new(job.parameters, job.stream.start().await?);
        let said = job.stream.said().await?;
        let n_said = i64::try_from(said.len()).unwrap_or(i64::MAX);
        let said = events(said);
        job.progress.send_modify(|progress| progress.segments.extend(outcome::segments(&said)));
        let asked = inputs.checkpoint.session.clone();
        let mut context = Context::new(format.rate(), inputs.checkpoint.context);
        context.push(&inputs.deleted());
        Ok(Self {
            speech,
            job,
            reader: SoundReader::new(format),
            cutter: Cutter::new(format.rate(), asked.detection(), inputs.checkpoint.cutter),
            context,
            inputs,
            n_said,
            item: Item::after(said),
            asked,
            hypothesis: None,
            guessed_until: 0,
            checkpointed: Instant::now(),
            n_changed: 0,
            spent: Recognising::default(),
        })
    }

    /// Reads the input to its end.
    async fn run(&mut self) -> Result<(), OperationError> {
        let stream = self.job.stream;
        let began = Instant::now();
        let mut idleness = Idleness::new(began);
        loop {
            let parts = stream.read(self.inputs.n_known).await?;
            let n_parts = parts.len();
            if idleness.look(n_parts, Instant::now()) {
                return Ok(());
            }
            for part in parts {
                if self.take(part).await? {
                    return Ok(());
                }
            }
            let transcribed_s = self.seconds(self.cutter.end());
            self.job.progress.send_modify(|progress| progress.transcribed_s = transcribed_s);
            let limit = Duration::from_secs(MAX_LIVE_S.into());
            if began.elapsed() >= limit || transcribed_s >= limit.as_secs_f64() {
                return Ok(());
            }
            self.forget_parts().await?;
            if n_parts >= MANY_PARTS {
                continue;
            }
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
                guessed = made(&mut self.hypothesis) => {
                    self.hypothesis = None;
                    return self.take_hypothesis(guessed).await;
                }
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
                Cut::Started { at, heard, next } => self.start_item(at, heard, next).await?,
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
                if self.cutter.is_open() && session.speech != self.asked.speech {
                    self.end_open_item().await?;
                }
                self.cutter.settings = session.detection();
                self.hypothesis = None;
                self.context.known.clear();
                self.asked = session;
            }
            Some(LiveMark::Commit) => self.end_open_item().await?,
            Some(LiveMark::Clear) => {
                self.cutter.clear();
                self.context.begin_at(self.cutter.end());
                self.hypothesis = None;
                self.item = self.item.cleared();
                self.say(vec![LiveEvent::Cleared], None, Some(self.cutter.state())).await?;
            }
            Some(LiveMark::End) | None => (),
        }
        Ok(false)
    }

    /// Deletes parts of the input in which nobody speaks. If there are too many parts, because their caller asks for something again
    /// and again, the utterance ends there.
    async fn forget_parts(&mut self) -> Result<(), OperationError> {
        let are_too_many = self.inputs.are_too_many();
        if self.cutter.is_open() {
            return if are_too_many { self.end_open_item().await } else { Ok(()) };
        }
        if are_too_many {
            self.cutter.clear();
        } else if self.checkpointed.elapsed() < CHECKPOINT_INTERVAL {
            return Ok(());
        }
        let state = self.cutter.state();
        self.go_on_from(state.position, self.cutter.end()).await?;
        if self.inputs.can_delete(state, self.context.state) {
            self.say(Vec::new(), None, Some(state)).await?;
        }
        Ok(())
    }

    /// Says something, if there is anything to say. With a state, the next attempt would go on from there.
    pub(super) async fn say(
        &mut self,
        events: Vec<LiveEvent>,
        preview: Option<LivePreview>,
        reached: Option<CutterState>,
    ) -> Result<(), OperationError> {
        if events.is_empty() && preview.is_none() && reached.is_none() {
            return Ok(());
        }
        let n_before = self.n_said;
        self.n_said += i64::try_from(events.len()).unwrap_or(i64::MAX);
        let documents = events.iter().map(|event| json!(event)).collect();
        let preview = preview.map(|preview| json!(preview));
        let checkpoint = reached.map(|state| {
            self.inputs.reach(state, self.context.state);
            self.checkpointed = Instant::now();
            json!(self.inputs.checkpoint)
        });
        let read = (self.inputs.n_deleted, checkpoint);
        if !self.job.stream.say((n_before, documents), preview, read).await? {
            return Err(OperationError::ClaimLost);
        }
        self.job.progress.send_modify(|progress| progress.segments.extend(outcome::segments(&events)));
        Ok(())
    }

    pub(super) fn seconds(&self, position: u64) -> f64 {
        self.context.seconds(position)
    }

    pub(super) fn ms(&self, position: u64) -> u64 {
        position * 1000 / u64::from(self.job.parameters.format.rate())
    }
}
