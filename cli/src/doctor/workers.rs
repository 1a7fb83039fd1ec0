//! Whether workers claim jobs, and whether they die after each start.

use akhar_operators::workers::{Worker, WorkerState};
use chrono::{TimeDelta, Utc};

use super::check::Check;

/// So many dead workers that were started lately are one that is started again and again.
const LOOP: usize = 3;
/// What "lately" means: the sweepers forget a dead worker sooner.
const LATELY: TimeDelta = TimeDelta::minutes(10);

/// What the workers do.
pub(super) fn check(all: &[Worker]) -> Check {
    let names = |state| -> Vec<&str> {
        all.iter().filter(|worker| worker.state == state).map(|worker| worker.name.as_str()).collect()
    };
    let n_working = names(WorkerState::Works).len();
    let drained = [names(WorkerState::Draining), names(WorkerState::Drained)].concat();
    let silent: Vec<&Worker> = all.iter().filter(|worker| worker.state == WorkerState::Silent).collect();
    let mut found = vec![format!("{n_working} of {} claim jobs", all.len())];
    let mut fixes = Vec::new();
    if !drained.is_empty() {
        found.push(format!("drained by an operator: {}", drained.join(", ")));
        fixes.extend(drained.iter().map(|name| format!("run `akhar workers resume {name}`")));
    }
    if !silent.is_empty() {
        let names: Vec<&str> = silent.iter().map(|worker| worker.name.as_str()).collect();
        found.push(format!("without heartbeats: {}", names.join(", ")));
        let n_late = silent.iter().filter(|worker| worker.started_at > Utc::now() - LATELY).count();
        fixes.push(if n_late < LOOP {
            "the log of a worker without heartbeats says why; start it again, or wait until it is forgotten".to_owned()
        } else {
            found.push(format!("{n_late} of these were started in the last ten minutes and died"));
            "a worker is started again and again: its log and `dmesg` say what ends it, such as too little memory".to_owned()
        });
    }
    if n_working == 0 && drained.is_empty() {
        fixes.insert(0, "start `akhar serve` or `akhar worker`: jobs wait".to_owned());
    }
    let found = found.join("; ");
    if fixes.is_empty() {
        Check::ok("workers", found)
    } else {
        Check::warning("workers", found, fixes.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use akhar_operators::workers::WorkerState;
    use sqlx::types::Json;

    use super::*;

    #[test]
    fn workers_that_die_after_each_start_are_named() {
        let worker = |state, minutes| Worker {
            name: format!("worker-{minutes}"),
            state,
            started_at: Utc::now() - TimeDelta::minutes(minutes),
            seen_at: Utc::now(),
            is_alive: state == WorkerState::Works,
            is_draining: false,
            n_jobs: 0,
            models: Json(Vec::new()),
            models_since: Utc::now(),
            program: None,
        };
        let mut all = vec![worker(WorkerState::Works, 1)];
        all.extend([2, 3, 60].map(|minutes| worker(WorkerState::Silent, minutes)));
        let fix = |all: &[Worker]| check(all).fix.unwrap_or_default();
        assert!(fix(&all).starts_with("the log of a worker"), "two died lately");
        all.push(worker(WorkerState::Silent, 4));
        assert!(fix(&all).starts_with("a worker is started again and again"));
    }
}
