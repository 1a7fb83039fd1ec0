//! Whether jobs wait for longer than they should, and whether workers are idle meanwhile.

use std::time::Duration;

use akhar_operators::{
    queues::{self, Due},
    workers::{Worker, WorkerState},
};
use akhar_platform::{config::Config, database::Pool};
use akhar_requests::QUICK;

use super::check::Check;
use crate::output::age;

/// A job of the quick queue, and one of another, waits too long after these times. The alerts have the second one.
const QUICK_LIMIT: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(600);

/// Compares what waits with what the workers do.
pub(super) async fn check(db: &Pool, config: &Config, workers: &[Worker]) -> Result<Check, sqlx::Error> {
    Ok(of(&queues::due(db).await?, workers, config.max_waiting))
}

fn of(due: &[Due], workers: &[Worker], max_waiting: i64) -> Check {
    let is_late = |queue: &Due| {
        let limit = if queue.queue == QUICK.name() { QUICK_LIMIT } else { LIMIT };
        queue.oldest_s > limit.as_secs_f64()
    };
    let n_waiting: i64 = due.iter().map(|queue| queue.n_jobs).sum();
    if !due.iter().any(|queue| is_late(queue) || queue.n_jobs >= max_waiting) {
        return Check::ok("waiting", format!("{n_waiting} jobs"));
    }
    let of_queue = |queue: &Due| {
        format!("{} jobs of {}, the oldest for {}", queue.n_jobs, queue.queue, age(queue.oldest_s))
    };
    let mut found: Vec<String> = due.iter().map(of_queue).collect();
    let claim: Vec<&Worker> = workers.iter().filter(|worker| worker.state == WorkerState::Works).collect();
    let idle: Vec<&str> =
        claim.iter().filter(|worker| worker.n_jobs == 0).map(|worker| worker.name.as_str()).collect();
    let fix = if claim.is_empty() {
        "no worker claims them: see `workers`".to_owned()
    } else if due.iter().any(is_late) && !idle.is_empty() {
        found.push(format!("workers without a job: {}", idle.join(", ")));
        "the logs of these workers say why they claim nothing; start them again, unless the queue is paused"
            .to_owned()
    } else {
        "add workers; `akhar jobs count --state queued` shows whose jobs wait".to_owned()
    };
    Check::warning("waiting", found.join("; "), fix)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use sqlx::types::Json;

    use super::*;
    use crate::doctor::check::Status;

    fn due(queue: &str, n_jobs: i64, oldest_s: f64) -> Due {
        Due { queue: queue.to_owned(), n_jobs, oldest_s }
    }

    fn worker(name: &str, n_jobs: i64) -> Worker {
        Worker {
            name: name.to_owned(),
            state: WorkerState::Works,
            started_at: DateTime::UNIX_EPOCH,
            seen_at: DateTime::UNIX_EPOCH,
            is_alive: true,
            is_draining: false,
            n_jobs,
            models: Json(Vec::new()),
            models_since: DateTime::UNIX_EPOCH,
            program: None,
        }
    }

    #[test]
    fn long_queues_and_idle_workers_are_named() {
        let [busy, idle] = [worker("busy", 9), worker("idle", 0)];
        let short = [due("quick", 5, 3.0), due("speech", 9, 500.0)];
        assert_eq!(of(&short, std::slice::from_ref(&idle), 1000).status, Status::Ok);
        for (due, workers, named, fix) in [
            (due("quick", 200_000, 3.0), vec![busy.clone()], "200000 jobs of quick", "add workers"),
            (due("quick", 200_000, 3.0), vec![], "200000 jobs of quick", "no worker claims them"),
            (
                due("quick", 7, 3600.0),
                vec![busy.clone(), idle.clone()],
                "without a job: idle",
                "logs of these workers",
            ),
            (due("speech", 7, 3600.0), vec![busy], "the oldest for 1 h", "add workers"),
        ] {
            let check = of(&[due], &workers, 1000);
            assert!(check.status == Status::Warning && check.found.contains(named), "{check:?}");
            assert!(check.fix.as_ref().is_some_and(|text| text.contains(fix)), "{check:?}");
        }
    }
}
