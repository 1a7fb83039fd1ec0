//! `/ops/jobs`: finds jobs, and retries, cancels or deletes those that are selected, or all that were found.

use akhar_jobs::{JobId, JobState};
use akhar_operators::{
    Action, Change, JobSearch, changes,
    overview::{self, StateCounts},
    queues::MAX_COUNTED,
    search::{self, JobPage, JobRow},
};
use akhar_platform::database::Pool;
use akhar_requests::QUEUES;
use axum::{extract::State, response::Response};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    failure::Failure,
    form::OperatorForm,
    format::{counted, duration, number, time},
    layout::{self, Section, token},
    notice::{self, Done, Kind},
    operator::Operator,
    search_query::{By, SearchQuery},
    state::OpsState,
};
use crate::ui::{choice::is_page, query::Parameters, respond::see_other};

/// The jobs on a page.
const PER_PAGE: u16 = 50;

/// The most jobs that one click changes.
pub(super) const MAX_CHANGED: usize = 10_000;

/// `GET /ops/jobs`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(query): Parameters<SearchQuery>,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let db = &state.database;
    let counts = overview::state_counts(db).await?;
    let page = match query.resolve(db).await? {
        Some(search) => Some(search::search(db, &search, query.start(), PER_PAGE).await?),
        None => None,
    };
    let body = html! {
        (notice::show(&done))
        h1 { "Jobs" }
        (tabs(&query, counts))
        (search_form(&query, page.is_none()))
        @match &page {
            Some(page) => { (found(&operator, &query, page)) }
            None => { p { "No job was found." } }
        }
    };
    Ok(layout::page(&operator, Section::Jobs, "Jobs", &body))
}

fn tabs(query: &SearchQuery, counts: StateCounts) -> Markup {
    let count = |state| match state {
        JobState::Queued => Some(counts.queued),
        JobState::Running => Some(counts.running),
        JobState::Failed => Some(counts.failed),
        JobState::Succeeded | JobState::Cancelled => None,
    };
    html! {
        nav.tabs aria-label="Jobs by state" {
            ul {
                li { a href=(query.path(None, None)) aria-current=[query.state().is_none().then_some("page")] { "all" } }
                @for state in JobState::ALL {
                    li {
                        a href=(query.path(Some(state), None))
                            aria-current=[(query.state() == Some(state)).then_some("page")] {
                            (state.name())
                            @if let Some(n) = count(state) { " " span.count { (counted(n, MAX_COUNTED)) } }
                        }
                    }
                }
            }
        }
    }
}

fn search_form(query: &SearchQuery, is_invalid: bool) -> Markup {
    let by = |by| match by {
        By::Job => "id of the job",
        By::Request => "id of the request",
        By::Account => "key or account",
        By::Error => "error",
    };
    html! {
        form.search method="get" action="/ops/jobs" role="search" {
            @if let Some(state) = query.state() { input type="hidden" name="state" value=(state.name()); }
            div {
                label for="queue" { "Queue" }
                select #queue name="queue" {
                    option value="" { "both" }
                    @for queue in QUEUES {
                        option value=(queue.name()) selected[query.queue() == Some(queue)] { (queue.name()) }
                    }
                }
            }
            div {
                label for="by" { "Search by" }
                select #by name="by" {
                    @for one in By::ALL { option value=(one.name()) selected[query.by == one] { (by(one)) } }
                }
            }
            div.wide {
                label for="q" { "Text" }
                input #q type="search" name="q" value=(query.q) maxlength="2000" spellcheck="false" autocapitalize="none"
                    aria-invalid=[is_invalid.then_some("true")] aria-describedby=[is_invalid.then_some("q-error")];
                @if is_invalid { p.error #q-error { "Expected the id of a job or an account (a UUID), or the 8 characters after ak_ of a key." } }
            }
            button { "Find" }
        }
    }
}

fn found(operator: &Operator, query: &SearchQuery, page: &JobPage) -> Markup {
    let this = notice::without(&operator.path);
    html! {
        @if page.jobs.is_empty() { p { "No job was found." } }
        @else if !operator.may(Action::JobsRetry) { (list(&page.jobs, false)) }
        @else {
            form method="post" action="/ops/jobs" {
                (token(operator))
                input type="hidden" name="return" value=(this);
                (list(&page.jobs, true))
                div.actions {
                    p { "With the selected jobs:" }
                    label { input type="checkbox" name="all" value="yes"; " All that this search finds, on every page" }
                    (buttons(Change::ALL))
                }
            }
        }
        @if let Some(n) = page.n_read { p.hint { "The search read " (number(n)) " jobs and stopped. The next page goes on." } }
        nav.pages aria-label="Pages of the list" {
            @if query.start().is_some() { a href=(query.path(query.state(), None)) { "First page" } }
            @if let Some(next) = page.next { a rel="next" href=(query.path(query.state(), Some(next))) { "Next page" } }
        }
    }
}

/// The buttons that change jobs. What cannot be undone needs a second step.
pub(super) fn buttons(changes: impl IntoIterator<Item = Change>) -> Markup {
    html! {
        @for change in changes {
            @let label = label(change);
            @let verb = change.facts().verb;
            @match change.facts().warning {
                None => { button name="action" value=(verb) { (label) } }
                Some(warning) => {
                    details {
                        summary { (label) "…" }
                        p { (warning) }
                        button.danger name="action" value=(verb) { (label) }
                    }
                }
            }
        }
    }
}

