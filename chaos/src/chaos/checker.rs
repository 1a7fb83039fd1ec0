//! Compares what clients saw with the database and with the run without faults.

use std::{collections::HashMap, time::Duration};

use akhar_tests::{
    ends::n_of,
    figures::{Row, count},
    hang_ups::at_rest,
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{
    cases::{Cases, Judge},
    service::Service,
    traffic::{Observed, Record},
};

/// The time after the load in which every job must end and every caller must have its answer.
pub(super) const TO_END: Duration = Duration::from_secs(180);

/// The time in which objects without a job must be found and deleted: two listings, a minute apart.
const TO_SWEEP: Duration = Duration::from_secs(200);

/// The problem of a job that failed for good. That is right only if so many workers died with it, or were silent for so long that
/// they counted as dead.
const JOB_FAILED: &str = "job-failed";

/// The deaths of its workers of which a job dies: two that spend no attempt, and three that do.
const DEADLY: usize = 5;

/// Statuses that a client may get instead of a result: the service cannot take the request now.
const MAY_REFUSE: [u16; 4] = [408, 429, 503, 507];

/// What the checker found.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Accepted requests whose job is gone, cancelled or not succeeded.
    lost: usize,
    /// Jobs that ended more than once, and requests that became several jobs.
    twice: usize,
    /// Answers that differ from those of the run without faults, and unexpected problems.
    wrong: usize,
    /// Requests without an answer, jobs that do not end, and a transaction that does not.
    stuck: usize,
    /// Ended jobs that still have their upload.
    uploads_left: usize,
    /// Objects that are left in the bucket.
    objects_left: usize,
    /// Jobs that failed although some of their workers were not dead.
    gave_up: usize,
    /// Jobs that failed because the worker was dead in each of their attempts.
    dead_each_time: usize,
    /// Jobs whose upload was in the bucket.
    outside: usize,
    /// Right answers, all of which were compared.
    right: usize,
    /// Jobs that their callers cancelled, and that stayed cancelled.
    cancelled: usize,
    /// Jobs that their callers deleted, and that stayed deleted.
    deleted: usize,
    /// Handwriting whose job a crash of Postgres lost after its caller had the answer: its id is not known.
    not_compared: usize,
    /// Descriptions of the failures.
    pub(super) examples: Vec<String>,
}

/// A row of the jobs table.
#[derive(Debug, sqlx::FromRow)]
struct JobRow {
    id: Uuid,
    request_id: String,
    state: String,
    #[expect(dead_code, reason = "shown by Debug")]
    attempt: i32,
    #[expect(dead_code, reason = "shown by Debug")]
    last_error: Option<String>,
    /// The workers of its failed attempts.
    failed_workers: Vec<String>,
}

impl JobRow {
    /// Whether all its attempts failed because these processes were dead.
    fn failed_by_deaths(&self, dead: &[i32]) -> bool {
        let is_of_dead = |name: &String| dead.iter().any(|process| name.contains(&format!("-{process}-")));
        self.failed_workers.len() >= DEADLY && self.failed_workers.iter().all(is_of_dead)
    }
}

impl Verdict {
    /// How often each thing happened that must not.
    pub(super) fn failures(&self) -> Row {
        let Self { lost, twice, wrong, stuck, uploads_left, objects_left, gave_up, .. } = *self;
        [
            ("lost", lost),
            ("twice", twice),
            ("wrong", wrong),
            ("stuck", stuck),
            ("uploads_left", uploads_left),
            ("objects_left", objects_left),
            ("gave_up", gave_up),
        ]
        .map(|(name, n)| (name, count(n)))
        .into()
    }

    /// All numbers.
    pub(super) fn row(&self) -> Row {
        let others = [
            ("right", self.right),
            ("cancelled", self.cancelled),
            ("deleted", self.deleted),
            ("not_compared", self.not_compared),
            ("outside", self.outside),
            ("dead_each_time", self.dead_each_time),
        ];
        self.failures().into_iter().chain(others.map(|(name, n)| (name, count(n)))).collect()
    }
}

/// Waits for the end of all jobs, and checks everything.
pub(super) async fn check(service: &Service, cases: &Cases, records: &[Record], dead: &[i32]) -> Verdict {
    let mut verdict = Verdict::default();
    check_jobs(service, &mut verdict).await;
    check_bucket(service, &mut verdict).await;
    let rows: Vec<JobRow> = jobs_where(service, "request_id like 'chaos-%'").await;
    let mut jobs: HashMap<&str, &JobRow> = HashMap::new();
    for row in &rows {
        if jobs.insert(&row.request_id, row).is_some() {
            verdict.twice += 1;
            verdict.examples.push(format!("{} became several jobs", row.request_id));
        }
    }
    let mut judge = Judge::load();
    for record in records {
        let job = jobs.get(record.plan.request_id.as_str()).copied();
        check_record(&mut verdict, &mut judge, cases, dead, record, job);
    }
    verdict
}

async fn jobs_where(service: &Service, condition: &str) -> Vec<JobRow> {
    let statement = format!(
        "select id, request_id, state, attempt, last_error, array(
             select coalesce(worker, '') from failed_attempts f where f.job_id = jobs.id) as failed_workers
         from jobs where {condition}"
    );
    let rows = sqlx::query_as(sqlx::AssertSqlSafe(statement)).fetch_all(&service.stack.db);
    rows.await.expect("the jobs")
}

