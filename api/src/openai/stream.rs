//! Writes a transcription as Server-Sent Events while it is recognised.

use akhar_client::{AudioEventBody, OpenAiErrorBody, Warnings};
use akhar_jobs::store::{Cursor, Followed};
use akhar_requests::{Job, Language, Outcome};
use axum::response::{Response, sse::Event};
use serde::Serialize;

use super::{
    PATH,
    response::{View, languages, transcription, usage},
};
use crate::{
    app::App,
    http::event_stream,
    operations::{disconnect::CancelOnDisconnect, intake::Intake, run::submit_followed},
    outcomes::warnings::with_warnings,
    problems::{Problem, ProblemType},
    waiting::{
        followed_job::{EventWriter, FollowedJob},
        follower,
    },
};

/// The events of one job.
struct AudioEventWriter {
    request_id: String,
    cursor: Cursor,
    /// The number of segments that were sent.
    n_sent: usize,
    /// What the last event says about the request, and whether it has the probabilities of words.
    remarks: Vec<String>,
    with_logprobs: bool,
    /// The language that the request names.
    lang: Language,
    _cancel_on_disconnect: CancelOnDisconnect,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EventBody {
    Text(AudioEventBody),
    Error { error: OpenAiErrorBody },
}

/// Submits a job and responds with its events.
pub(super) async fn respond(
    app: &App,
    intake: Intake<'_>,
    View { speech, remarks, with_logprobs, .. }: View,
) -> Result<Response, Problem> {
    let stream = app.streams.open(intake.caller).ok_or(Problem::of(ProblemType::TooManyStreams))?;
    let request_id = intake.context.request.id.to_string();
    let submission = submit_followed(app, intake).await?;
    let writer = AudioEventWriter {
        request_id,
        cursor: Cursor { job: submission.id, attempt: 0, n_parts: 0 },
        n_sent: 0,
        remarks: remarks.clone(),
        with_logprobs,
        lang: speech.lang,
        _cancel_on_disconnect: submission.cancel_on_disconnect,
    };
    let job = FollowedJob::new(submission.waiter, writer);
    let response = event_stream::respond(follower::events(stream, job));
    Ok(with_warnings(response, &Warnings { general: remarks, ..Warnings::default() }))
}

impl EventWriter for AudioEventWriter {
    type Event = EventBody;

    fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The further segments of a job that runs. A new attempt recognises the first ones again, which are not sent again.
    fn news(&mut self, seen: Followed) -> Vec<EventBody> {
        let n_known = if seen.attempt == self.cursor.attempt { self.cursor.n_parts } else { 0 };
        let n_known = usize::try_from(n_known).unwrap_or(0);
        let n_parts = i32::try_from(n_known + seen.parts.len()).unwrap_or(i32::MAX);
        self.cursor = Cursor { attempt: seen.attempt, n_parts, ..self.cursor };
        let n_repeated = self.n_sent.saturating_sub(n_known);
        let further = seen.parts.into_iter().skip(n_repeated);
        further.map(|part| self.delta(part.text)).collect()
    }

    /// The segments that were not sent yet, and the last event.
    fn end(&mut self, job: Job) -> Vec<EventBody> {
        let segments = job.outcome.as_ref().map_or(&[][..], Outcome::segments).to_vec();
        match transcription(job, false) {
            Ok(mut transcription) => {
                transcription.warnings.general.append(&mut self.remarks);
                let further = segments.into_iter().skip(self.n_sent);
                let mut events: Vec<_> = further.map(|segment| self.delta(segment.transcription)).collect();
                let usage = usage(transcription.seconds);
                let warnings = transcription.warnings.sentences();
                let logprobs = self.with_logprobs.then(|| transcription.logprobs()).flatten();
                let languages = languages(&transcription, self.lang);
                let done = AudioEventBody::Done {
                    languages,
                    text: transcription.text,
                    translation: transcription.translation,
                    warnings,
                    logprobs,
                    usage,
                };
                events.push(EventBody::Text(done));
                events
            }
            Err(problem) => self.broken(problem),
        }
    }

    fn broken(&mut self, problem: Problem) -> Vec<EventBody> {
        let body = problem.body(PATH, &self.request_id);
        body.error.map(|error| EventBody::Error { error }).into_iter().collect()
    }

    fn write(&mut self, event: EventBody) -> Result<Event, axum::Error> {
        Event::default().json_data(event)
    }
}

impl AudioEventWriter {
    fn delta(&mut self, text: String) -> EventBody {
        let delta = if self.n_sent == 0 { text } else { format!(" {text}") };
        self.n_sent += 1;
        EventBody::Text(AudioEventBody::Delta { delta })
    }
}
