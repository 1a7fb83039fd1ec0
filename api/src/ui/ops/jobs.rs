//! `/ops/jobs`: finds jobs, and retries, cancels or deletes those that are selected, or all that were found.

use akhar_accounts::Action;
use akhar_jobs::{
    JobId, JobState, Queue,
    store::{self, Change, JobPage, JobSearch, JobSummary, MAX_COUNTED, StateCounts},
};
use akhar_platform::database::Pool;
use axum::{extract::State, response::Response};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    failure::Failure,
    form::{Fields, OperatorForm},
    format::{counted, duration, number, time},
    layout::{self, Section, token},
    notice::{self, Done, Kind},
    operator::Operator,
    search::{By, SearchQuery},
    state::OpsState,
    text::Text,
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
    let text = operator.language.text();
    let db = &state.database;
    let counts = store::state_counts(db).await?;
    let page = match query.resolve(db).await? {
        Some(search) => Some(store::search(db, &search, query.start(), PER_PAGE).await?),
        None => None,
    };
    let body = html! {
        (notice::show(&done, text))
        h1 { (text.sections.jobs) }
        (tabs(&query, counts, text))
        (search_form(&query, page.is_none(), text))
        @match &page {
            Some(page) => { (found(&operator, &query, page, text)) }
            None => { p { (text.jobs.none) } }
        }
    };
    Ok(layout::page(&operator, Section::Jobs, text.sections.jobs, &body))
}