/// Checks the jobs table: every job has ended, once, and without its upload.
async fn check_jobs(service: &Service, verdict: &mut Verdict) {
    let deadline = Instant::now() + TO_END;
    let left: Vec<JobRow> = loop {
        let left = jobs_where(service, "state in ('queued', 'running')").await;
        if left.is_empty() || Instant::now() >= deadline {
            break left;
        }
        sleep(Duration::from_millis(200)).await;
    };
    verdict.stuck += left.len();
    verdict.examples.extend(left.iter().map(|row| format!("does not end: {row:?}")));
    if let Err(statements) = at_rest(&service.stack.db).await {
        verdict.stuck += 1;
        verdict.examples.push(format!("does not end: {statements}"));
    }
    let twice = "select job_id from ends group by job_id having count(*) > 1";
    let twice: Vec<Uuid> = sqlx::query_scalar(twice).fetch_all(&service.stack.db).await.expect("the ends");
    verdict.twice += twice.len();
    verdict.examples.extend(twice.iter().map(|job| format!("ended twice: {job}")));
    let uploads = "select id from jobs where state not in ('queued', 'running') and upload is not null
        and outcome->>'kind' <> 'failed'";
    let uploads: Vec<Uuid> =
        sqlx::query_scalar(uploads).fetch_all(&service.stack.db).await.expect("the jobs");
    verdict.uploads_left += uploads.len();
    verdict.examples.extend(uploads.iter().map(|job| format!("still has its upload: {job}")));
}

/// Waits until the bucket is empty: what a process that was killed has left there is found within minutes.
async fn check_bucket(service: &Service, verdict: &mut Verdict) {
    let Some(bucket) = &service.bucket else { return };
    verdict.outside = n_of(&service.stack.db, "jobs where upload_url is not null").await;
    let started = Instant::now();
    let mut left = bucket.server.objects().await;
    println!("  {} objects are in the bucket when all jobs have ended", left.len());
    while !left.is_empty() && started.elapsed() < TO_SWEEP {
        sleep(Duration::from_millis(500)).await;
        left = bucket.server.objects().await;
    }
    println!("  {} objects are left after {} s", left.len(), started.elapsed().as_secs());
    verdict.objects_left = left.len();
    verdict.examples.extend(left.iter().map(|name| format!("left in the bucket: {name}")));
}

fn check_record(
    verdict: &mut Verdict,
    judge: &mut Judge,
    cases: &Cases,
    dead: &[i32],
    record: &Record,
    row: Option<&JobRow>,
) {
    let mut example = |what: &str| {
        verdict.examples.push(format!("{what}: {record:?}, its job {row:?}"));
    };
    match &record.observed {
        Observed::Answered { content, after_202 } => {
            let succeeded = row.is_some_and(|row| row.state == "succeeded");
            if *after_202 && !succeeded {
                verdict.lost += 1;
                example("lost after a 202");
                return;
            }
            match judge.is_right(&cases.0[record.plan.case], content, row.map(|row| row.id)) {
                Some(true) => verdict.right += 1,
                Some(false) => {
                    verdict.wrong += 1;
                    example("wrong");
                }
                None => verdict.not_compared += 1,
            }
        }
        Observed::Refused { slug, .. } if slug == JOB_FAILED => {
            if row.is_some_and(|row| row.failed_by_deaths(dead)) {
                verdict.dead_each_time += 1;
            } else {
                verdict.gave_up += 1;
                example("gave up");
            }
        }
        Observed::Refused { status, .. } if MAY_REFUSE.contains(status) => (),
        Observed::Refused { .. } => {
            verdict.wrong += 1;
            example("refused");
        }
        Observed::Cancelled => {
            if row.is_some_and(|row| row.state == "cancelled") {
                verdict.cancelled += 1;
            } else {
                verdict.lost += 1;
                example("cancelled, and not any more");
            }
        }
        Observed::Deleted => {
            if row.is_none() {
                verdict.deleted += 1;
            } else {
                verdict.lost += 1;
                example("deleted, and there again");
            }
        }
        Observed::Lost(_) => {
            verdict.lost += 1;
            example("lost");
        }
        Observed::Stuck(_) => {
            verdict.stuck += 1;
            example("stuck");
        }
        Observed::Cut | Observed::HungUp => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_may_fail_only_if_the_worker_of_each_attempt_was_dead() {
        let row = |workers: &[&str]| JobRow {
            id: Uuid::nil(),
            request_id: "chaos-1".to_owned(),
            state: "failed".to_owned(),
            attempt: 5,
            last_error: None,
            failed_workers: workers.iter().map(|&name| name.to_owned()).collect(),
        };
        let dead = [11, 12];
        let deaths = ["vm-11-a", "vm-12-b", "vm-11-a", "vm-11-a", "vm-12-b"];
        assert!(row(&deaths).failed_by_deaths(&dead));
        assert!(!row(&deaths[1..]).failed_by_deaths(&dead));
        assert!(!row(&[&deaths[1..], &["vm-13-b"]].concat()).failed_by_deaths(&dead));
    }
}
