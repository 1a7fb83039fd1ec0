//! No account's job waits longer than its equal share of the places allows, whoever else submits what, through which
//! process, and whatever happened before: checked with generated histories of a queue.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use akhar_jobs::{
    FreePlaces, JobId, NewJob,
    backend::{Admission, Submissions},
    store::{self, Ending, Guard},
};
use akhar_platform::database::Database;
use akhar_platform::database::Pool;
use akhar_requests::{QUEUES, QUICK};
use akhar_tests::Cluster;
use futures::future::join_all;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use uuid::Uuid;

use crate::queue::new_job;

const N_ACCOUNTS: usize = 5;
const N_PROCESSES: usize = 2;

/// What happens to a queue.
#[derive(Debug, Clone)]
enum Command {
    /// Accounts submit this many jobs at the same time, each through one of the processes.
    Submit(Vec<(usize, usize, usize)>),
    /// A worker with one free place claims this often.
    Claim(usize),
    /// An account cancels all its waiting jobs.
    Cancel(usize),
}

fn command() -> impl Strategy<Value = Command> {
    let n_jobs = prop_oneof![5 => 1_usize..3, 1 => 10_usize..20];
    let submission = (0..N_ACCOUNTS, n_jobs, 0..N_PROCESSES);
    prop_oneof![
        4 => vec(submission, 1..4).prop_map(Command::Submit),
        4 => (1_usize..12).prop_map(Command::Claim),
        1 => (0..N_ACCOUNTS).prop_map(Command::Cancel),
    ]
}

/// A queue with the processes that submit to it.
struct Harness {
    db: Pool,
    processes: [Submissions; N_PROCESSES],
    accounts: [Uuid; N_ACCOUNTS],
    /// The waiting jobs, each with the number of jobs of each account that were claimed since it was submitted.
    waiting: HashMap<JobId, (usize, [usize; N_ACCOUNTS])>,
}

impl Harness {
    async fn new() -> Self {
        let options = Cluster::shared().database().await;
        let db = Database::connect("akhar-test", options.clone().into(), 8).await.expect("it answers").pool;
        let start = || Submissions::start(&db, &Admission::new(i64::MAX, &QUEUES));
        let processes = [start(), start()];
        Self { db, processes, accounts: std::array::from_fn(|_| Uuid::now_v7()), waiting: HashMap::new() }
    }

    /// Runs a command. Returns whom a claim was unfair to.
    async fn run(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::Submit(submissions) => self.submit(submissions).await,
            Command::Claim(n) => {
                for _ in 0..*n {
                    self.claim().await?;
                }
            }
            Command::Cancel(account) => self.cancel(*account).await,
        }
        Ok(())
    }

    async fn submit(&mut self, submissions: &[(usize, usize, usize)]) {
        let mut submitted = Vec::new();
        for (account, n, process) in submissions {
            for _ in 0..*n {
                let job = NewJob { account_id: self.accounts[*account], upload: None, ..new_job(false) };
                self.waiting.insert(job.id, (*account, [0; N_ACCOUNTS]));
                submitted.push(self.processes[*process].submit(Arc::new(job)));
            }
        }
        for result in join_all(submitted).await {
            result.expect("it is accepted");
        }
    }

    /// While a job waited, no other account may have got more than one job more than the account of the job.
    async fn claim(&mut self) -> Result<bool, String> {
        let claimed = store::claim(&self.db, "a", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
        let Some(claimed) = claimed.first() else {
            return if self.waiting.is_empty() { Ok(false) } else { Err("nothing is claimed".to_owned()) };
        };
        let (account, mut n_claimed) = self.waiting.remove(&claimed.fence.job).expect("it waits");
        n_claimed[account] += 1;
        for (_, since) in self.waiting.values_mut() {
            since[account] += 1;
        }
        if n_claimed.iter().any(|of_other| *of_other > n_claimed[account] + 1) {
            return Err(format!(
                "{n_claimed:?} jobs of the accounts were claimed while one of {account} waited"
            ));
        }
        Ok(true)
    }

    async fn cancel(&mut self, account: usize) {
        let account_id = self.accounts[account];
        let jobs = self.waiting.extract_if(|_, (of, _)| *of == account);
        let cancelled = |(job, _)| Ending::cancelled(Guard::Unended { job, account_id });
        let endings: Vec<_> = jobs.map(cancelled).collect();
        for endings in endings.chunks(store::MAX_ENDINGS) {
            akhar_tests::queue::end(&self.db, endings).await.expect("a write");
        }
    }

    async fn drain(&mut self) -> Result<(), String> {
        while self.claim().await? {}
        Ok(())
    }
}

#[test]
fn no_account_gets_more_than_its_share_while_a_job_of_another_waits() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let n_commands = AtomicUsize::new(0);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    // The queue lives on from one history to the next, with its accounts.
    let harness = tokio::sync::Mutex::new(runtime.block_on(Harness::new()));
    let checked = runner.run(&vec(command(), 10..40), |commands| {
        runtime.block_on(async {
            let mut harness = harness.lock().await;
            for command in &commands {
                harness.run(command).await.map_err(TestCaseError::fail)?;
                n_commands.fetch_add(1, Ordering::Relaxed);
            }
            harness.drain().await.map_err(TestCaseError::fail)
        })
    });
    println!("{} commands", n_commands.into_inner());
    checked.unwrap_or_else(|error| panic!("{error}"));
}
