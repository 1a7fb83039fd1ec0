//! `akhar jobs`: lists, shows, retries, cancels and purges jobs of all accounts.

use std::time::Duration;

use akhar_accounts::keys;
use akhar_jobs::{
    JobId, JobState, Operation, Queue,
    store::{self, FailedAttempt, JobSearch, JobSummary},
};
use akhar_platform::config::Config;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List jobs, the newest first. Those that wait are in the order in which they are claimed
    List {
        #[command(flatten)]
        search: Search,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        limit: u16,
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Show one job with its times, its worker and its failed attempts
    Show {
        /// The job's id
        id: Uuid,
        /// Print one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Return failed jobs to their queues. Only jobs that the service failed to process can be retried, not those whose
    /// input was rejected
    Retry {
        /// The jobs' ids
        #[arg(required_unless_present = "all")]
        ids: Vec<Uuid>,
        /// All that the options select
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        #[command(flatten)]
        search: Search,
    },
    /// Cancel jobs that have not ended. A running job stops soon
    Cancel {
        /// The jobs' ids
        #[arg(required = true)]
        ids: Vec<Uuid>,
    },
    /// Delete jobs that have ended, with their results
    Purge {
        /// Only jobs that ended at least so many hours ago
        #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32))]
        ended_before: u32,
        #[command(flatten)]
        search: Search,
    },
}

/// Which jobs are meant. Without an option, all.
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// In this state: queued, running, succeeded, failed or cancelled
    #[arg(long, value_parser = state)]
    state: Option<JobState>,
    /// In this queue: quick or speech
    #[arg(long, value_parser = crate::queues::queue)]
    queue: Option<Queue>,
    /// Of this operation, such as speech-recognition
    #[arg(long, value_parser = operation)]
    operation: Option<Operation>,
    /// Of the account of this key: the 8 characters after `ak_`, as `akhar keys list` shows them
    #[arg(long, value_name = "PREFIX")]
    key: Option<String>,
    /// Made by the request with this id, which every response and every log line has
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Whose last attempt failed with exactly this error
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
}

impl Search {
    async fn resolve(self, db: &PgPool) -> Result<JobSearch, Failure> {
        let Self { state, queue, operation, key, request_id, error } = self;
        let account_id = match key {
            Some(prefix) => Some(keys::find_account(db, &prefix).await?),
            None => None,
        };
        Ok(JobSearch { state, queue, operation, account_id, request_id, error, ..JobSearch::default() })
    }
}

fn state(name: &str) -> Result<JobState, String> {
    JobState::ALL
        .into_iter()
        .find(|state| state.name() == name)
        .ok_or_else(|| "expected queued, running, succeeded, failed or cancelled".to_owned())
}

fn operation(name: &str) -> Result<Operation, String> {
    let names = || Operation::ALL.map(Operation::name).join(", ");
    Operation::ALL
        .into_iter()
        .find(|o| o.name() == name)
        .ok_or_else(|| format!("expected one of {}", names()))
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { search, limit, json } => {
            let jobs = find(db, &search.resolve(db).await?, limit).await?;
            if json { output::json(&jobs) } else { table(&jobs) }
        }
        Command::Show { id, json } => show(db, JobId(id), json).await,
        Command::Retry { ids, all: false, search } => {
            let search = search.resolve(db).await?;
            let mut refused = 0;
            for id in ids {
                let one = JobSearch { ids: Some(vec![JobId(id)]), ..search.clone() };
                refused += usize::from(store::retry(db, &one).await?.is_empty());
            }
            none_refused(refused, "did not fail in the service, or are gone: they cannot be retried")
        }
        Command::Retry { all: true, search, .. } => {
            let search = search.resolve(db).await?;
            let mut n_retried = 0;
            loop {
                match store::retry(db, &search).await?.len() {
                    0 => return output::line(format_args!("{n_retried} jobs wait again")),
                    n => n_retried += n,
                }
            }
        }
        Command::Cancel { ids } => {
            let mut refused = 0;
            for id in ids {
                refused += usize::from(!store::cancel_any(db, JobId(id)).await?);
            }
            none_refused(refused, "have ended, or are gone: they cannot be cancelled")
        }
        Command::Purge { ended_before, search } => {
            let ended_before = Some(Duration::from_secs(u64::from(ended_before) * 3600));
            let search = JobSearch { ended_before, ..search.resolve(db).await? };
            let mut n_deleted = 0;
            loop {
                match store::purge(db, &search).await? {
                    0 => return output::line(format_args!("{n_deleted} jobs deleted")),
                    n => n_deleted += n,
                }
            }
        }
    }
}

