//! `akhar jobs`: lists, counts, shows, retries, cancels and purges jobs of all accounts.

use std::io::{self, IsTerminal as _};

use akhar_jobs::JobId;
use akhar_operators::{
    Change, JobSearch,
    changes::{self, JobGroup},
    search::{self, FailedAttempt, JobLife, JobRow, Term},
    with_job_conditions,
};
use akhar_platform::{config::Config, database::Pool};
use clap::{ArgMatches, Args as _, FromArgMatches, error::ErrorKind};
use uuid::Uuid;

use crate::{actor, connect, failure::Failure, output};

/// The most jobs that are read at a time.
const PAGE: usize = 100;

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
        /// The job's id, or that of its request
        id: String,
        /// Print one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Count jobs by account, operation and state
    Count {
        #[command(flatten)]
        search: Search,
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Change(ChangeCommand),
}

/// A change, and the jobs that are changed. Each change is a subcommand.
#[derive(Debug)]
pub(crate) struct ChangeCommand(Change, Selection);

impl FromArgMatches for ChangeCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let unknown = || clap::Error::new(ErrorKind::InvalidSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        let change = Change::ALL.into_iter().find(|change| change.name() == name).ok_or_else(unknown)?;
        Ok(Self(change, Selection::from_arg_matches(matches)?))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Subcommand for ChangeCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let of = |change: Change| {
            Selection::augment_args(clap::Command::new(change.name())).about(change.facts().help)
        };
        command.subcommands(Change::ALL.map(of))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Change::ALL.iter().any(|change| change.name() == name)
    }
}

/// The jobs that are changed: those that are named, or those that the options select. On a terminal, the command asks before
/// it changes jobs that are not named.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// The jobs' ids
    #[arg(required_unless_present_any = ["all", "Search"])]
    ids: Vec<Uuid>,
    /// All that the options select. Without options, all
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    search: Search,
    /// Change nothing, and print what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask. Where there is no terminal, this or --all is needed, unless the jobs are named
    #[arg(long)]
    yes: bool,
}

macro_rules! search {
    ([$($field:ident: $type:ty, $name:literal, $about:literal, $help:literal, ($($option:tt)*);)+]) => {
        /// Which jobs are meant. Without an option, all.
        #[derive(Debug, clap::Args)]
        pub(crate) struct Search {
            $(#[doc = $help] #[arg(long, value_parser = <$type as Term>::parse, $($option)*)] $field: Option<$type>,)+
        }

        impl From<Search> for JobSearch {
            fn from(search: Search) -> Self {
                Self { ids: None, $($field: search.$field),+ }
            }
        }
    };
}

with_job_conditions! { search }

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &Pool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { search, limit, json } => {
            let jobs = list(db, &JobSearch::from(search).resolve(db).await?, limit.into()).await?;
            if json { output::json(&jobs) } else { table(&jobs) }
        }
        Command::Show { id, json } => show(db, &id, json).await,
        Command::Count { search, json } => {
            let groups = changes::count(db, &JobSearch::from(search).resolve(db).await?, None).await?;
            if json { output::json(&groups) } else { groups_table(&groups) }
        }
        Command::Change(ChangeCommand(change, selection)) => apply(db, change, selection).await,
    }
}

/// At most `limit` jobs, read page by page.
async fn list(db: &Pool, search: &JobSearch, limit: usize) -> Result<Vec<JobRow>, Failure> {
    let mut jobs = Vec::new();
    let mut from = None;
    loop {
        let n_left = u16::try_from((limit - jobs.len()).min(PAGE)).unwrap_or(u16::MAX);
        let page = search::search(db, search, from, n_left).await?;
        jobs.extend(page.jobs);
        from = page.next;
        if from.is_none() || jobs.len() >= limit {
            return Ok(jobs);
        }
    }
}

async fn apply(db: &Pool, change: Change, selection: Selection) -> Result<(), Failure> {
    let Selection { mut ids, all, search, dry_run, yes } = selection;
    ids.sort_unstable();
    ids.dedup();
    let facts = change.facts();
    let n_named = ids.len();
    let ids = (n_named > 0).then(|| ids.into_iter().map(JobId).collect());
    let search = JobSearch { ids, ..JobSearch::from(search).resolve(db).await? };
    let limit = if n_named > 0 && !dry_run {
        n_named
    } else {
        let groups = changes::count(db, &search, Some((change, i64::MAX))).await?;
        let n: i64 = groups.iter().map(|group| group.n_jobs).sum();
        if dry_run {
            groups_table(&groups)?;
            return output::line(format_args!("would {} {n} jobs", facts.verb));
        }
        if n > 0 && !yes {
            confirm(&groups, n, facts.verb, all)?;
        }
        usize::try_from(n).unwrap_or(usize::MAX)
    };
    let n_changed = changes::apply(db, &actor::of_command(), change, &search, limit).await?;
    output::line(format_args!("{n_changed} jobs {}", facts.became.trim_start_matches("were ")))?;
    match n_named.saturating_sub(n_changed) {
        0 => Ok(()),
        n => Err(Failure::Command(format!("{n} of these jobs {}", facts.refused))),
    }
}

