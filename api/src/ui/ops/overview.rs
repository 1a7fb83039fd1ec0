//! `/ops`: queues and workers with their models, and buttons that pause, drain and resume them.

use akhar_jobs::store::{AccountGroup, Group, QueueMode};
use akhar_operators::{
    Action, marks, minutes,
    queues::{self, MAX_COUNTED, ModeChange, QueueLoad, mode_text},
    until::{MAX_WHY, Until, Why},
    workers::{self, Worker, WorkerState},
};
use akhar_requests::queue_named;
use axum::{extract::State, response::Response};
use chrono::Local;
use maud::{Markup, html};

use super::{
    failure::Failure,
    form::OperatorForm,
    format::{counted, duration, number, rate},
    history,
    layout::{self, Section, token},
    live::{Alert, Overview},
    notice::{self, Done, Kind},
    operator::Operator,
    state::OpsState,
};
use crate::ui::{query::Parameters, respond::see_other};

/// A number of the page that changes: the id of its element, and its text.
pub(super) type LiveValue = (String, String);

/// `GET /ops`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let overview = state.live.overview(&state.database).await?;
    let minutes = minutes::recorded_minutes(&state.database).await?;
    let marks = marks::of_last_day(&state.database, &overview.workers, &overview.models).await?;
    let body = html! {
        (notice::show(&done))
        div.title {
            h1 { "Overview" }
            p.live #live hidden data-layout=(layout_of(&overview)) data-lost="Not connected. The numbers are old." data-live="Live" {}
        }
        div #alerts role="status" { (alerts(&overview)) }
        section { (queues(&operator, &overview)) }
        section { (workers(&operator, &overview)) }
        @if !overview.models.is_empty() { section { (models(&overview)) } }
        @if !overview.groups.is_empty() { section { (groups(&overview)) } }
        section { (history::section(&minutes, &marks, overview.at)) }
        p.hint { "Jobs in the database: " span #kept { (kept(&overview)) } }
    };
    Ok(layout::page(&operator, Section::Overview, "Overview", &body))
}

fn alerts(overview: &Overview) -> Markup {
    let alerts = overview.alerts();
    html! {
        @if alerts.is_empty() { p.notice { "Everything runs." } }
        @else { ul.alerts { @for alert in &alerts { li.notice.partial { (alert_text(alert)) } } } }
    }
}

/// The text of an alert.
pub(super) fn alert_text(alert: &Alert) -> String {
    match alert {
        Alert::StorageFull => "The disk of Postgres is full: new requests are refused.".to_owned(),
        Alert::Quiet => "The database was restored from a backup and is quiet: no job starts, and no webhook is sent, until somebody runs \
            “akhar database go”."
            .to_owned(),
        Alert::NoWorker => "No worker claims jobs.".to_owned(),
        Alert::Silent(name) => format!("Worker {name} sends no heartbeat."),
        Alert::Stopped { queue, text, effect } => format!("Queue {queue} is {text}: {effect}."),
        Alert::LongWait(name) => format!("The oldest job of queue {name} has waited for more than a minute."),
        Alert::PoorTexts => "Most Panjabi transcriptions of the last day are marked as probably wrong. A larger model is for \
            conversation too: install it with “akhar models pull indicconformer-pa”, and workers load it after “akhar models \
            use speech-recognition indicconformer-pa --lang pa”."
            .to_owned(),
    }
}

/// What the page shows apart from its numbers. When this changes, the script gets the whole page again.
pub(super) fn layout_of(overview: &Overview) -> String {
    let queues = overview
        .queues
        .iter()
        .map(|queue| format!("{}={}", queue.queue, mode_text(queue.mode, queue.until, queue.why.as_deref())));
    let workers = overview.workers.iter().map(|worker| format!("{}={:?}", worker.name, worker.state));
    let models = overview.models.iter().map(|of| format!("{}@{}", of.version, of.workers.join(",")));
    let groups = overview.groups.iter().map(|of| format!("{}@{:?}", of.group.name.as_str(), of.account));
    let alerts = overview.alerts().into_iter().map(|alert| format!("{alert:?}"));
    queues.chain(workers).chain(models).chain(groups).chain(alerts).collect::<Vec<_>>().join(" ")
}

