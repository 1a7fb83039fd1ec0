//! Runs an operation: submits the job of a checked request, waits for its end, and responds with the result or a 202.

use std::time::Duration;

use akhar_requests::Job;
use axum::{http::HeaderName, response::Response};

use super::{intake::Intake, submission::Submission};
use crate::{
    app::App,
    outcomes::{document, response},
    problems::Problem,
};

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Runs an operation and responds as the operation does, in the representation that the caller prefers.
pub(crate) async fn run(app: &App, intake: Intake<'_>) -> Result<Response, Problem> {
    let context = intake.context;
    // This is checked before the job is submitted, so that no job runs whose result could not be sent.
    response::check_accepted(&intake.parameters, context)?;
    run_and_render(app, intake, |job, total| response::result(job, total, context)).await
}

/// Submits a job, waits for its end within the caller's and the operation's limits, and builds the response. `render`
/// gets the job that has ended, and the time since the request arrived.
pub(crate) async fn run_and_render(
    app: &App,
    intake: Intake<'_>,
    render: impl FnOnce(Job, Duration) -> Result<Response, Problem>,
) -> Result<Response, Problem> {
    let context = intake.context;
    let wait = context.preferences.wait_within(app.wait_limit(intake.parameters.operation()));
    let asynchronous = wait.is_zero();
    let job = submit(app, intake, asynchronous).await?.job_within(wait).await?;
    // An asynchronous caller always gets a 202, even if the job has ended already.
    let mut response = if job.state.is_final() && !asynchronous {
        app.deliveries.respond(job, |job| render(job, context.request.received_at.elapsed()))?
    } else {
        // Who gets a 202 looks for the outcome at its Location, even if the document has it.
        document::accepted(job, &context.request)
    };
    if let Some(applied) = context.preferences.applied() {
        response.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
    Ok(response)
}

/// Submits a job whose caller follows it, and flushes it to disk.
pub(crate) async fn submit_followed(app: &App, intake: Intake<'_>) -> Result<Submission, Problem> {
    let mut submission = submit(app, intake, false).await?;
    submission.acknowledge().await?;
    Ok(submission)
}

async fn submit(app: &App, intake: Intake<'_>, asynchronous: bool) -> Result<Submission, Problem> {
    let context = intake.context;
    let admitted = intake.admit(app, asynchronous).await?;
    let submission = Submission::submit(app, admitted).await?;
    let _ = context.request.job.set(submission.id); // a request has one job, so nothing has set it before
    Ok(submission)
}