/// Asks on a terminal. Elsewhere, `all` is enough.
fn confirm(groups: &[JobGroup], n: i64, verb: &str, all: bool) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        let hint = "add --yes, or look first with --dry-run";
        return if all {
            Ok(())
        } else {
            Err(Failure::Command(format!("this would {verb} {n} jobs: {hint}")))
        };
    }
    groups_table(groups)?;
    output::ask(format_args!("{verb} these {n} jobs?"))
}

fn groups_table(groups: &[JobGroup]) -> Result<(), Failure> {
    let rows = groups.iter().map(|group| {
        [
            group.n_jobs.to_string(),
            group.account.clone().unwrap_or_default(),
            group.operation.clone(),
            group.state.name().to_owned(),
            output::age(group.oldest_s),
        ]
    });
    output::table(["JOBS", "ACCOUNT", "OPERATION", "STATE", "OLDEST"], rows.collect())
}

fn table(jobs: &[JobRow]) -> Result<(), Failure> {
    let rows = jobs.iter().map(|job| {
        [
            job.id.to_string(),
            output::ago(job.created_at),
            job.operation.clone(),
            state(job),
            format!("{}/{}", job.attempt, job.max_attempts),
            job.account.clone().unwrap_or_default(),
            job.reason().unwrap_or_default().to_owned(),
        ]
    });
    output::table(["ID", "CREATED", "OPERATION", "STATE", "ATTEMPT", "ACCOUNT", "ERROR"], rows.collect())
}

async fn show(db: &Pool, id: &str, as_json: bool) -> Result<(), Failure> {
    let life = find(db, id).await?;
    let life = life.ok_or_else(|| {
        Failure::Command(format!(
            "there is no job and no job's request {id:?}. A request that was refused has no job: search the logs of the apis for its \
             line, as with: grep {id:?}; `problem`, `field` and `code` say why"
        ))
    })?;
    if as_json {
        return output::json(&life);
    }
    let JobLife { job, failed_attempts } = life;
    let time = |time: Option<_>| time.map(output::time).unwrap_or_default();
    for (name, value) in [
        ("id", job.id.to_string()),
        ("operation", job.operation.clone()),
        ("state", state(&job)),
        ("attempt", format!("{} of {}", job.attempt, job.max_attempts)),
        ("account", job.account.clone().unwrap_or_default()),
        ("group", job.group.clone().unwrap_or_default()),
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
    failed_attempts.iter().try_for_each(attempt)
}

/// The state of a job, and how long it has not progressed if that is long.
fn state(job: &JobRow) -> String {
    let stalled = job.stalled_s().map(|s| format!(", no progress for {}", output::age(s)));
    job.state.name().to_owned() + &stalled.unwrap_or_default()
}

/// The job with this id, or the newest one whose request has it.
async fn find(db: &Pool, id: &str) -> Result<Option<JobLife>, Failure> {
    if let Ok(job) = Uuid::try_parse(id)
        && let Some(life) = search::find(db, JobId(job)).await?
    {
        return Ok(Some(life));
    }
    let Some(request_id) = Term::parse(id).ok() else { return Ok(None) };
    let of_request = JobSearch { request_id: Some(request_id), ..JobSearch::default() };
    match search::search(db, &of_request, None, 1).await?.jobs.first() {
        Some(job) => Ok(search::find(db, job.id).await?),
        None => Ok(None),
    }
}

fn attempt(failed: &FailedAttempt) -> Result<(), Failure> {
    let worker = failed.worker.as_deref().unwrap_or("a worker that is gone");
    let at = output::time(failed.ended_at);
    output::line(format_args!("attempt {} failed at {at} on {worker}: {}", failed.attempt, failed.error))
}

fn milliseconds(us: i32) -> String {
    format!("{:.1} ms", f64::from(us) / 1e3)
}