/// The numbers of the page.
pub(super) fn values(overview: &Overview) -> Vec<LiveValue> {
    let queues = overview.queues.iter().flat_map(queue_values);
    let workers = overview.workers.iter().flat_map(|worker| worker_values(overview, worker));
    let groups = overview.groups.iter().enumerate().flat_map(|(nth, of)| group_values(nth, &of.group));
    queues.chain(workers).chain(groups).chain([("kept".to_owned(), kept(overview))]).collect()
}

fn kept(overview: &Overview) -> String {
    let n = number(overview.n_kept);
    if overview.n_kept > MAX_COUNTED { format!("about {n}") } else { n }
}

fn queue_values(queue: &QueueLoad) -> [LiveValue; 5] {
    let oldest = queue.oldest_s.map_or_else(|| "–".to_owned(), duration);
    [
        ("waiting", counted(queue.queued, MAX_COUNTED)),
        ("oldest", oldest),
        ("running", counted(queue.running, MAX_COUNTED)),
        ("ended", rate(queue.ended_per_minute)),
        ("failed", rate(queue.failed_per_minute)),
    ]
    .map(|(name, value)| (format!("{}-{name}", queue.queue), value))
}

fn worker_values(overview: &Overview, worker: &Worker) -> [LiveValue; 2] {
    let silence = duration(overview.silence_s(worker));
    [("heartbeat", silence), ("jobs", number(worker.n_jobs))]
        .map(|(name, value)| (format!("{}-{name}", worker.name), value))
}

fn group_values(nth: usize, group: &Group) -> [LiveValue; 5] {
    [
        ("waiting", group.n_queued),
        ("running", group.n_running),
        ("succeeded", group.n_succeeded),
        ("failed", group.n_failed),
        ("cancelled", group.n_cancelled),
    ]
    .map(|(name, n)| (format!("group{nth}-{name}"), number(n)))
}

fn live((id, value): LiveValue) -> Markup {
    html! { span.number id=(id) { (value) } }
}

fn queues(operator: &Operator, overview: &Overview) -> Markup {
    let heads =
        &["Queue", "Mode", "Waiting", "Oldest", "Running", "Ended a minute", "Failed a minute", "Change"];
    let rows = html! {
        @for queue in &overview.queues {
            @let [waiting, oldest, running, ended, failed] = queue_values(queue).map(live);
            (layout::row(heads, &[
                html! { a href={ "/ops/jobs?state=queued&queue=" (queue.queue) } { (queue.queue) } },
                mode(queue), waiting, oldest, running, ended, failed,
                html! { @if operator.may(Action::QueuePause) { (queue_buttons(operator, queue)) } },
            ]))
        }
    };
    layout::table("Queues", heads, &rows)
}

fn mode(queue: &QueueLoad) -> Markup {
    let class = if queue.mode == QueueMode::Open { "good" } else { "warn" };
    html! {
        span.state.(class) { (queue.mode.name()) }
        @if let Some(at) = queue.until { " until " (super::format::time(at)) }
        @if let Some(why) = &queue.why { br; span.hint { (why) } }
    }
}

fn queue_buttons(operator: &Operator, queue: &QueueLoad) -> Markup {
    let buttons = [(QueueMode::Paused, "Pause"), (QueueMode::Draining, "Drain"), (QueueMode::Open, "Resume")];
    html! {
        form.buttons method="post" action="/ops/queues" {
            (token(operator))
            input type="hidden" name="queue" value=(queue.queue);
            @for (name, label, max) in [("why", "Why", MAX_WHY), ("until", "Until: 06:00, 2h", 40)] {
                input name=(name) placeholder=(label) maxlength=(max) aria-label={ (label) ": " (queue.queue) };
            }
            @for (mode, label) in buttons {
                @if mode != queue.mode {
                    button name="mode" value=(mode.name()) aria-label={ (label) ": " (queue.queue) }
                        id={ (queue.queue) "-" (mode.name()) } { (label) }
                }
            }
        }
    }
}

fn workers(operator: &Operator, overview: &Overview) -> Markup {
    let heads = &["Worker", "State", "Heartbeat", "Jobs", "Started", "Change"];
    let rows = html! {
        @for worker in &overview.workers {
            @let [heartbeat, jobs] = worker_values(overview, worker).map(live);
            (layout::row(heads, &[
                html! { code { (worker.name) } }, worker_state(worker), heartbeat, jobs,
                super::format::time(worker.started_at),
                html! { @if operator.may(Action::WorkerDrain) { (worker_button(operator, worker)) } },
            ]))
        }
    };
    html! {
        @if overview.workers.is_empty() {
            h2 { "Workers" }
            p { "No worker is connected to the database." }
        } @else { (layout::table("Workers", heads, &rows)) }
    }
}

