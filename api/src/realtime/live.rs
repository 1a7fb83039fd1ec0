//! A session as one connection sees it: how far it is, and what is under way.

use std::{convert::Infallible, mem, time::Duration};

use akhar_jobs::{
    backend::{BatchError, StreamFollower},
    store::{Appended, InputPart, NewPart, OutputsSeen, StreamCursor, TakenOver},
};
use akhar_requests::{
    Parameters,
    live::{LiveMark, LiveParameters, LivePreview, LiveSession},
};
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _, pending};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout, timeout_at};

use super::{
    client_events::{ClientEvent, parse},
    connection::{Connection, End, MAX_EVENT_BYTES, heard, received, text},
    events::Events,
    fields::Include,
    sound::{Part, Sound},
};
use crate::{
    input::source::Source,
    operations::{audio_quota, intake::Intake, run::submit_followed},
    outcomes::body,
    problems::{Code, Problem, ProblemType, Violation},
};

/// The time between two pings. The worker is told as often that the client is there.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// The longest time between two looks at what the worker says.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the sound of a client that has closed its socket may wait for the database.
const LAST_WRITES_LIMIT: Duration = Duration::from_secs(10);

type Appending = BoxFuture<'static, (u64, Result<Appended, BatchError>)>;
type Looking = BoxFuture<'static, Result<Option<OutputsSeen>, BatchError>>;

/// A connection, and how far its session is.
pub(super) struct Live {
    pub(super) connection: Connection,
    pub(super) events: Events,
    /// The session's sound, once there is any. Then there is a job.
    sound: Option<Sound>,
    follower: StreamFollower,
    /// The number of the worker's events that were sent.
    n_said: i64,
    preview: Option<Value>,
    /// What the worker was asked for last, if that is known.
    asked: Option<LiveSession>,
    appending: Option<Appending>,
    looking: Option<Looking>,
    looked_at: Instant,
    /// When something came of the client last, and when sound did.
    heard_at: Instant,
    sound_at: Instant,
    /// The sound for which the account's quota is reserved, seconds.
    reserved_s: f64,
    /// The sound is over: nothing more is taken. Holds why, if its client did not ask for that.
    pub(super) is_ending: bool,
    end: Option<Problem>,
}

impl Live {
    pub(super) fn new(connection: Connection) -> Self {
        let Connection { app, session_id, session, is_former, resumed, seen, .. } = &connection;
        let behind = |TakenOver { n_stored, n_bytes, .. }: &TakenOver| {
            Sound::behind(session.sound_format(), *n_stored, u64::try_from(*n_bytes).unwrap_or(0))
        };
        Self {
            events: Events::new(*session_id, *is_former, *seen),
            sound: resumed.as_ref().map(behind),
            follower: app.outputs.follow(*session_id),
            n_said: (seen.n - 1).max(0),
            preview: None,
            asked: None,
            appending: None,
            looking: None,
            looked_at: Instant::now(),
            heard_at: Instant::now(),
            sound_at: Instant::now(),
            reserved_s: audio_quota::LIVE_STEP_S,
            is_ending: false,
            end: None,
            connection,
        }
    }

    pub(super) async fn run(&mut self, socket: &mut WebSocket) -> Result<Infallible, End> {
        let created = self.events.session("created", &self.connection.session);
        self.send(socket, &created).await?;
        if let (Some(_), Some(sound)) = (&self.connection.resumed, &self.sound) {
            let stored = self.events.stored(sound.stored_ms());
            self.send(socket, &stored).await?;
            self.look();
        }
        let mut pings = interval(PING_INTERVAL);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let draining = self.connection.app.shutdown.soft.clone();
        loop {
            self.append();
            let is_read = self.is_ending || self.sound.as_ref().is_none_or(Sound::has_room);
            let due = self.sound.as_ref().filter(|_| self.appending.is_none()).and_then(Sound::due);
            let can_look = self.sound.is_some() && self.looking.is_none();
            tokio::select! {
                message = socket.recv(), if is_read => {
                    self.heard_at = Instant::now();
                    self.take(socket, received(message)?).await?;
                }
                (end, appended) = in_flight(&mut self.appending) => self.appended(socket, end, appended?).await?,
                seen = in_flight(&mut self.looking) => self.show(socket, seen?).await?,
                // What the worker says is announced, but announcements can be lost.
                _ = timeout_at(self.looked_at + LOOK_INTERVAL, self.follower.woken()), if can_look => self.look(),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => (),
                _ = pings.tick() => self.ping(socket, is_read).await?,
                () = draining.cancelled() => return Err(End::Problem(Problem::of(ProblemType::Draining))),
                () = &mut self.connection.stream.revoked => return Err(End::Problem(Problem::of(ProblemType::Unauthorized))),
            }
        }
    }

    async fn send(&mut self, socket: &mut WebSocket, event: &Value) -> Result<(), End> {
        socket.send(text(event)).await.map_err(|_| End::Lost)
    }

