//! `akhar-bench`: starts the product on a Postgres of its own, puts load on it, and tells how it fared,
//! as a table and as JSON under `bench/results/`; `summary` makes one page of the newest of each.
//!
//! Clients, api, worker and Postgres share this machine's cores, as they do in every row; compare rows of
//! one run, not runs of two machines. Times are never asserted; losses are.

mod baseline;
mod chaos;
mod chart;
mod clients;
mod cpu;
mod load;
mod overhead;
mod peers;
mod queue;
mod report;
mod runtime;
mod speech;
mod statements;
mod summary;
mod sweep;
mod translation;
mod writing;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use report::Report;

/// Benchmarks of the whole service.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Response time minus decode minus inference, beside a hand-written SKIP LOCKED + NOTIFY queue
    Overhead {
        /// Seconds for each of the two
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Requests a second, at random times
        #[arg(long, default_value_t = 20.0)]
        rate: f64,
    },
    /// Closed loop: each client sends its next request when the last is answered; CPU time of each part
    Load {
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        #[arg(long, default_value_t = 32)]
        clients: usize,
    },
    /// The same beside `LitServe` and `BentoML` (bench/peers/setup.sh installs them), in turns
    Peers {
        /// Seconds of one turn
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        #[arg(long, default_value_t = 32)]
        clients: usize,
        /// Turns of each
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Empty jobs a second, beside graphile-worker, pg-boss and a hand-written loop, in turns
    Queue {
        /// Jobs of one turn
        #[arg(long, default_value_t = 20_000)]
        jobs: usize,
        /// Turns of each
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Statements per synchronous digit request, from `pg_stat_statements`
    Statements {
        /// Seconds with one client, and with 32
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
    /// Cost against concurrency, 1 to 64 clients
    SweepClients {
        /// Seconds of each number of clients
        #[arg(long, default_value_t = 8)]
        seconds: u64,
    },
    /// Cost against the size of the jobs table: up to 1,000,000 finished and 200,000 waiting rows
    SweepRows,
    /// Load while worker, api and Postgres are killed (-9) at random: nothing lost, twice or wrong
    Chaos {
        #[arg(long, default_value_t = 180)]
        seconds: u64,
        #[arg(long, default_value_t = 32)]
        clients: usize,
        /// Seconds between two kills
        #[arg(long, default_value_t = 5)]
        every: u64,
    },
    /// Resident memory of api and worker, warm and after load
    Memory {
        /// Seconds of load
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Worker times of handwriting, 100 characters at a time, as points and as a picture
    Writing {
        /// Sheets of each
        #[arg(long, default_value_t = 200)]
        sheets: usize,
    },
    /// How well the served recognisers read what the service wrote
    Legibility {
        /// Hands that write each letter and digit
        #[arg(long, default_value_t = 40)]
        hands: usize,
    },
    /// Transcriptions of a folder's clips: errors, speed, shares of the parts, and other programs beside it
    Speech {
        /// A folder of wav and mp3 files with a `clips.tsv` of `file`, `text` and `word_starts`
        #[arg(long)]
        clips: PathBuf,
        #[arg(long, default_value = "pa")]
        lang: String,
        /// A Python with training/requirements-peers.txt: also measure other programs
        #[arg(long)]
        python: Option<PathBuf>,
    },
    /// Tokens a second of the bundled translator, and of other runtimes with the same files
    Translation {
        /// A Python with training/requirements-peers.txt: also measure other runtimes
        #[arg(long)]
        python: Option<PathBuf>,
    },
    /// One long recording: memory, time, text, and a clip of 3 s sent meanwhile
    Long {
        #[arg(long)]
        recording: PathBuf,
        /// A table of `start`, `end` and `text` of what is said in it
        #[arg(long)]
        pieces: PathBuf,
        #[arg(long, default_value = "pa")]
        lang: String,
    },
    /// All that need no recordings, with their defaults, and the summary
    All,
    /// One page of the newest result of each: bench/results/summary.md
    Summary,
    /// The hand-written queue's front end (started by `overhead`)
    #[command(hide = true)]
    BaselineFront,
    /// The hand-written queue's worker (started by `overhead`)
    #[command(hide = true)]
    BaselineWorker,
}

#[tokio::main]
async fn main() {
    match Arguments::parse().command {
        Command::BaselineFront => baseline::front::run().await,
        Command::BaselineWorker => baseline::worker::run().await,
        Command::Summary => println!("{}", summary::write().display()),
        Command::All => {
            let mut failures = Vec::new();
            for command in all() {
                failures.extend(measure(command).await.publish());
            }
            println!("{}", summary::write().display());
            assert!(failures.is_empty(), "{failures:?}");
        }
        one => {
            let failure = measure(one).await.publish();
            assert!(failure.is_none(), "{failure:?}");
        }
    }
}

/// With the defaults of the command line.
fn all() -> impl Iterator<Item = Command> {
    [
        "overhead",
        "load",
        "peers",
        "queue",
        "statements",
        "sweep-clients",
        "sweep-rows",
        "chaos",
        "memory",
        "writing",
        "legibility",
    ]
    .into_iter()
    .map(|name| Arguments::parse_from(["akhar-bench", name]).command)
}

async fn measure(command: Command) -> Report {
    match command {
        Command::Overhead { seconds, rate } => overhead::run(seconds, rate).await,
        Command::Load { seconds, clients } => load::load(seconds, clients).await,
        Command::Peers { seconds, clients, rounds } => peers::run(seconds, clients, rounds).await,
        Command::Queue { jobs, rounds } => queue::run(jobs, rounds).await,
        Command::Statements { seconds } => statements::run(seconds).await,
        Command::SweepClients { seconds } => sweep::clients(seconds).await,
        Command::SweepRows => sweep::rows().await,
        Command::Chaos { seconds, clients, every } => chaos::run(seconds, clients, every).await,
        Command::Memory { seconds } => load::memory(seconds).await,
        Command::Writing { sheets } => writing::time(sheets).await,
        Command::Legibility { hands } => writing::legibility(hands).await,
        Command::Speech { clips, lang, python } => speech::clips_of(&clips, &lang, python.as_deref()).await,
        Command::Translation { python } => translation::run(python.as_deref()),
        Command::Long { recording, pieces, lang } => speech::long(&recording, &pieces, &lang).await,
        other => unreachable!("{other:?} measures nothing"),
    }
}