/// The models of the workers. Those that differ between workers name theirs.
fn models(overview: &Overview) -> Markup {
    let heads = &["Operation", "Model", "Version", "Workers", "Loaded"];
    let rows = html! {
        @for model in &overview.models {
            (layout::row(heads, &[
                html! { (model.operation) @if let Some(language) = &model.language { " (" (language) ")" } },
                html! { (model.id) },
                html! { code { (model.version) } @if model.is_mixed { " " span.state.warn { "differs between workers" } } },
                html! {
                    @if model.is_mixed { code { (model.workers.join(", ")) } } @else { (model.workers.len()) }
                },
                super::format::time(model.since),
            ]))
        }
    };
    layout::table("Models", heads, &rows)
}

fn groups(overview: &Overview) -> Markup {
    let heads = &["Group", "Account", "Waiting", "Running", "Succeeded", "Failed", "Cancelled", "Started"];
    let rows = html! {
        @for (nth, AccountGroup { account, group }) in overview.groups.iter().enumerate() {
            @let [waiting, running, succeeded, failed, cancelled] = group_values(nth, group).map(live);
            (layout::row(heads, &[
                html! { (group.name.as_str()) }, html! { (account.as_deref().unwrap_or_default()) },
                waiting, running, succeeded, failed, cancelled, super::format::time(group.created_at),
            ]))
        }
    };
    layout::table("Groups that have not ended", heads, &rows)
}

fn worker_state(worker: &Worker) -> Markup {
    let state = worker.state;
    let class = match state {
        WorkerState::Works => "good",
        WorkerState::Draining | WorkerState::Drained => "warn",
        WorkerState::Silent => "bad",
    };
    html! { span.state.(class) { (state.name()) } }
}

fn worker_button(operator: &Operator, worker: &Worker) -> Markup {
    let (drain, label) = if worker.is_draining { ("false", "Resume") } else { ("true", "Drain") };
    html! {
        form.buttons method="post" action="/ops/workers" {
            (token(operator))
            input type="hidden" name="name" value=(worker.name);
            button name="drain" value=(drain) aria-label={ (label) ": " (worker.name) } id={ (worker.name) "-button" } { (label) }
        }
    }
}

/// `POST /ops/queues`: sets the mode of a queue.
pub(super) async fn set_queue(
    State(state): State<OpsState>,
    form: OperatorForm,
) -> Result<Response, Failure> {
    let queue = queue_named(form.fields.get("queue")).ok_or(Failure::NotFound)?;
    let mode = QueueMode::ALL
        .into_iter()
        .find(|mode| mode.name() == form.fields.get("mode"))
        .ok_or(Failure::NotFound)?;
    let given = |name| Some(form.fields.get(name).trim()).filter(|text| !text.is_empty());
    let why = given("why").map(Why::parse).transpose().map_err(Failure::Field)?;
    let until =
        given("until").map(|text| Until::parse(text, &Local::now())).transpose().map_err(Failure::Field)?;
    let change = ModeChange { mode, why, until };
    queues::set_mode(&state.database, &form.operator.actor, queue, &change).await?;
    state.live.forget().await;
    let operator = form.operator.session.prefix;
    tracing::info!(operator, queue = queue.name(), mode = mode.name(), "an operator set the mode of a queue");
    Ok(see_other(&notice::after("/ops", Kind::Queue, 1, 1)))
}

/// `POST /ops/workers`: drains a worker, or resumes it.
pub(super) async fn set_worker(
    State(state): State<OpsState>,
    form: OperatorForm,
) -> Result<Response, Failure> {
    let name = form.fields.get("name");
    let drain = form.fields.get("drain") == "true";
    let is_known = workers::drain(&state.database, &form.operator.actor, name, drain).await?;
    state.live.forget().await;
    if is_known {
        tracing::info!(
            operator = form.operator.session.prefix,
            worker = name,
            drain,
            "an operator drained or resumed a worker"
        );
    }
    Ok(see_other(&notice::after("/ops", Kind::Worker, usize::from(is_known), 1)))
}
