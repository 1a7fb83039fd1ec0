//! Runs random statements in Postgres and in the model, and compares the rows after each.

use std::collections::BTreeMap;

use akhar_jobs::{
    Fence, FreePlaces, GroupName, JobId, NewJob,
    store::{self, Clock, Ending, Guard, Requeue, Submitted},
};
use akhar_operators::{Change, JobSearch, changes};
use akhar_platform::database::Pool;
use akhar_requests::{Outcome, QUICK};
use akhar_tests::{Cluster, ops::actor};
use proptest::{prelude::*, sample::select, test_runner::TestRunner};
use sqlx::Row as _;
use uuid::Uuid;

use super::{End, Jobs, Row, State, Statement, is_deep};
use crate::queue::{insert, new_job};

const N_JOBS: usize = 4;
const N_WORKERS: usize = 3;

/// A statement whose claim is that of a job at present, or an old one.
#[derive(Debug, Clone, Copy)]
enum Command {
    Statement(Statement),
    /// Claims the first job.
    Claim {
        worker: usize,
        with_suspect: bool,
    },
    /// Ends the current claim of a job.
    End {
        job: usize,
        end: End,
    },
    Requeue {
        job: usize,
        is_spent: bool,
        is_death: bool,
    },
}

fn command() -> impl Strategy<Value = Command> {
    let job = 0..N_JOBS;
    let end = select(vec![End::Answered, End::Rejected, End::Dead]);
    let submit = (job.clone(), any::<bool>())
        .prop_map(|(job, is_asynchronous)| Statement::Submit { job, is_asynchronous });
    let late =
        (job.clone(), 0..4, end.clone()).prop_map(|(job, attempt, end)| Statement::End { job, attempt, end });
    let cancel = (job.clone(), any::<bool>()).prop_map(|(job, may_run)| Statement::Cancel { job, may_run });
    prop_oneof![
        4 => submit.prop_map(Command::Statement),
        1 => job.clone().prop_map(|job| Command::Statement(Statement::Acknowledge { job })),
        6 => (0..N_WORKERS, any::<bool>())
            .prop_map(|(worker, with_suspect)| Command::Claim { worker, with_suspect }),
        3 => (job.clone(), end).prop_map(|(job, end)| Command::End { job, end }),
        1 => late.prop_map(Command::Statement),
        1 => cancel.prop_map(Command::Statement),
        4 => (job.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(job, is_spent, is_death)| Command::Requeue { job, is_spent, is_death }),
        1 => job.clone().prop_map(|job| Command::Statement(Statement::Retry { job })),
        1 => job.clone().prop_map(|job| Command::Statement(Statement::Purge { job })),
        1 => job.clone().prop_map(|job| Command::Statement(Statement::Delete { job })),
        1 => job.prop_map(|job| Command::Statement(Statement::Expire { job })),
    ]
}

/// The model, and the same jobs in Postgres.
struct Both {
    db: Pool,
    model: Jobs<N_JOBS>,
    jobs: [NewJob; N_JOBS],
}

impl Both {
    /// Runs a command in both. Panics if they differ.
    async fn run(&mut self, command: Command) {
        let statement = match command {
            Command::Claim { worker, with_suspect } => return self.claim(worker, with_suspect).await,
            Command::Statement(statement) => statement,
            Command::End { job, end } => Statement::End { job, attempt: self.attempt(job), end },
            Command::Requeue { job, is_spent, is_death } => {
                // A worker fails a job that has no attempt left.
                let is_last = self.model[job].is_some_and(|row| row.attempt >= row.max_attempts);
                let is_spent = is_spent && !is_last;
                Statement::Requeue { job, attempt: self.attempt(job), is_spent, is_death }
            }
        };
        let is_changed = statement.change(&mut self.model[statement.job()]);
        assert_eq!(self.execute(statement).await, is_changed, "{statement:?}");
        self.compare(statement).await;
    }

    fn attempt(&self, job: usize) -> i32 {
        self.model[job].map_or(0, |row| row.attempt)
    }

