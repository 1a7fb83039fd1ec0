//! Writes what is read of a job as the events of `GET /v1/jobs/{id}/events`.

use std::sync::Arc;

use akhar_client::{JobBody, JobEventBody, JobEventName, ProgressEventBody, SegmentBody, StateEventBody};
use akhar_jobs::{
    JobId,
    store::{Cursor, Followed},
};
use akhar_requests::{Job, Outcome, Segment};
use axum::response::sse::Event;

use super::event_id::EventId;
use crate::{
    http::event_stream,
    outcomes::{body, document},
    problems::Problem,
    waiting::followed_job::EventWriter,
};

/// An event, with its data.
#[derive(Debug, Clone)]
pub(super) enum JobEvent {
    State(StateEventBody),
    Progress(ProgressEventBody),
    Segment(SegmentBody),
    Done(Box<JobBody>),
}

/// The events of one job, for a caller that knows a part of it.
pub(super) struct JobEventWriter {
    request_id: Arc<str>,
    cursor: Cursor,
    state: Option<StateEventBody>,
    progress_s: Option<f64>,
    has_written: bool,
}

impl EventWriter for JobEventWriter {
    type Event = (EventId, JobEvent);

    fn cursor(&self) -> Cursor {
        self.cursor
    }

    fn news(&mut self, seen: Followed) -> Vec<(EventId, JobEvent)> {
        let Followed { state, attempt, place, progress_s, parts } = seen;
        self.begin(attempt);
        let mut news = Vec::new();
        let state = StateEventBody { state: document::state(state), attempt, place };
        if self.state.as_ref() != Some(&state) {
            news.push((self.cursor.into(), JobEvent::State(state.clone())));
            self.state = Some(state);
        }
        news.extend(self.add(parts.into_iter().map(Segment::from).collect()));
        // Where nothing is transcribed, a step of the work has written 0.
        let progress_s = progress_s.filter(|seconds| *seconds > 0.0);
        if let Some(seconds) = progress_s.filter(|_| self.progress_s != progress_s) {
            let progress = ProgressEventBody { transcribed_s: seconds };
            news.push((self.cursor.into(), JobEvent::Progress(progress)));
        }
        self.progress_s = progress_s;
        news
    }

    fn end(&mut self, job: Job) -> Vec<(EventId, JobEvent)> {
        self.begin(job.attempt);
        let segments = job.outcome.as_ref().map_or(&[][..], Outcome::segments);
        let n_known = usize::try_from(self.cursor.n_parts).unwrap_or_default();
        let further = segments.get(n_known..).unwrap_or_default().to_vec();
        let mut rest = self.add(further);
        rest.push((EventId::End, JobEvent::Done(Box::new(document::job_body(job, &self.request_id)))));
        rest
    }

    fn broken(&mut self, _: Problem) -> Vec<(EventId, JobEvent)> {
        Vec::new() // the client connects again
    }

    fn write(&mut self, (id, event): (EventId, JobEvent)) -> Result<Event, axum::Error> {
        let is_first = !std::mem::replace(&mut self.has_written, true);
        let body = event.body(id, is_first.then_some(event_stream::RECONNECT_AFTER_MS));
        let JobEventBody { event, id, data, retry } = body.map_err(axum::Error::new)?;
        Ok(event_stream::event(event.name(), id, data, retry))
    }
}

impl JobEventWriter {
    /// The events of a job for a caller that has got those up to `last`. `request_id` is that of the caller's request.
    pub(super) fn new(request_id: Arc<str>, job: JobId, last: Option<EventId>) -> Self {
        let nothing = Cursor { job, attempt: 0, n_parts: 0 };
        let cursor = last.map_or(nothing, |id| id.cursor(job));
        Self { request_id, cursor, state: None, progress_s: None, has_written: false }
    }

    /// A new attempt transcribes the recording from its beginning.
    fn begin(&mut self, attempt: i32) {
        if attempt != self.cursor.attempt {
            self.cursor = Cursor { attempt, n_parts: 0, ..self.cursor };
        }
    }