/// The verb of a change as a button has it.
fn label(change: Change) -> String {
    let (first, others) = change.facts().verb.split_at(1);
    format!("{}{others}", first.to_ascii_uppercase())
}

fn list(jobs: &[JobRow], can_be_selected: bool) -> Markup {
    let first = usize::from(!can_be_selected);
    let heads = ["Select", "Job", "State", "Operation", "Accepted", "Attempt", "Account", "Error"];
    let heads = &heads[first..];
    let rows = html! {
        @for job in jobs {
            @let cells = [
                html! { input type="checkbox" name="id" value=(job.id) aria-label={ "Select job " (job.id) }; },
                html! { a href={ "/ops/jobs/" (job.id) } { code { (short(job.id)) } } },
                job_state(job),
                html! { (job.operation) },
                time(job.created_at),
                html! { (job.attempt) "/" (job.max_attempts) },
                html! { (job.account.as_deref().unwrap_or("–")) },
                html! { span.error-text { (job.reason().unwrap_or("–")) } },
            ];
            (layout::row(heads, &cells[first..]))
        }
    };
    layout::table("Jobs", heads, &rows)
}

/// The state of a job.
pub(super) fn job_state(job: &JobRow) -> Markup {
    let class = match job.state {
        JobState::Succeeded => "good",
        JobState::Failed => "bad",
        JobState::Running => "busy",
        JobState::Queued | JobState::Cancelled => "plain",
    };
    html! {
        span.state.(class) { (job.state.name()) }
        @if let Some(s) = job.stalled_s() { " " span.state.warn { "no progress for " (duration(s)) } }
    }
}

/// The beginning and the end of an id: its time, and what differs between jobs of the same time.
fn short(id: JobId) -> String {
    let id = id.to_string();
    match (id.get(..13), id.get(28..)) {
        (Some(start), Some(end)) => format!("{start}…{end}"),
        _ => id,
    }
}

/// `POST /ops/jobs`: retries, cancels or deletes the selected jobs, and returns to the page. If all that were found are
/// selected, it first shows which they are.
pub(super) async fn change(
    State(state): State<OpsState>,
    OperatorForm { operator, fields }: OperatorForm,
) -> Result<Response, Failure> {
    let db = &state.database;
    let change = Change::ALL.into_iter().find(|change| change.facts().verb == fields.get("action"));
    let change = change.ok_or(Failure::NotFound)?;
    let back = Some(fields.get("return")).filter(|path| is_page(path)).unwrap_or("/ops/jobs");
    let (search, n) = if fields.get("all").is_empty() {
        let ids: Vec<_> = fields.all("id").filter_map(|id| Uuid::try_parse(id).ok().map(JobId)).collect();
        let n = ids.len();
        (JobSearch { ids: Some(ids), ..JobSearch::default() }, n)
    } else {
        let query = SearchQuery::of_page(back).ok_or(Failure::NotFound)?;
        let search = query.resolve(db).await?.ok_or(Failure::NotFound)?;
        if fields.get("confirmed").is_empty() {
            return confirm(db, &operator, back, &search, change).await;
        }
        (search, fields.get("confirmed").parse().unwrap_or(0))
    };
    let n_changed = changes::apply(db, &operator.actor, change, &search, n.min(MAX_CHANGED)).await?;
    state.live.forget().await;
    let action = fields.get("action");
    tracing::info!(operator = operator.session.prefix, action, n_changed, n, "an operator changed jobs");
    Ok(see_other(&notice::after(back, Kind::Jobs(change), n_changed, n)))
}

/// Shows the jobs that a search finds and that would be changed, by account, operation and state, with a button that changes
/// them.
async fn confirm(
    db: &Pool,
    operator: &Operator,
    back: &str,
    search: &JobSearch,
    change: Change,
) -> Result<Response, Failure> {
    let limit = i64::try_from(MAX_CHANGED).unwrap_or(i64::MAX);
    let groups = changes::count(db, search, Some((change, limit))).await?;
    let n: i64 = groups.iter().map(|group| group.n_jobs).sum();
    let heads = ["Jobs", "Account", "Operation", "State", "Oldest"];
    let rows = html! {
        @for group in &groups {
            (layout::row(&heads, &[
                html! { (number(group.n_jobs)) },
                html! { (group.account.as_deref().unwrap_or("–")) },
                html! { (group.operation) },
                html! { (group.state.name()) },
                html! { (duration(group.oldest_s)) },
            ]))
        }
    };
    let label = label(change);
    let body = html! {
        p { a href=(back) { "← Jobs" } }
        h1 { (label) ": " (number(n)) }
        p.hint { "At most " (number(limit)) " jobs at a time, the oldest first." }
        @if n == 0 { p { "No job was found." } } @else {
            (layout::table("Jobs", &heads, &rows))
            form method="post" action="/ops/jobs" {
                (token(operator))
                input type="hidden" name="return" value=(back);
                input type="hidden" name="all" value="yes";
                input type="hidden" name="confirmed" value=(n);
                @if let Some(warning) = change.facts().warning { p { (warning) } }
                button.danger[change != Change::Retry] name="action" value=(change.facts().verb) { (label) ": " (number(n)) }
            }
        }
    };
    Ok(layout::page(operator, Section::Jobs, "Jobs", &body))
}
