//! Follows one job for one caller: what is read of the job comes in, and events go out.
//!
//! A follower looks once a second, at the same time as all others, and when the end of its job is announced.

use std::{collections::VecDeque, time::Duration};

use akhar_client::{JobBody, ProgressEventBody, SegmentBody, StateEventBody};
use akhar_jobs::{
    Job, JobId, Outcome, Segment,
    store::{Cursor, Followed},
};
use axum::response::sse::Event;
use futures::{Stream, stream};
use uuid::Uuid;

use super::event_id::EventId;
use crate::{
    app::App,
    budget::Share,
    http::context::RequestInfo,
    outcomes::{body, document},
    waiting::{streams::Look, waiters::Waiter},
};

/// The time after which a client that has lost the stream should connect again.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

/// A caller that follows a job.
pub(super) struct Follower {
    app: App,
    request: RequestInfo,
    waiter: Waiter,
    known: Known,
    events: VecDeque<(EventId, JobEvent)>,
    has_looked: bool,
    is_over: bool,
    _place: Share<Uuid>,
}

/// An event, with its data.
#[derive(Debug, Clone)]
enum JobEvent {
    State(StateEventBody),
    Progress(ProgressEventBody),
    Segment(SegmentBody),
    Done(Box<JobBody>),
}

/// What the caller knows of the job.
struct Known {
    cursor: Cursor,
    state: Option<StateEventBody>,
    transcribed_s: Option<f64>,
}

impl Follower {
    /// A follower of a job that knows what `last` says. `waiter` is the job's, and `place` that of its stream.
    pub(super) fn new(
        app: App,
        request: RequestInfo,
        job: JobId,
        last: Option<EventId>,
        waiter: Waiter,
        place: Share<Uuid>,
    ) -> Self {
        let nothing = Cursor { job, attempt: 0, n_segments: 0 };
        let known =
            Known { cursor: last.map_or(nothing, |id| id.cursor(job)), state: None, transcribed_s: None };
        let events = VecDeque::new();
        Self { app, request, waiter, known, events, has_looked: false, is_over: false, _place: place }
    }

    /// The events, until the job has ended or the process shuts down.
    pub(super) fn into_events(self) -> impl Stream<Item = Result<Event, axum::Error>> {
        stream::unfold(self, async |mut follower| {
            let is_first = !follower.has_looked;
            let (id, event) = follower.next().await?;
            let event = event.write(id);
            let event = if is_first { event.map(|event| event.retry(RECONNECT_AFTER)) } else { event };
            Some((event, follower))
        })
    }

    async fn next(&mut self) -> Option<(EventId, JobEvent)> {
        let draining = self.app.draining();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                () = self.look() => (),
                () = draining.cancelled() => return None,
            }
        }
    }

    /// Waits, except the first time, and then reads what is new.
    async fn look(&mut self) {
        if self.has_looked {
            self.waiter.wait_for_wake_up(self.app.streams.next_look()).await;
        }
        self.has_looked = true;
        match self.app.streams.look(self.known.cursor, &self.app.lookups).await {
            Look::News(seen) => self.events.extend(self.known.news(seen)),
            Look::Ended(job) => {
                self.events.extend(self.known.rest(job, &self.request));
                self.is_over = true;
            }
            Look::Gone => self.is_over = true,
            Look::Unavailable => (),
            Look::Failed(error) => {
                tracing::error!(%error, job = %self.known.cursor.job, "cannot follow a job");
                self.is_over = true;
            }
        }
    }
}

impl Known {
    /// The events of what is new about a job that has not ended.
    fn news(&mut self, seen: Followed) -> Vec<(EventId, JobEvent)> {
        let Followed { state, attempt, place, transcribed_s, segments } = seen;
        self.begin(attempt);
        let mut news = Vec::new();
        let state = StateEventBody { state: document::state(state), attempt, place };
        if self.state.as_ref() != Some(&state) {
            news.push((self.cursor.into(), JobEvent::State(state.clone())));
            self.state = Some(state);
        }
        news.extend(self.add(segments));
        if let Some(seconds) = transcribed_s.filter(|_| self.transcribed_s != transcribed_s) {
            let progress = ProgressEventBody { transcribed_s: seconds };
            news.push((self.cursor.into(), JobEvent::Progress(progress)));
        }
        self.transcribed_s = transcribed_s;
        news
    }

    /// The last events of a job that has ended.
    fn rest(&mut self, job: Job, request: &RequestInfo) -> Vec<(EventId, JobEvent)> {
        self.begin(job.attempt);
        let segments = job.outcome.as_ref().map_or(&[][..], Outcome::segments);
        let n_known = usize::try_from(self.cursor.n_segments).unwrap_or_default();
        let further = segments.get(n_known..).unwrap_or_default().to_vec();
        let mut rest = self.add(further);
        rest.push((EventId::End, JobEvent::Done(Box::new(document::job_body(job, &request.id)))));
        rest
    }

