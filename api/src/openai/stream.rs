//! Writes a transcription as Server-Sent Events while it is recognised.

use std::collections::VecDeque;

use akhar_client::{AudioEventBody, OpenAiErrorBody};
use akhar_jobs::{
    Job, Outcome,
    store::{Cursor, Followed},
};
use axum::response::{Response, sse::Event};
use futures::stream;
use serde::Serialize;
use uuid::Uuid;

use super::{
    PATH,
    response::{transcription, usage},
};
use crate::{
    app::App,
    budget::Share,
    http::event_stream,
    operations::{intake::Intake, run::submit_followed, submission::Submission},
    problems::{Problem, ProblemType},
    waiting::streams::Look,
};

/// The events of one job.
struct Events {
    app: App,
    request_id: String,
    job: Submission,
    cursor: Cursor,
    /// The number of segments that were sent.
    n_sent: usize,
    ready: VecDeque<EventBody>,
    is_over: bool,
    _place: Share<Uuid>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EventBody {
    Text(AudioEventBody),
    Error { error: OpenAiErrorBody },
}

/// Submits a job and responds with its events.
pub(super) async fn respond(app: App, intake: Intake<'_>) -> Result<Response, Problem> {
    let place = app.streams.open(intake.caller.account_id).ok_or(Problem::of(ProblemType::TooManyStreams))?;
    let request_id = intake.context.request.id.to_string();
    let job = submit_followed(&app, intake).await?;
    let events = Events {
        app,
        request_id,
        cursor: Cursor { job: job.id, attempt: 0, n_segments: 0 },
        job,
        n_sent: 0,
        ready: VecDeque::new(),
        is_over: false,
        _place: place,
    };
    let events = stream::unfold(events, async |mut events| {
        let event = events.next().await?;
        Some((Event::default().json_data(event), events))
    });
    Ok(event_stream::respond(events))
}

impl Events {
    async fn next(&mut self) -> Option<EventBody> {
        let draining = self.app.draining();
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                () = self.look() => (),
                () = draining.cancelled() => self.fail(Problem::of(ProblemType::Draining)),
            }
        }
    }

    /// Reads what is new. If nothing is, waits until the job ends or all streams look again.
    async fn look(&mut self) {
        match self.app.streams.look(self.cursor, &self.app.lookups).await {
            Look::News(seen) => self.take(seen),
            Look::Ended(job) => self.finish(job),
            Look::Gone => self.fail(Problem::internal("the job was deleted while its caller followed it")),
            Look::Unavailable => (),
            Look::Failed(error) => self.fail(Problem::from(error)),
        }
        if self.ready.is_empty() && !self.is_over {
            self.job.waiter.wait_for_wake_up(self.app.streams.next_look()).await;
        }
    }

    /// Sends the further segments of a job that runs. A new attempt recognises the first ones again, which are not sent
    /// again.
    fn take(&mut self, seen: Followed) {
        let n_known = if seen.attempt == self.cursor.attempt { self.cursor.n_segments } else { 0 };
        let n_known = usize::try_from(n_known).unwrap_or(0);
        let n_seen = n_known + seen.segments.len();
        let n_repeated = self.n_sent.saturating_sub(n_known);
        for segment in seen.segments.into_iter().skip(n_repeated) {
            self.send(segment.transcription);
        }
        let n_segments = i32::try_from(n_seen).unwrap_or(i32::MAX);
        self.cursor = Cursor { attempt: seen.attempt, n_segments, ..self.cursor };
    }

    /// Sends the segments that were not sent yet, and the last event.
    fn finish(&mut self, job: Job) {
        let segments = job.outcome.as_ref().map_or(&[][..], Outcome::segments).to_vec();
        match transcription(job, false) {
            Ok(said) => {
                for segment in segments.into_iter().skip(self.n_sent) {
                    self.send(segment.transcription);
                }
                let done = AudioEventBody::Done { text: said.text, usage: usage(said.seconds) };
                self.ready.push_back(EventBody::Text(done));
                self.is_over = true;
            }
            Err(problem) => self.fail(problem),
        }
    }

    fn send(&mut self, text: String) {
        let delta = if self.n_sent == 0 { text } else { format!(" {text}") };
        self.ready.push_back(EventBody::Text(AudioEventBody::Delta { delta }));
        self.n_sent += 1;
    }

    fn fail(&mut self, problem: Problem) {
        let body = problem.body(PATH, &self.request_id);
        self.ready.extend(body.error.map(|error| EventBody::Error { error }));
        self.is_over = true;
    }
}