    /// Lets the client and the worker know that the other one is there.
    async fn ping(&mut self, socket: &mut WebSocket, is_read: bool) -> Result<(), End> {
        let now = Instant::now();
        if !is_read {
            self.heard_at = now;
        }
        if !is_read || self.is_ending {
            self.sound_at = now;
        }
        heard(now - self.heard_at, now - self.sound_at)?;
        socket.send(Message::Ping(Bytes::new())).await.map_err(|_| End::Lost)?;
        if let Some(sound) = &mut self.sound
            && !self.is_ending
        {
            sound.keep_alive();
        }
        Ok(())
    }

    /// Takes what the client sends, or drops it if the sound is over.
    async fn take(&mut self, socket: &mut WebSocket, message: Message) -> Result<(), End> {
        let (event_id, event) = match message {
            _ if self.is_ending => return Ok(()),
            Message::Text(message) if message.len() > MAX_EVENT_BYTES => {
                let n_bytes = message.len();
                let detail = format!("event has {n_bytes} bytes, expected at most {MAX_EVENT_BYTES}");
                (None, Err(Violation::new("event", Code::TooLarge, detail)))
            }
            Message::Text(message) => parse(&message, self.connection.session.is_translation()),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
            Message::Binary(_) => {
                let detail = "event is a binary frame, expected a text frame with one JSON object";
                (None, Err(Violation::new("event", Code::WrongType, detail)))
            }
        };
        let answer = match event {
            Ok(event) => self.act(event).await?,
            Err(violation) => Err(violation),
        };
        match answer.unwrap_or_else(|violation| Some(self.events.violation(violation, event_id.as_deref()))) {
            Some(event) => self.send(socket, &event).await,
            None => Ok(()),
        }
    }

    /// Does what an event asks for. Returns the event that answers it.
    async fn act(&mut self, event: ClientEvent) -> Result<Result<Option<Value>, Violation>, End> {
        match (event, &mut self.sound) {
            (ClientEvent::Update { session, is_former }, _) => {
                return Ok(self.update(session, is_former).map(Some));
            }
            (ClientEvent::Append(bytes), sound) => {
                if !bytes.is_empty() {
                    self.sound_at = Instant::now();
                    if sound.is_none() {
                        self.submit().await?;
                    }
                }
                if let Some(sound) = &mut self.sound {
                    sound.push(&bytes, Instant::now());
                }
                self.reserve().await;
            }
            (ClientEvent::Commit, Some(sound)) => sound.mark(LiveMark::Commit),
            (ClientEvent::Commit, None) => {
                let detail = "audio is empty, expected sound before input_audio_buffer.commit";
                return Ok(Err(Violation::new("audio", Code::Empty, detail)));
            }
            (ClientEvent::Clear, Some(sound)) => sound.mark(LiveMark::Clear),
            (ClientEvent::Clear, None) => return Ok(Ok(Some(self.events.cleared()))),
            (ClientEvent::Close, Some(_)) => self.stop(),
            (ClientEvent::Close, None) => return Err(End::Over),
        }
        Ok(Ok(None))
    }

    fn update(&mut self, update: Value, is_former: bool) -> Result<Value, Violation> {
        let before = &self.connection.session;
        let session = before.updated(update, is_former)?;
        if let Some(sound) = &mut self.sound {
            if session.sound_format() != before.sound_format() {
                let detail = "session.audio.input.format changes, but there is sound already";
                return Err(Violation::new("session.audio.input.format", Code::Unsupported, detail));
            }
            let live = session.live()?;
            if self.asked.as_ref() != Some(&live) {
                sound.mark(LiveMark::Session { session: live.clone() });
                self.asked = Some(live);
            }
        }
        self.connection.session = session;
        self.events.is_former |= is_former; // a client of before knows no others
        Ok(self.events.session("updated", &self.connection.session))
    }

    /// Submits the session's job.
    async fn submit(&mut self) -> Result<(), End> {
        let Connection { app, caller, context, session, session_id, .. } = &self.connection;
        let (format, live) = (session.sound_format(), session.live()?);
        let parameters = LiveParameters { format, session: live.clone(), shown: json!(session) };
        let parameters = Parameters::LiveTranscription(parameters);
        let intake = Intake { caller, context, parameters, source: Some(Source::Live(*session_id)) };
        // What is stored of it can be taken up again, so the job goes on without its client.
        submit_followed(app, intake).await?.cancel_on_disconnect.disarm();
        self.sound = Some(Sound::behind(format, 0, 0));
        self.asked = Some(live);
        Ok(())
    }

    /// Reserves more of the account's quota, if the sound needs it. Without any left, the session ends with the text so far. If that is
    /// not known now, it goes on, and asks again later.
    async fn reserve(&mut self) {
        let seconds = self.sound.as_ref().map_or(0.0, Sound::seconds);
        if seconds < self.reserved_s || self.is_ending {
            return;
        }
        self.reserved_s = seconds + audio_quota::LIVE_STEP_S;
        let Connection { app, caller, context, session_id, .. } = &self.connection;
        match audio_quota::go_on(app, caller, context, (*session_id, seconds)).await {
            Err(problem) if problem.problem_type() == ProblemType::QuotaExceeded => {
                self.end = Some(problem);
                self.stop();
            }
            _ => (),
        }
    }