    /// Claims a job: one that a caller waits for, if one is due. Suspects are skipped unless one may be claimed.
    async fn claim(&mut self, worker: usize, with_suspect: bool) {
        let due = |is_asynchronous: bool| -> Vec<usize> {
            let is_due = |row: &Row| {
                let may_be_claimed = row.can_be_claimed() && (with_suspect || !row.is_suspect());
                may_be_claimed && row.is_asynchronous == is_asynchronous
            };
            (0..N_JOBS).filter(|job| self.model[*job].as_ref().is_some_and(is_due)).collect()
        };
        let first = [due(false), due(true)].into_iter().find(|jobs| !jobs.is_empty()).unwrap_or_default();
        let free = FreePlaces { with_suspect, ..FreePlaces::any(QUICK, 1) };
        let claimed = store::claim(&self.db, &worker.to_string(), &[free]).await.expect("a claim");
        let of_claim = |job: &usize| claimed.iter().any(|claimed| claimed.fence.job == self.jobs[*job].id);
        let job = first.iter().copied().find(of_claim);
        assert_eq!(claimed.len(), first.len().min(1), "{first:?} are due");
        let Some(job) = job else {
            assert_eq!(claimed.len(), 0, "none of {first:?} was claimed");
            return;
        };
        let statement = Statement::Claim { job, worker };
        assert!(statement.change(&mut self.model[job]));
        assert_eq!(claimed[0].fence, self.fence(job, self.attempt(job)));
        self.compare(statement).await;
    }

    fn fence(&self, job: usize, attempt: i32) -> Fence {
        Fence { job: self.jobs[job].id, attempt }
    }

    /// Executes the statement in Postgres. Returns whether it changed the job.
    async fn execute(&self, statement: Statement) -> bool {
        let db = &self.db;
        let NewJob { id, account_id, .. } = self.jobs[statement.job()];
        match statement {
            Statement::Submit { job, is_asynchronous } => {
                let job = NewJob { asynchronous: is_asynchronous, ..self.jobs[job].clone() };
                insert(db, &[&job]).await == [Submitted::Accepted]
            }
            Statement::Acknowledge { .. } => store::acknowledge(db, id).await.expect("a write"),
            Statement::Claim { .. } => unreachable!("a claim chooses the job"),
            Statement::End { job, attempt, end } => {
                let ending = Ending {
                    guard: Guard::Claimed(self.fence(job, attempt)),
                    end: ending(end),
                    timing: None,
                    error: None,
                    may_have_webhook: false,
                };
                akhar_tests::queue::end(db, &[ending]).await.expect("a write").any()
            }
            Statement::Cancel { may_run, .. } => {
                let guard = if may_run {
                    Guard::Unended { job: id, account_id }
                } else {
                    Guard::Queued { job: id, account_id }
                };
                store::cancel(db, guard).await.expect("a write").any()
            }
            Statement::Requeue { job, attempt, is_spent, is_death } => {
                let fence = self.fence(job, attempt);
                let delay = std::time::Duration::ZERO;
                let requeue = Requeue { fence, is_spent, is_death, delay, error: "a test".to_owned() };
                store::requeue(db, &[requeue]).await.expect("a write") == [true]
            }
            Statement::Retry { .. } => self.change(Change::Retry, id).await,
            Statement::Purge { .. } => self.change(Change::Purge, id).await,
            Statement::Delete { .. } => store::delete(db, id, account_id).await.expect("a write").is_some(),
            Statement::Expire { .. } => self.expire(id).await,
        }
    }

    /// Deletes what ended more than an hour ago, after two hours for this job.
    async fn expire(&self, job: JobId) -> bool {
        let later = "update jobs set ended_at = ended_at - interval '2 hours' where id = $1 returning now()";
        let now = sqlx::query_scalar(later).bind(job.0).fetch_optional(&self.db).await.expect("a write");
        let clock = Clock { now: now.unwrap_or_default(), jumps: Vec::new() };
        let hour = std::time::Duration::from_secs(60 * 60);
        store::expire(&self.db, &clock, hour, hour).await.expect("a write") == 1
    }

    async fn change(&self, change: Change, job: JobId) -> bool {
        let search = JobSearch { ids: Some(vec![job]), ..JobSearch::default() };
        changes::apply(&self.db, &actor(), change, &search, 1).await.expect("a write") == 1
    }

