//! `/ops/jobs/{id}`: the life of one job. Never what its caller sent, and never its result.

use akhar_accounts::Action;
use akhar_jobs::{
    JobId, JobState,
    store::{self, FailedAttempt, JobSearch, JobSummary},
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
    jobs::{Possible, buttons, job_state},
    layout::{self, Section, token},
    notice::{self, Done},
    operator::Operator,
    state::OpsState,
    text::Text,
};
use crate::ui::query::Parameters;

/// `GET /ops/jobs/{id}`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Path(id): Path<String>,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let text = operator.language.text();
    let db = &state.database;
    let id = Uuid::try_parse(&id).map(JobId).map_err(|_| Failure::NotFound)?;
    let search = JobSearch { ids: Some(vec![id]), ..JobSearch::default() };
    let job = store::search(db, &search, None, 1).await?.jobs.pop().ok_or(Failure::NotFound)?;
    let attempts = store::failed_attempts(db, id).await?;
    let is_final = job.state.is_final();
    let possible = Possible { retry: job.can_be_retried, cancel: !is_final, delete: is_final };
    let body = html! {
        (notice::show(&done, text))
        p { a href="/ops/jobs" { "← " (text.sections.jobs) } }
        h1 { (text.job.title) " " code { (id) } }
        p { (job_state(&job, text)) }
        (facts(&job, text))
        (failed(&attempts, text))
        @if operator.may(Action::JobsRetry) {
            form method="post" action="/ops/jobs" {
                (token(&operator))
                input type="hidden" name="id" value=(id);
                input type="hidden" name="return" value=(notice::without(&operator.path));
                div.actions { (buttons(possible, text)) }
                @if job.state == JobState::Failed && !job.can_be_retried { p.hint { (text.job.rejected) } }
            }
        }
    };
    Ok(layout::page(&operator, Section::Jobs, text.job.title, &body))
}

fn facts(job: &JobSummary, text: &Text) -> Markup {
    let t = &text.job;
    let after =
        |from, to| html! { (time(to)) " (+" (exact_duration(&text.units, seconds_between(from, to))) ")" };
    let optional = |fact: Option<Markup>| fact.unwrap_or_else(|| html! { "–" });
    let rows = [
        (t.operation, html! { (job.operation) }),
        (t.queue, html! { (job.queue) }),
        (t.attempts, html! { (job.attempt) "/" (job.max_attempts) }),
        (t.caller, html! { @if job.priority == 1 { (t.waits) } @else { (t.asynchronous) } }),
        (
            t.account,
            html! {
                a href={ "/ops/jobs?by=account&q=" (job.account_id) } { (job.account.as_deref().unwrap_or("–")) }
            },
        ),
        (t.request, html! { code { (job.request_id) } }),
        (t.worker, optional(job.worker.as_ref().map(|worker| html! { code { (worker) } }))),
        (t.accepted, time(job.created_at)),
        (t.not_before, time(job.run_at)),
        (t.started, optional(job.started_at.map(|at| after(job.created_at, at)))),
        (t.ended, optional(job.ended_at.map(|at| after(job.started_at.unwrap_or(job.created_at), at)))),
        (t.decode, optional(job.decode_us.map(|us| html! { (milliseconds(us)) }))),
        (t.inference, optional(job.infer_us.map(|us| html! { (milliseconds(us)) }))),
        (t.upload, optional(job.upload_bytes.map(|n| html! { (number(n)) " " (t.bytes) }))),
        (t.last_error, optional(job.reason().map(|reason| html! { span.error-text { (reason) } }))),
    ];
    html! { dl.facts { @for (name, value) in &rows { div { dt { (name) } dd { (value) } } } } }
}

fn failed(attempts: &[FailedAttempt], text: &Text) -> Markup {
    let heads = &text.job.attempt_heads;
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
    html! { @if !attempts.is_empty() { (layout::table(text.job.failed_attempts, heads, &rows)) } }
}
