//! The followers of a large group: what they cost while nothing happens, and while its jobs end.

use std::{slice::from_ref, time::Duration};

use akhar_jobs::{
    FreePlaces, GroupName, NewJob,
    store::{self, Ending, Guard},
};
use akhar_platform::database::Pool;
use akhar_requests::QUICK;
use akhar_tests::{
    Cluster, Stack,
    queue::{end, submit},
};
use reqwest::{Response, StatusCode};
use tokio::{
    task::JoinSet,
    time::{interval, sleep},
};
use uuid::Uuid;

use crate::{cpu, report::Report, targets};

/// Jobs that one statement submits.
const AT_A_TIME: usize = 10_000;

/// The time between two ends of jobs.
const END_INTERVAL: Duration = Duration::from_secs(1);

/// The time in which processes may settle.
const SETTLE: Duration = Duration::from_secs(5);

/// A group, how many follow it, and for how long each state is measured.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Followed {
    /// Jobs of the group that is followed
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) jobs: usize,
    /// Followers of this group
    #[arg(long, default_value_t = 200)]
    pub(crate) followers: u16,
    /// Seconds in which nothing happens, and again in which jobs end slowly: whole minutes, because each process does some of its
    /// work once a minute
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,
}

/// A service whose jobs wait.
struct Waiting<'a> {
    cluster: &'a Cluster,
    stack: Stack,
    what: String,
    seconds: u64,
}

/// Measures a group of waiting jobs without and with followers.
pub(super) async fn measure(report: &mut Report, followed: Followed) {
    let Followed { jobs: n_jobs, followers: n_followers, seconds } = followed;
    let cluster = &Cluster::own();
    let stack =
        Stack::with().on(cluster).set("AKHAR_MAX_REQUESTS", 10 * u64::from(n_followers)).start().await;
    stack.akhar(&["queues", "pause", QUICK.name()]).await;
    let group = GroupName::parse("large").expect("a valid name");
    fill(&stack.db, &group, n_jobs).await;
    let events = format!("/v1/groups/{}/events", group.as_str());
    let waiting = Waiting { cluster, stack, what: format!("a group of {n_jobs} jobs"), seconds };
    waiting.states(report, 0).await;
    let mut followers = JoinSet::new();
    for _ in 0..n_followers {
        let request = waiting.stack.request("GET", &events).header("accept", "text/event-stream");
        followers.spawn(read(request.send().await.expect("an answer")));
    }
    waiting.states(report, n_followers).await;
    assert!(followers.try_join_next().is_none(), "a stream of events has ended");
}

impl Waiting<'_> {
    /// Measures while nothing happens, and while jobs end.
    async fn states(&self, report: &mut Report, n_followers: u16) {
        for (happens, are_ending) in [("nothing happens", false), ("a job ends each second", true)] {
            sleep(SETTLE).await;
            let ends = are_ending.then(|| tokio::spawn(end_slowly(self.stack.db.clone())));
            let processes = [from_ref(&self.stack.api), &self.stack.workers];
            let mut row = cpu::percent_of(self.cluster, processes, self.seconds).await;
            if let Some(ends) = ends {
                assert!(!ends.is_finished(), "the jobs do not end");
                ends.abort();
            }
            let all = row.iter().map(|(_, percent)| percent).sum();
            row.push(("all_percent", all));
            let what = format!("{}, {n_followers} followers, {happens}", self.what);
            report.row(&what, row);
            if n_followers > 0 {
                report.figure(what, "% of a core", all, None, targets::FOLLOWERS_OF_A_GROUP);
            }
        }
    }
}

/// Reads a stream of events until it ends.
async fn read(mut response: Response) {
    assert_eq!(response.status(), StatusCode::OK);
    while response.chunk().await.expect("the stream does not break").is_some() {}
}

/// Submits jobs of the account whose key the stack has.
async fn fill(db: &Pool, group: &GroupName, n: usize) {
    let key = sqlx::query_scalar("select account_id from api_keys");
    let account_id: Uuid = key.fetch_one(db).await.expect("the only key");
    for first in (0..n).step_by(AT_A_TIME) {
        let jobs: Vec<NewJob> = (first..n.min(first + AT_A_TIME))
            .map(|_| NewJob { account_id, group: Some(group.clone()), ..akhar_tests::queue::new_job() })
            .collect();
        submit(db, &jobs.iter().collect::<Vec<_>>()).await.expect("a write");
    }
    sqlx::query("vacuum analyze").execute(db).await.expect("a vacuum");
    sqlx::query("checkpoint").execute(db).await.expect("a checkpoint");
}

/// Claims and ends one job after another.
async fn end_slowly(db: Pool) {
    sqlx::query("insert into workers (name) values ('bench') on conflict do nothing")
        .execute(&db)
        .await
        .expect("a write");
    let mut ticks = interval(END_INTERVAL);
    loop {
        ticks.tick().await;
        let places = [FreePlaces::any(QUICK, 1)];
        let claimed = store::claim(&db, "bench", &places).await.expect("a claim");
        let ending = Ending {
            guard: Guard::Claimed(claimed[0].fence),
            end: akhar_tests::queue::answer(),
            timing: None,
            error: None,
            may_have_webhook: false,
        };
        assert!(end(&db, &[ending]).await.expect("a write").any());
    }
}