/// At most `limit` jobs, of as many pages as are needed.
async fn find(db: &PgPool, search: &JobSearch, limit: u16) -> Result<Vec<JobSummary>, Failure> {
    let mut jobs = Vec::new();
    let mut from = None;
    loop {
        let left = limit - u16::try_from(jobs.len()).unwrap_or(limit);
        let page = store::search(db, search, from, left).await?;
        jobs.extend(page.jobs);
        from = page.next;
        if from.is_none() || jobs.len() >= limit.into() {
            return Ok(jobs);
        }
    }
}

fn none_refused(n: usize, why: &str) -> Result<(), Failure> {
    if n == 0 { Ok(()) } else { Err(Failure::Command(format!("{n} of these jobs {why}"))) }
}

fn table(jobs: &[JobSummary]) -> Result<(), Failure> {
    let rows = jobs.iter().map(|job| {
        [
            job.id.to_string(),
            output::time(job.created_at),
            job.operation.clone(),
            job.state.name().to_owned(),
            format!("{}/{}", job.attempt, job.max_attempts),
            job.account.clone().unwrap_or_default(),
            job.reason().unwrap_or_default().to_owned(),
        ]
    });
    output::table(
        ["ID", "CREATED (UTC)", "OPERATION", "STATE", "ATTEMPT", "ACCOUNT", "ERROR"],
        rows.collect(),
    )
}

async fn show(db: &PgPool, id: JobId, as_json: bool) -> Result<(), Failure> {
    let search = JobSearch { ids: Some(vec![id]), ..JobSearch::default() };
    let job = store::search(db, &search, None, 1).await?.jobs.pop();
    let job = job.ok_or_else(|| Failure::Command(format!("there is no job {id}")))?;
    let attempts = store::failed_attempts(db, id).await?;
    if as_json {
        return output::json(&json!({"job": job, "failed_attempts": attempts}));
    }
    let time = |time: Option<_>| time.map(output::time).unwrap_or_default();
    for (name, value) in [
        ("id", job.id.to_string()),
        ("operation", job.operation.clone()),
        ("state", job.state.name().to_owned()),
        ("attempt", format!("{} of {}", job.attempt, job.max_attempts)),
        ("account", job.account.clone().unwrap_or_default()),
        ("request id", job.request_id.clone()),
        ("worker", job.worker.clone().unwrap_or_default()),
        ("created", output::time(job.created_at)),
        ("started", time(job.started_at)),
        ("ended", time(job.ended_at)),
        ("decode", job.decode_us.map(milliseconds).unwrap_or_default()),
        ("inference", job.infer_us.map(milliseconds).unwrap_or_default()),
        ("transcribed", job.transcribed_s.map(|s| format!("{s:.1} s")).unwrap_or_default()),
        ("rejected", job.rejection.clone().unwrap_or_default()),
        ("upload", job.upload_bytes.map(|n| format!("{n} bytes")).unwrap_or_default()),
    ] {
        if !value.is_empty() {
            output::line(format_args!("{name:<11}  {value}"))?;
        }
    }
    attempts.iter().try_for_each(attempt)
}

fn attempt(failed: &FailedAttempt) -> Result<(), Failure> {
    let worker = failed.worker.as_deref().unwrap_or("a worker that is gone");
    let at = output::time(failed.ended_at);
    output::line(format_args!("attempt {} failed at {at} on {worker}: {}", failed.attempt, failed.error))
}

fn milliseconds(us: i32) -> String {
    format!("{:.1} ms", f64::from(us) / 1e3)
}