    /// A new attempt transcribes the recording from its beginning.
    fn begin(&mut self, attempt: i32) {
        if attempt != self.cursor.attempt {
            self.cursor = Cursor { attempt, n_segments: 0, ..self.cursor };
        }
    }

    /// The events of further segments. They have no translations, because segments are translated together at the end.
    fn add(&mut self, segments: Vec<Segment>) -> Vec<(EventId, JobEvent)> {
        let add = |segment: Segment| {
            self.cursor.n_segments += 1;
            let segment = body::segment(Segment { translation: None, ..segment });
            (self.cursor.into(), JobEvent::Segment(segment))
        };
        segments.into_iter().map(add).collect()
    }
}

impl JobEvent {
    fn write(&self, id: EventId) -> Result<Event, axum::Error> {
        let event = Event::default().id(id.to_string());
        match self {
            Self::State(state) => event.event("state").json_data(state),
            Self::Progress(progress) => event.event("progress").json_data(progress),
            Self::Segment(segment) => event.event("segment").json_data(segment),
            Self::Done(job) => event.event("done").json_data(job),
        }
    }
}

#[cfg(test)]
mod tests {
    use akhar_jobs::{JobState, Operation};
    use axum::http::HeaderMap;

    use super::*;

    fn segments(n: u8) -> Vec<Segment> {
        let segment = |at: u8| Segment {
            start: at.into(),
            end: at.into(),
            transcription: at.to_string(),
            translation: Some("x".to_owned()),
        };
        (1..=n).map(segment).collect()
    }

    fn running(attempt: i32, transcribed_s: f64, segments: &[Segment]) -> Followed {
        let (state, transcribed_s) = (JobState::Running, Some(transcribed_s));
        Followed { state, attempt, place: None, transcribed_s, segments: segments.to_vec() }
    }

    fn ended(attempt: i32, segments: Vec<Segment>) -> Job {
        Job {
            id: JobId(Uuid::now_v7()),
            operation: Operation::SpeechRecognition,
            state: JobState::Succeeded,
            attempt,
            created_at: chrono::Utc::now(),
            started_at: None,
            ended_at: None,
            outcome: Some(Outcome::Transcription {
                transcription: String::new(),
                translation: None,
                timestamps: None,
                words: None,
                segments,
                seconds: 9.0,
                warnings: Vec::new(),
            }),
            timing: None,
            transcribed_s: None,
        }
    }

    fn known(attempt: i32, n_segments: i32) -> Known {
        let cursor = Cursor { job: JobId(Uuid::now_v7()), attempt, n_segments };
        Known { cursor, state: None, transcribed_s: None }
    }

    /// Each event as its id and what it says.
    fn said(events: Vec<(EventId, JobEvent)>) -> Vec<String> {
        let say = |(id, event)| match event {
            JobEvent::State(StateEventBody { state, attempt, place }) => {
                format!("{id} {state:?} {attempt} {place:?}")
            }
            JobEvent::Progress(progress) => format!("{id} {}", progress.transcribed_s),
            JobEvent::Segment(segment) => {
                assert_eq!(segment.translation, None);
                format!("{id} {}", segment.transcription)
            }
            JobEvent::Done(_) => format!("{id} done"),
        };
        events.into_iter().map(say).collect()
    }

    #[test]
    fn only_what_has_changed_is_said() {
        let (mut known, all) = (known(0, 0), segments(3));
        let waits = |place| Followed {
            state: JobState::Queued,
            attempt: 0,
            place: Some(place),
            transcribed_s: None,
            segments: Vec::new(),
        };
        assert_eq!(said(known.news(waits(2))), ["0.0 Queued 0 Some(2)"]);
        assert_eq!(said(known.news(waits(2))), [""; 0]);
        assert_eq!(said(known.news(waits(1))), ["0.0 Queued 0 Some(1)"]);
        let news = said(known.news(running(1, 5.0, &all[..2])));
        assert_eq!(news, ["1.0 Running 1 None", "1.1 1", "1.2 2", "1.2 5"]);
        assert_eq!(said(known.news(running(1, 5.0, &[]))), [""; 0]);
        let request = RequestInfo::new(&HeaderMap::new(), "/");
        assert_eq!(said(known.rest(ended(1, all), &request)), ["1.3 3", "end done"]);
    }

    #[test]
    fn another_attempt_begins_again() {
        let (mut known, all) = (known(1, 2), segments(3));
        assert_eq!(said(known.news(running(2, 1.0, &all[..1]))), ["2.0 Running 2 None", "2.1 1", "2.1 1"]);
        let request = RequestInfo::new(&HeaderMap::new(), "/");
        assert_eq!(said(known.rest(ended(3, all), &request)), ["3.1 1", "3.2 2", "3.3 3", "end done"]);
    }

    #[test]
    fn an_id_beyond_the_end_gives_no_segments() {
        let request = RequestInfo::new(&HeaderMap::new(), "/");
        assert_eq!(said(known(1, 9).rest(ended(1, segments(3)), &request)), ["end done"]);
    }
}
