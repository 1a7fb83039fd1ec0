//! `/ops/jobs/{id}`: the life of one job. Never what its caller sent, and never its result.

use akhar_jobs::{JobId, JobState};
use akhar_operators::{
    Action, Change,
    search::{self, FailedAttempt, JobLife, JobRow},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    failure::Failure,
    format::{exact_duration, milliseconds, number, seconds_between, time},
    jobs::{buttons, job_state},
    layout::{self, Section, token},
    notice::{self, Done},
    operator::Operator,
    state::OpsState,
};
use crate::ui::query::Parameters;

/// `GET /ops/jobs/{id}`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Path(id): Path<String>,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let db = &state.database;
    let id = Uuid::try_parse(&id).map(JobId).map_err(|_| Failure::NotFound)?;
    let JobLife { job, failed_attempts } = search::find(db, id).await?.ok_or(Failure::NotFound)?;
    let possible = Change::ALL.into_iter().filter(|change| (change.facts().is_possible)(&job));
    let body = html! {
        (notice::show(&done))
        p { a href="/ops/jobs" { "← Jobs" } }
        h1 { "Job " code { (id) } }
        p { (job_state(&job)) }
        (facts(&job))
        (failed(&failed_attempts))
        @if operator.may(Action::JobsRetry) {
            form method="post" action="/ops/jobs" {
                (token(&operator))
                input type="hidden" name="id" value=(id);
                input type="hidden" name="return" value=(notice::without(&operator.path));
                div.actions { (buttons(possible)) }
                @if job.state == JobState::Failed && !job.can_be_retried { p.hint { "This job cannot be retried: its input was rejected, or its upload is gone." } }
            }
        }
    };
    Ok(layout::page(&operator, Section::Jobs, "Job", &body))
}

fn facts(job: &JobRow) -> Markup {
    let after = |from, to| html! { (time(to)) " (+" (exact_duration(seconds_between(from, to))) ")" };
    let optional = |fact: Option<Markup>| fact.unwrap_or_else(|| html! { "–" });
    let rows = [
        ("Operation", html! { (job.operation) }),
        ("Queue", html! { (job.queue) }),
        ("Attempts", html! { (job.attempt) "/" (job.max_attempts) }),
        (
            "Caller",
            html! { @if job.priority == 1 { "waits for the response" } @else { "does not wait (asynchronous)" } },
        ),
        (
            "Account",
            html! {
                a href={ "/ops/jobs?by=account&q=" (job.account_id) } { (job.account.as_deref().unwrap_or("–")) }
            },
        ),
        ("Id of the request", html! { code { (job.request_id) } }),
        ("Worker", optional(job.worker.as_ref().map(|worker| html! { code { (worker) } }))),
        ("Accepted", time(job.created_at)),
        ("Not claimed before", time(job.run_at)),
        ("Last claimed", optional(job.started_at.map(|at| after(job.created_at, at)))),
        ("Ended", optional(job.ended_at.map(|at| after(job.started_at.unwrap_or(job.created_at), at)))),
        ("Decoding", optional(job.decode_us.map(|us| html! { (milliseconds(us)) }))),
        ("Inference", optional(job.infer_us.map(|us| html! { (milliseconds(us)) }))),
        ("Upload", optional(job.upload_bytes.map(|n| html! { (number(n)) " bytes" }))),
        ("Last error", optional(job.reason().map(|reason| html! { span.error-text { (reason) } }))),
    ];
    html! { dl.facts { @for (name, value) in &rows { div { dt { (name) } dd { (value) } } } } }
}

fn failed(attempts: &[FailedAttempt]) -> Markup {
    let heads = &["Attempt", "Claimed", "Failed", "Worker", "Error"];
    let rows = html! {
        @for attempt in attempts {
            (layout::row(heads, &[
                html! { (attempt.attempt) },
                html! { @match attempt.started_at { Some(at) => (time(at)), None => "–" } },
                time(attempt.ended_at),
                html! { code { (attempt.worker.as_deref().unwrap_or("–")) } },
                html! { span.error-text { (attempt.error) } },
            ]))
        }
    };
    html! { @if !attempts.is_empty() { (layout::table("Failed attempts", heads, &rows)) } }
}