    /// The events of further segments. They have no translations, because segments are translated together at the end.
    fn add(&mut self, segments: Vec<Segment>) -> Vec<(EventId, JobEvent)> {
        let add = |segment: Segment| {
            self.cursor.n_parts += 1;
            let segment = body::segment(Segment { translation: None, ..segment });
            (self.cursor.into(), JobEvent::Segment(segment))
        };
        segments.into_iter().map(add).collect()
    }
}

impl JobEvent {
    fn body(&self, id: EventId, retry: Option<u32>) -> Result<JobEventBody, serde_json::Error> {
        let (event, data) = match self {
            Self::State(state) => (JobEventName::State, serde_json::to_string(state)?),
            Self::Progress(progress) => (JobEventName::Progress, serde_json::to_string(progress)?),
            Self::Segment(segment) => (JobEventName::Segment, serde_json::to_string(segment)?),
            Self::Done(job) => (JobEventName::Done, serde_json::to_string(job)?),
        };
        Ok(JobEventBody { event, id: id.to_string(), data, retry })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use akhar_jobs::JobState;
    use akhar_requests::Operation;
    use uuid::Uuid;

    use super::*;

    fn segments(n: u8) -> Vec<Segment> {
        let segment = |at: u8| Segment {
            start: at.into(),
            end: at.into(),
            transcription: at.to_string(),
            translation: Some("x".to_owned()),
            confidence: None,
            channel: None,
        };
        (1..=n).map(segment).collect()
    }

    fn running(attempt: i32, progress_s: f64, segments: &[Segment]) -> Followed {
        Followed {
            state: JobState::Running,
            attempt,
            place: None,
            progress_s: Some(progress_s),
            parts: segments.iter().cloned().map(Into::into).collect(),
        }
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
                probably_wrong: Vec::new(),
                confidence: None,
                language: None,
                subtitles: akhar_requests::SubtitleSize::default(),
            }),
            timing: None,
            progress_s: None,
            is_kept_until_delivery: false,
            group: None,
            labels: BTreeMap::new(),
        }
    }

    fn knows(attempt: i32, n_parts: i32) -> JobEventWriter {
        let mut writer = JobEventWriter::new("r".into(), JobId(Uuid::now_v7()), None);
        writer.cursor = Cursor { attempt, n_parts, ..writer.cursor };
        writer
    }

    /// Each event as its id and its data.
    fn texts(events: Vec<(EventId, JobEvent)>) -> Vec<String> {
        let text = |(id, event)| match event {
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
        events.into_iter().map(text).collect()
    }

    #[test]
    fn only_what_has_changed_is_texts() {
        let mut caller = knows(0, 0);
        let all = segments(3);
        let waits = |place| Followed {
            state: JobState::Queued,
            attempt: 0,
            place: Some(place),
            progress_s: None,
            parts: Vec::new(),
        };
        assert_eq!(texts(caller.news(waits(2))), ["0.0 Queued 0 Some(2)"]);
        assert_eq!(texts(caller.news(waits(2))), [""; 0]);
        assert_eq!(texts(caller.news(waits(1))), ["0.0 Queued 0 Some(1)"]);
        let news = texts(caller.news(running(1, 5.0, &all[..2])));
        assert_eq!(news, ["1.0 Running 1 None", "1.1 1", "1.2 2", "1.2 5"]);
        assert_eq!(texts(caller.news(running(1, 5.0, &[]))), [""; 0]);
        assert_eq!(texts(caller.end(ended(1, all))), ["1.3 3", "end done"]);
    }

    #[test]
    fn another_attempt_begins_again() {
        let mut caller = knows(1, 2);
        let all = segments(3);
        assert_eq!(texts(caller.news(running(2, 1.0, &all[..1]))), ["2.0 Running 2 None", "2.1 1", "2.1 1"]);
        assert_eq!(texts(caller.end(ended(3, all))), ["3.1 1", "3.2 2", "3.3 3", "end done"]);
    }

    #[test]
    fn an_id_beyond_the_end_gives_no_segments() {
        assert_eq!(texts(knows(1, 9).end(ended(1, segments(3)))), ["end done"]);
    }
}