    /// The sound is over.
    fn stop(&mut self) {
        let is_new = !mem::replace(&mut self.is_ending, true);
        if let Some(sound) = self.sound.as_mut().filter(|_| is_new) {
            sound.mark(LiveMark::End);
        }
    }

    /// Begins to store the next part, if one is due.
    fn append(&mut self) {
        let Some(sound) = self.sound.as_mut().filter(|_| self.appending.is_none()) else { return };
        let Some(Part { n, end, bytes, mark }) = sound.next(Instant::now()) else { return };
        let Connection { app, session_id, resumed, .. } = &self.connection;
        let (inputs, job) = (app.inputs.clone(), *session_id);
        let writer = resumed.as_ref().map_or(0, |resumed| resumed.writer);
        let mark = mark.map(|mark| json!(mark));
        let part = InputPart { job, n, bytes, mark };
        let part = NewPart { part, end: i64::try_from(end).unwrap_or(i64::MAX), writer };
        let append = async move { (end, inputs.append(part).await) };
        self.appending = Some(append.boxed());
    }

    async fn appended(&mut self, socket: &mut WebSocket, end: u64, appended: Appended) -> Result<(), End> {
        match (appended, &mut self.sound) {
            (Appended::Stored, Some(sound)) => {
                let before = sound.stored_ms();
                let ms = sound.stored(end);
                if ms > before && self.connection.session.includes(Include::Stored) {
                    let event = self.events.stored(ms);
                    self.send(socket, &event).await?;
                }
            }
            (Appended::TakenOver, _) => return Err(End::TakenOver),
            (Appended::Ended, _) if self.looking.is_none() => self.look(), // it says why
            _ => (),
        }
        Ok(())
    }

    /// Begins to look at what the worker says.
    fn look(&mut self) {
        let Connection { app, session_id, .. } = &self.connection;
        let inputs = app.inputs.clone();
        self.looked_at = Instant::now();
        let cursor = StreamCursor { job: *session_id, after: self.n_said };
        self.looking = Some(async move { inputs.follow(cursor).await }.boxed());
    }

    /// Sends what is new.
    async fn show(&mut self, socket: &mut WebSocket, seen: Option<OutputsSeen>) -> Result<(), End> {
        let Some(seen) = seen else { return Err(End::Problem(Problem::of(ProblemType::JobDeleted))) };
        if let Some(sound) = &mut self.sound {
            sound.read(seen.n_read);
        }
        let has_news = !seen.events.is_empty();
        for said in seen.events {
            self.n_said += 1;
            // A newer worker may say what this version does not know.
            let Ok(said) = serde_json::from_value(said) else { continue };
            for event in
                self.events.of_worker((self.n_said, said), &self.connection.session, self.connection.seen)
            {
                self.send(socket, &event).await?;
            }
        }
        if has_news {
            self.look(); // there may be more
        } else if seen.state.is_final() {
            return Err(self.why_ended().await);
        }
        if seen.preview != self.preview {
            let preview = seen.preview.clone().map(serde_json::from_value::<LivePreview>);
            self.preview = seen.preview;
            if let Some(Ok(preview)) = preview
                && self.connection.session.includes(Include::Hypothesis)
            {
                let event = self.events.hypothesis(&preview);
                self.send(socket, &event).await?;
            }
        }
        Ok(())
    }

    /// Why the job has ended.
    async fn why_ended(&mut self) -> End {
        if let Some(problem) = self.end.take() {
            return End::Problem(problem);
        }
        if self.is_ending {
            return End::Over;
        }
        let found = match self.connection.app.lookups.find(self.connection.session_id).await {
            Ok(Some(stored)) => akhar_requests::job(stored),
            Ok(None) => return End::Problem(Problem::of(ProblemType::JobDeleted)),
            Err(error) => return End::from(error),
        };
        match found {
            Ok(job) => match body::body(job.operation, job.state, job.outcome) {
                Ok(_) => End::Over, // it is as long as a session may be
                Err(problem) => End::Problem(problem),
            },
            Err(unreadable) => End::from(unreadable),
        }
    }

    /// Stores what the client has sent before it closed its socket. The session is over then.
    pub(super) async fn finish(&mut self) {
        self.stop();
        let last = async {
            loop {
                self.append();
                let Some(appending) = self.appending.take() else { return };
                if !matches!(appending.await.1, Ok(Appended::Stored)) {
                    return;
                }
            }
        };
        if timeout(LAST_WRITES_LIMIT, last).await.is_err() {
            tracing::warn!("the end of a session could not be stored");
        }
    }
}

/// Waits for what is under way, if anything is.
async fn in_flight<T>(under_way: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(future) = under_way else { return pending().await };
    let done = future.await;
    *under_way = None;
    done
}