    /// Panics unless the rows in Postgres are those of the model.
    async fn compare(&self, statement: Statement) {
        let ids: Vec<Uuid> = self.jobs.iter().map(|job| job.id.0).collect();
        let rows = sqlx::query(
            "select state, outcome->>'kind' as kind, priority = 0 as is_asynchronous, acknowledged, attempt, max_attempts,
                 worker, upload is not null as has_upload, deaths, array_position($1, id) as nth
             from jobs where id = any($1)",
        );
        let mut found: Jobs<N_JOBS> = [None; N_JOBS];
        for row in rows.bind(ids).fetch_all(&self.db).await.expect("rows") {
            let nth: i32 = row.get("nth");
            found[usize::try_from(nth - 1).expect("a position")] = Some(Row {
                state: state(row.get("state"), row.get("kind")),
                is_asynchronous: row.get("is_asynchronous"),
                is_acknowledged: row.get("acknowledged"),
                attempt: row.get("attempt"),
                max_attempts: row.get("max_attempts"),
                worker: row.get::<Option<&str>, _>("worker").map(|name| name.parse().expect("a number")),
                has_upload: row.get("has_upload"),
                deaths: row.get::<i16, _>("deaths").into(),
            });
        }
        assert_eq!(found, self.model, "after {statement:?}");
        self.compare_groups(statement).await;
    }

    /// Panics unless the counts of the groups are those of the model's rows.
    async fn compare_groups(&self, statement: Statement) {
        let groups = store::list_groups(&self.db, self.jobs[0].account_id, None, 10).await.expect("rows");
        let counted = groups.into_iter().map(|group| {
            let counts =
                [group.n_queued, group.n_running, group.n_succeeded, group.n_failed, group.n_cancelled];
            (group.name.as_str().to_owned(), counts)
        });
        let mut expected: BTreeMap<String, [i64; 5]> = BTreeMap::new();
        for (job, row) in self.model.iter().enumerate() {
            if let (Some(group), Some(row)) = (group(job), row) {
                expected.entry(group.into()).or_default()[count_of(row.state)] += 1;
            }
        }
        assert_eq!(counted.collect::<BTreeMap<_, _>>(), expected, "after {statement:?}");
    }
}

/// The group of a job. One job has none.
fn group(job: usize) -> Option<GroupName> {
    GroupName::parse(["a", "b", "", "a"][job])
}

/// Which count of a group has the jobs in this state.
const fn count_of(state: State) -> usize {
    match state {
        State::Queued => 0,
        State::Running => 1,
        State::Ended(End::Answered) => 2,
        State::Ended(End::Rejected | End::Dead) => 3,
        State::Ended(End::Cancelled) => 4,
    }
}

fn ending(end: End) -> akhar_jobs::End {
    match end {
        End::Answered => akhar_tests::queue::answer(),
        End::Rejected => Outcome::rejected("file", "undecodable", "a test").try_into().expect("JSON"),
        End::Dead => akhar_jobs::End::Failed,
        End::Cancelled => akhar_jobs::End::Cancelled,
    }
}

fn state(name: &str, kind: Option<&str>) -> State {
    match (name, kind) {
        ("queued", None) => State::Queued,
        ("running", None) => State::Running,
        ("succeeded", Some("predictions")) => State::Ended(End::Answered),
        ("failed", Some("rejected")) => State::Ended(End::Rejected),
        ("failed", Some("failed")) => State::Ended(End::Dead),
        ("cancelled", None) => State::Ended(End::Cancelled),
        other => panic!("no state of the model: {other:?}"),
    }
}

#[test]
fn the_statements_do_what_the_model_says() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let db = runtime.block_on(async { Pool::new(Cluster::shared().database().await.into(), 10) });
    let workers = "insert into workers (name) select n::text from generate_series(0, $1) as n";
    let registered = sqlx::query(workers).bind(i64::try_from(N_WORKERS).expect("few") - 1).execute(&db);
    runtime.block_on(registered).expect("a write");
    let n_commands = std::cell::Cell::new(0);
    let cases = if is_deep() { 2_600 } else { 64 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let sequences = prop::collection::vec(command(), 20..60);
    let checked = runner.run(&sequences, |commands| {
        n_commands.set(n_commands.get() + commands.len());
        runtime.block_on(async {
            let all = "truncate jobs, job_groups, artifacts, segments, failed_attempts cascade";
            sqlx::query(all).execute(&db).await.expect("a write");
            let account_id = Uuid::now_v7();
            let jobs = std::array::from_fn(|job| NewJob { account_id, group: group(job), ..new_job(false) });
            let mut both = Both { db: db.clone(), model: [None; N_JOBS], jobs };
            for command in commands {
                both.run(command).await;
            }
        });
        Ok(())
    });
    println!("{} statements", n_commands.get());
    checked.expect("Postgres and the model agree");
}
