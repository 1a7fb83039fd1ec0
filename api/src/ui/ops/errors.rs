//! `/ops/errors`: failed jobs by error, with a button that retries all jobs with one error.

use akhar_jobs::JobState;
use akhar_operators::{
    Action, Change, JobSearch,
    changes::{self, ErrorCount},
    search::Text,
};
use axum::{extract::State, response::Response};
use maud::{Markup, html};

use super::{
    failure::Failure,
    form::OperatorForm,
    format::{number, time},
    jobs::MAX_CHANGED,
    layout::{self, Section, token},
    notice::{self, Done, Kind},
    operator::Operator,
    search_query::escaped,
    state::OpsState,
};
use crate::ui::{query::Parameters, respond::see_other};

/// The most errors on the page.
const MAX_ERRORS: i64 = 50;

/// `GET /ops/errors`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let errors = changes::errors(&state.database, MAX_ERRORS).await?;
    let body = html! {
        (notice::show(&done))
        h1 { "Errors" }
        p.hint { "The errors of the 2,000 jobs that failed last. Jobs whose input was rejected have no error." }
        @if errors.is_empty() { p { "No job failed with an error." } } @else { (list(&operator, &errors)) }
    };
    Ok(layout::page(&operator, Section::Errors, "Errors", &body))
}

fn list(operator: &Operator, errors: &[ErrorCount]) -> Markup {
    let heads = &["Error", "Jobs", "Last", "Change"];
    let rows = html! {
        @for error in errors {
            (layout::row(heads, &[
                html! { a.error-text href={ "/ops/jobs?state=failed&by=error&q=" (escaped(&error.error)) } { (error.error) } },
                html! { (number(error.n_jobs)) },
                time(error.last_ended_at),
                html! { @if operator.may(Action::JobsRetry) { (retry_form(operator, error)) } },
            ]))
        }
    };
    layout::table("Failed jobs by error", heads, &rows)
}

fn retry_form(operator: &Operator, error: &ErrorCount) -> Markup {
    html! {
        form method="post" action="/ops/errors" {
            (token(operator))
            input type="hidden" name="error" value=(error.error);
            button aria-label={ "Retry all of these: " (error.error) } { "Retry all of these" }
        }
    }
}

/// `POST /ops/errors`: retries jobs that failed with this error, or with a longer one that contains it.
pub(super) async fn retry(State(state): State<OpsState>, form: OperatorForm) -> Result<Response, Failure> {
    let error = Some(Text(form.fields.get("error").to_owned()));
    let search = JobSearch { state: Some(JobState::Failed), error, ..JobSearch::default() };
    let n_retried =
        changes::apply(&state.database, &form.operator.actor, Change::Retry, &search, MAX_CHANGED).await?;
    state.live.forget().await;
    tracing::info!(
        operator = form.operator.session.prefix,
        n_retried,
        "an operator retried the jobs with an error"
    );
    Ok(see_other(&notice::after("/ops/errors", Kind::Jobs(Change::Retry), n_retried, n_retried)))
}
