//! What happens now: read once a second at most, for all pages that are open in this process.

use std::{sync::Arc, time::Duration};

use akhar_jobs::store::{AccountGroup, is_quiet, newest_open_groups};
use akhar_operators::{
    overview::{self, PanjabiTexts},
    queues::{self, QueueLoad, mode_text},
    workers::{self, ServedModel, Worker, WorkerState},
};
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use super::format::seconds_between;

/// How old what is shown may be.
const MAX_AGE: Duration = Duration::from_millis(900);

/// An overview that took long to read, such as one with a group of very many jobs, is shown for this multiple of the time.
const PAUSE_PER_TIME: u32 = 20;

/// How long reading may take before the database counts as unavailable.
const READ_LIMIT: Duration = Duration::from_secs(5);

/// The most pages that one process updates.
pub(super) const MAX_PAGES: usize = 100;

/// The wait of the oldest job after which the page points at a queue.
const LONG_WAIT_S: f64 = 60.0;

/// How old the count of transcriptions may be, which reads outcomes.
const MAX_AGE_OF_TEXTS: Duration = Duration::from_secs(600);

/// The most groups of jobs that the page shows.
const MAX_GROUPS: i64 = 20;

/// The fewest transcriptions that say something about the model.
const MIN_TEXTS: i64 = 10;

/// Queues and workers at one time.
#[derive(Debug)]
pub(super) struct Overview {
    /// The queues.
    pub(super) queues: Vec<QueueLoad>,
    /// The workers.
    pub(super) workers: Vec<Worker>,
    /// The models that they serve.
    pub(super) models: Vec<ServedModel>,
    /// The newest groups of jobs that have not ended.
    pub(super) groups: Vec<AccountGroup>,
    /// Whether the disk of Postgres is full.
    pub(super) is_storage_full: bool,
    /// Whether the database was restored and nobody has let it go on.
    pub(super) is_quiet: bool,
    /// How many jobs the database has, or about how many if they are more than are counted.
    pub(super) n_kept: i64,
    /// Transcriptions in Panjabi of the last day.
    pub(super) texts: PanjabiTexts,
    /// The time, by the clock of the database.
    pub(super) at: DateTime<Utc>,
}

/// What needs an operator's attention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Alert {
    /// The disk of Postgres is full.
    StorageFull,
    /// The database was restored and is quiet.
    Quiet,
    /// No worker claims jobs.
    NoWorker,
    /// The heartbeats of this worker have stopped.
    Silent(String),
    /// An operator has stopped this queue: its mode, with the end and the reason, and what that keeps from happening.
    Stopped { queue: String, text: String, effect: &'static str },
    /// The oldest job of this queue has waited for long.
    LongWait(String),
    /// Most transcriptions in Panjabi are probably wrong. Only the bundled model says so of its texts, so a larger one is not
    /// in use.
    PoorTexts,
}

impl Overview {
    async fn read(db: &Pool, texts: PanjabiTexts) -> Result<Self, sqlx::Error> {
        let queues = queues::loads(db).await?;
        let workers = workers::list(db).await?;
        let groups = newest_open_groups(db, MAX_GROUPS).await?;
        let kept = overview::kept(db).await?;
        let models = workers::served_models(&workers);
        let is_storage_full = db.is_full();
        let is_quiet = is_quiet(db).await?;
        Ok(Self {
            queues,
            workers,
            models,
            groups,
            is_storage_full,
            is_quiet,
            n_kept: kept.n_jobs,
            texts,
            at: kept.at,
        })
    }

    /// What needs attention, the worst first.
    pub(super) fn alerts(&self) -> Vec<Alert> {
        let mut alerts = Vec::new();
        if self.is_storage_full {
            alerts.push(Alert::StorageFull);
        }
        if self.is_quiet {
            alerts.push(Alert::Quiet);
        }
        if !self.workers.iter().any(|worker| worker.state == WorkerState::Works) {
            alerts.push(Alert::NoWorker);
        }
        let silent = self.workers.iter().filter(|worker| worker.state == WorkerState::Silent);
        alerts.extend(silent.map(|worker| Alert::Silent(worker.name.clone())));
        for queue in &self.queues {
            let name = queue.queue.clone();
            if let Some(effect) = queue.mode.effect() {
                let text = mode_text(queue.mode, queue.until, queue.why.as_deref());
                alerts.push(Alert::Stopped { queue: name.clone(), text, effect });
            }
            if queue.oldest_s.is_some_and(|oldest_s| oldest_s > LONG_WAIT_S) {
                alerts.push(Alert::LongWait(name));
            }
        }
        if self.texts.n >= MIN_TEXTS && 2 * self.texts.n_probably_wrong > self.texts.n {
            alerts.push(Alert::PoorTexts);
        }
        alerts
    }