fn tabs(query: &SearchQuery, counts: StateCounts, text: &Text) -> Markup {
    let count = |state| match state {
        JobState::Queued => Some(counts.queued),
        JobState::Running => Some(counts.running),
        JobState::Failed => Some(counts.failed),
        JobState::Succeeded | JobState::Cancelled => None,
    };
    html! {
        nav.tabs aria-label=(text.jobs.by_state) {
            ul {
                li { a href=(query.path(None, None)) aria-current=[query.state().is_none().then_some("page")] { (text.jobs.all) } }
                @for state in JobState::ALL {
                    li {
                        a href=(query.path(Some(state), None))
                            aria-current=[(query.state() == Some(state)).then_some("page")] {
                            (state_name(state, text))
                            @if let Some(n) = count(state) { " " span.count { (counted(n, MAX_COUNTED)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The name of a state.
pub(super) const fn state_name(state: JobState, text: &Text) -> &'static str {
    match state {
        JobState::Queued => text.states.queued,
        JobState::Running => text.states.running,
        JobState::Succeeded => text.states.succeeded,
        JobState::Failed => text.states.failed,
        JobState::Cancelled => text.states.cancelled,
    }
}

fn search_form(query: &SearchQuery, is_invalid: bool, text: &Text) -> Markup {
    let by = |by| match by {
        By::Job => text.jobs.by_job,
        By::Request => text.jobs.by_request,
        By::Account => text.jobs.by_account,
        By::Error => text.jobs.by_error,
    };
    html! {
        form.search method="get" action="/ops/jobs" role="search" {
            @if let Some(state) = query.state() { input type="hidden" name="state" value=(state.name()); }
            div {
                label for="queue" { (text.jobs.queue) }
                select #queue name="queue" {
                    option value="" { (text.jobs.both_queues) }
                    @for queue in Queue::ALL {
                        option value=(queue.name()) selected[query.queue() == Some(queue)] { (queue.name()) }
                    }
                }
            }
            div {
                label for="by" { (text.jobs.search_by) }
                select #by name="by" {
                    @for one in By::ALL { option value=(one.name()) selected[query.by == one] { (by(one)) } }
                }
            }
            div.wide {
                label for="q" { (text.jobs.search_for) }
                input #q type="search" name="q" value=(query.q) maxlength="2000" spellcheck="false" autocapitalize="none"
                    aria-invalid=[is_invalid.then_some("true")] aria-describedby=[is_invalid.then_some("q-error")];
                @if is_invalid { p.error #q-error { (text.jobs.no_such_id) } }
            }
            button { (text.jobs.find) }
        }
    }
}

fn found(operator: &Operator, query: &SearchQuery, page: &JobPage, text: &Text) -> Markup {
    let this = notice::without(&operator.path);
    html! {
        @if page.jobs.is_empty() { p { (text.jobs.none) } }
        @else if !operator.may(Action::JobsRetry) { (list(&page.jobs, false, text)) }
        @else {
            form method="post" action="/ops/jobs" {
                (token(operator))
                input type="hidden" name="return" value=(this);
                (list(&page.jobs, true, text))
                div.actions {
                    p { (text.jobs.with_selected) }
                    label { input type="checkbox" name="all" value="yes"; " " (text.jobs.all_found) }
                    (buttons(Possible { retry: true, cancel: true, delete: true }, text))
                }
            }
        }
        @if let Some(n) = page.n_read { p.hint { (text.jobs.read_limit.replace("{n}", &number(n))) } }
        nav.pages aria-label=(text.jobs.pages) {
            @if query.start().is_some() { a href=(query.path(query.state(), None)) { (text.jobs.first_page) } }
            @if let Some(next) = page.next { a rel="next" href=(query.path(query.state(), Some(next))) { (text.jobs.next_page) } }
        }
    }
}

/// What can be done to jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Possible {
    /// They can be retried.
    pub(super) retry: bool,
    /// They can be cancelled.
    pub(super) cancel: bool,
    /// They can be deleted.
    pub(super) delete: bool,
}

/// The buttons that change jobs. What cannot be undone needs a second step.
pub(super) fn buttons(possible: Possible, text: &Text) -> Markup {
    html! {
        @if possible.retry { button name="action" value="retry" { (text.actions.retry) } }
        @if possible.cancel { button name="action" value="cancel" { (text.actions.cancel) } }
        @if possible.delete {
            details {
                summary { (text.actions.delete) "…" }
                p { (text.jobs.delete_warning) }
                button.danger name="action" value="delete" { (text.actions.delete) }
            }
        }
    }
}

fn list(jobs: &[JobSummary], can_be_selected: bool, text: &Text) -> Markup {
    let first = usize::from(!can_be_selected);
    let heads = &text.jobs.heads[first..];
    let rows = html! {
        @for job in jobs {
            @let cells = [
                html! { input type="checkbox" name="id" value=(job.id) aria-label={ (text.jobs.select) " " (job.id) }; },
                html! { a href={ "/ops/jobs/" (job.id) } { code { (short(job.id)) } } },
                job_state(job, text),
                html! { (job.operation) },
                time(job.created_at),
                html! { (job.attempt) "/" (job.max_attempts) },
                html! { (job.account.as_deref().unwrap_or("–")) },
                html! { span.error-text { (job.reason().unwrap_or("–")) } },
            ];
            (layout::row(heads, &cells[first..]))
        }
    };
    layout::table(text.jobs.caption, heads, &rows)
}

/// The state of a job.
pub(super) fn job_state(job: &JobSummary, text: &Text) -> Markup {
    let class = match job.state {
        JobState::Succeeded => "good",
        JobState::Failed => "bad",
        JobState::Running => "busy",
        JobState::Queued | JobState::Cancelled => "plain",
    };
    html! { span.state.(class) { (state_name(job.state, text)) } }
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
    let (kind, change) = match fields.get("action") {
        "retry" => (Kind::Retried, Change::Retry),
        "cancel" => (Kind::Cancelled, Change::Cancel),
        "delete" => (Kind::Deleted, Change::Purge),
        _ => return Err(Failure::NotFound),
    };
    let back = Some(fields.get("return")).filter(|path| is_page(path)).unwrap_or("/ops/jobs");
    let (search, n) = if fields.get("all").is_empty() {
        let ids: Vec<_> = fields.all("id").filter_map(|id| Uuid::try_parse(id).ok().map(JobId)).collect();
        let n = ids.len();
        (JobSearch { ids: Some(ids), ..JobSearch::default() }, n)
    } else {
        let query = SearchQuery::of_page(back).ok_or(Failure::NotFound)?;
        let search = query.resolve(db).await?.ok_or(Failure::NotFound)?;
        if fields.get("confirmed").is_empty() {
            return confirm(db, &operator, &fields, back, &search, change).await;
        }
        (search, fields.get("confirmed").parse().unwrap_or(0))
    };
    let n_changed = store::change_jobs(db, &operator.actor, change, &search, n.min(MAX_CHANGED)).await?;
    state.live.forget().await;
    let action = fields.get("action");
    tracing::info!(operator = operator.session.prefix, action, n_changed, n, "an operator changed jobs");
    Ok(see_other(&notice::after(back, kind, n_changed, n)))
}

/// Shows the jobs that a search finds and that would be changed, by account, operation and state, with a button that changes
/// them.
async fn confirm(
    db: &Pool,
    operator: &Operator,
    fields: &Fields,
    back: &str,
    search: &JobSearch,
    change: Change,
) -> Result<Response, Failure> {
    let text = operator.language.text();
    let limit = i64::try_from(MAX_CHANGED).unwrap_or(i64::MAX);
    let groups = store::count_jobs(db, search, Some((change, limit))).await?;
    let n: i64 = groups.iter().map(|group| group.n_jobs).sum();
    let [_, _, state, operation, _, _, account, _] = text.jobs.heads;
    let heads = [text.sections.jobs, account, operation, state, text.overview.queue_heads[3]];
    let rows = html! {
        @for group in &groups {
            (layout::row(&heads, &[
                html! { (number(group.n_jobs)) },
                html! { (group.account.as_deref().unwrap_or("–")) },
                html! { (group.operation) },
                html! { (state_name(group.state, text)) },
                html! { (duration(&text.units, group.oldest_s)) },
            ]))
        }
    };
    let label = match change {
        Change::Retry => text.actions.retry,
        Change::Cancel => text.actions.cancel,
        Change::Purge => text.actions.delete,
    };
    let body = html! {
        p { a href=(back) { "← " (text.sections.jobs) } }
        h1 { (label) ": " (number(n)) }
        p.hint { (text.jobs.most_changed.replace("{n}", &number(limit))) }
        @if n == 0 { p { (text.jobs.none) } } @else {
            (layout::table(text.jobs.caption, &heads, &rows))
            form method="post" action="/ops/jobs" {
                (token(operator))
                input type="hidden" name="return" value=(back);
                input type="hidden" name="all" value="yes";
                input type="hidden" name="confirmed" value=(n);
                @if change == Change::Purge { p { (text.jobs.delete_warning) } }
                button.danger[change != Change::Retry] name="action" value=(fields.get("action")) { (label) ": " (number(n)) }
            }
        }
    };
    Ok(layout::page(operator, Section::Jobs, text.sections.jobs, &body))
}
