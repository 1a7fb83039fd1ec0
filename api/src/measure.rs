//! The metrics of an api: starts their export, and measures what is not counted as it happens.

use std::time::{Duration, Instant};

use akhar_jobs::{
    JobState, Queue,
    backend::{Executed, observe_statements},
    store::{self, QueueControl, QueueMode},
};
use akhar_operators::{
    queues::{self, Unended},
    workers::{self, Worker, WorkerState},
};
use akhar_platform::{
    config::Config,
    metrics::{self, Exporter, Measure, MetricsError},
};
use akhar_requests::{Operation, QUEUES};
use tokio::{sync::Mutex, time::timeout};

use crate::{app::App, problems::ProblemType};

/// The shortest time between two counts of the queues.
const MIN_COUNT_INTERVAL: Duration = Duration::from_secs(5);
/// The next count begins no earlier than this multiple of the time that the last one took, so that counting very long
/// queues takes at most a twentieth of a core.
const INTERVALS_PER_COUNTING_TIME: u32 = 20;
/// How long a count may take.
const COUNT_LIMIT: Duration = Duration::from_secs(4);

/// Starts to record, if the configuration has an address for metrics.
pub(crate) async fn start(config: &Config) -> Result<Exporter, MetricsError> {
    let exporter = Exporter::start(config.metrics_listen, "api", env!("CARGO_PKG_VERSION")).await?;
    observe_statements(|Executed { statement, n_jobs, took }| {
        metrics::STATEMENT_ITEMS.record_items([statement], n_jobs);
        metrics::STATEMENT_SECONDS.record_duration([statement], took);
    });
    for problem in ProblemType::ALL {
        metrics::PROBLEMS.add([problem.facts().slug], 0);
    }
    for operation in akhar_jobs::uploads::OPERATIONS {
        metrics::UPLOAD_STORE_FAILURES.add([operation], 0);
    }
    for quota in ["rpm", "queued", "audio-minutes", "streams", "lists"] {
        metrics::QUOTA_REFUSALS.add([quota], 0);
    }
    for result in akhar_webhooks::RESULTS {
        metrics::WEBHOOK_ATTEMPTS.add([result], 0);
    }
    for operation in Operation::ALL.map(Operation::name) {
        for mode in ["sync", "async"] {
            metrics::JOBS_SUBMITTED.add([operation, mode], 0);
        }
        for by in ["request", "disconnect"] {
            metrics::JOBS_CANCELLED.add([operation, by], 0);
        }
    }
    Ok(exporter)
}

/// What is measured when metrics are read.
pub(crate) struct Measured {
    app: App,
    /// When the queues were last counted, and how long that took. Locked while a count runs.
    last_count: Mutex<Option<(Instant, Duration)>>,
}

impl Measured {
    pub(crate) fn of(app: App) -> Self {
        Self { app, last_count: Mutex::default() }
    }

    /// Counts the queues, unless that was done shortly before or another request for the metrics does it.
    async fn count_queues(&self) {
        let Ok(mut last) = self.last_count.try_lock() else { return };
        let is_recent = |(began, took): (Instant, Duration)| {
            began.elapsed() < MIN_COUNT_INTERVAL.max(took * INTERVALS_PER_COUNTING_TIME)
        };
        if last.is_some_and(is_recent) {
            return;
        }
        let began = Instant::now();
        let db = &self.app.database.pool;
        let count = async {
            let jobs = queues::unended(db).await?;
            let controls = store::queue_controls(db, &QUEUES).await?;
            let workers = workers::list(db).await?;
            Ok((jobs, controls, workers, akhar_webhooks::store::due(db).await?))
        };
        let counted = timeout(COUNT_LIMIT, count).await;
        let took = began.elapsed();
        *last = Some((began, took));
        metrics::QUEUE_COUNT_SECONDS.set([], took.as_secs_f64());
        let counted = match counted {
            Ok(Ok(counted)) => Some(counted),
            Ok(Err::<_, sqlx::Error>(error)) => {
                tracing::debug!(%error, "cannot count the queues for the metrics");
                None
            }
            Err(_) => None,
        };
        metrics::QUEUE_COUNTED.set([], f64::from(u8::from(counted.is_some())));
        if let Some((jobs, controls, workers, webhooks)) = counted {
            export(&jobs);
            export_states(&controls, &workers);
            metrics::WEBHOOKS_DUE.set_count([], usize::try_from(webhooks.n).unwrap_or(0));
            metrics::WEBHOOKS_OLDEST_DUE.set([], webhooks.oldest_s);
        }
    }
}

fn export(counted: &[Unended]) {
    for operation in Operation::ALL {
        let queue = operation.queue().name();
        let operation = operation.name();
        let of = |state| counted.iter().find(|row| row.operation == operation && row.state == state);
        for state in [JobState::Queued, JobState::Running] {
            let n = of(state).map_or(0, |row| usize::try_from(row.n_jobs).unwrap_or(0));
            metrics::QUEUE_JOBS.set_count([queue, operation, state.name()], n);
        }
        let oldest_s = of(JobState::Queued).map_or(0.0, |row| row.oldest_s);
        metrics::QUEUE_OLDEST.set([queue, operation], oldest_s);
        let stalled_s = of(JobState::Running).map_or(0.0, |row| row.stalled_s);
        metrics::QUEUE_STALLED.set([queue, operation], stalled_s);
    }
}

fn export_states(controls: &[(Queue, QueueControl)], workers: &[Worker]) {
    for (queue, control) in controls {
        for mode in QueueMode::ALL {
            let is_mode = f64::from(u8::from(mode == control.mode));
            metrics::QUEUE_MODE.set([queue.name(), mode.name()], is_mode);
        }
    }
    for state in WorkerState::ALL {
        let n = workers.iter().filter(|worker| worker.state == state).count();
        metrics::WORKERS.set_count([state.name()], n);
    }
}

impl Measure for Measured {
    async fn measure(&self) {
        self.app.database.measure().await;
        metrics::WAITERS.set_count([], self.app.waiters.n_jobs());
        metrics::EVENT_STREAMS.set_count([], self.app.streams.n_open());
        metrics::UPLOAD_MEMORY.set_count([], self.app.n_body_bytes());
        self.count_queues().await;
    }
}