    /// Seconds since the last heartbeat of a worker.
    pub(super) fn silence_s(&self, worker: &Worker) -> f64 {
        seconds_between(worker.seen_at, self.at).max(0.0)
    }
}

/// What was read last.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<LastRead>);

#[derive(Debug, Default)]
struct LastRead {
    /// When it was read, how long that took, and what was read.
    overview: Option<(Instant, Duration, Arc<Overview>)>,
    texts: Option<(Instant, PanjabiTexts)>,
}

impl Live {
    /// The overview of this second. Requests that come while it is read wait for the same one.
    pub(super) async fn overview(&self, db: &Pool) -> Result<Arc<Overview>, sqlx::Error> {
        let mut last = self.0.lock().await;
        if let Some((read_at, took, overview)) = &last.overview
            && read_at.elapsed() < MAX_AGE.max(*took * PAUSE_PER_TIME)
        {
            return Ok(overview.clone());
        }
        let known = last.texts.filter(|(read_at, _)| read_at.elapsed() < MAX_AGE_OF_TEXTS);
        let read = async {
            let texts = match known {
                Some(texts) => texts,
                None => (Instant::now(), overview::panjabi_texts(db).await?),
            };
            Ok((texts, Overview::read(db, texts.1).await?))
        };
        let began = Instant::now();
        let (texts, overview) = timeout(READ_LIMIT, read).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let overview = Arc::new(overview);
        *last = LastRead {
            overview: Some((Instant::now(), began.elapsed(), overview.clone())),
            texts: Some(texts),
        };
        Ok(overview)
    }

    /// What was read last is shown no more, because an operator has changed something.
    pub(super) async fn forget(&self) {
        self.0.lock().await.overview = None;
    }
}

#[cfg(test)]
mod tests {
    use akhar_jobs::store::QueueMode;
    use sqlx::types::Json;

    use super::*;

    fn worker(is_alive: bool, is_draining: bool, n_jobs: i64) -> Worker {
        let at = DateTime::UNIX_EPOCH;
        let state = match (is_alive, is_draining) {
            (false, _) => WorkerState::Silent,
            (true, true) => WorkerState::Draining,
            (true, false) => WorkerState::Works,
        };
        Worker {
            name: "w".to_owned(),
            state,
            started_at: at,
            seen_at: at,
            is_alive,
            is_draining,
            n_jobs,
            models: Json(Vec::new()),
            models_since: at,
            program: None,
        }
    }

    #[test]
    fn what_needs_attention_is_found() {
        let queue = |mode, oldest_s| QueueLoad {
            queue: "quick".to_owned(),
            mode,
            why: Some("the disk is replaced".to_owned()),
            until: Some(DateTime::UNIX_EPOCH),
            queued: 1,
            running: 0,
            oldest_s,
            ended_per_minute: 0.0,
            failed_per_minute: 0.0,
        };
        let overview = |queues, workers| Overview {
            queues,
            workers,
            models: Vec::new(),
            groups: Vec::new(),
            is_storage_full: false,
            is_quiet: false,
            n_kept: 0,
            texts: PanjabiTexts { n: 0, n_probably_wrong: 0 },
            at: DateTime::UNIX_EPOCH,
        };
        let alerts = |queues, workers| overview(queues, workers).alerts();
        let quick = || "quick".to_owned();
        assert_eq!(alerts(vec![queue(QueueMode::Open, Some(59.0))], vec![worker(true, false, 1)]), []);
        assert_eq!(
            alerts(
                vec![queue(QueueMode::Paused, Some(61.0))],
                vec![worker(true, true, 1), worker(false, false, 0)]
            ),
            [
                Alert::NoWorker,
                Alert::Silent("w".to_owned()),
                Alert::Stopped {
                    queue: quick(),
                    text: "paused until 1970-01-01 00:00:00 UTC (the disk is replaced)".to_owned(),
                    effect: "its jobs wait"
                },
                Alert::LongWait(quick())
            ]
        );
        let full = Overview {
            is_storage_full: true,
            is_quiet: true,
            ..overview(vec![], vec![worker(true, false, 1)])
        };
        assert_eq!(full.alerts(), [Alert::StorageFull, Alert::Quiet]);
        for (n, n_probably_wrong, expected) in [(10, 6, &[Alert::PoorTexts][..]), (10, 5, &[]), (9, 9, &[])] {
            let texts = PanjabiTexts { n, n_probably_wrong };
            let overview = Overview { texts, ..overview(vec![], vec![worker(true, false, 1)]) };
            assert_eq!(overview.alerts(), expected, "{texts:?}");
        }
    }
}
