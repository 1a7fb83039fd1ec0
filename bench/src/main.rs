//! `akhar-bench` starts the product on a new Postgres, puts load on it, and prints the results as a table. It
//! also writes them as JSON to `bench/results/`. `summary` makes one page of the newest result of each
//! measurement.
//!
//! Clients, api, worker and Postgres share this machine's cores in every measurement. So compare the rows of
//! one run, and not runs of two machines. No measurement fails because of a time; wrong answers make it fail.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement that waits for ever concerns its run only"
)]

mod cpu;
mod full_table;
mod groups;
mod hand_written;
mod load;
mod machine;
mod overhead;
mod peers;
mod processes;
mod queue;
mod report;
mod speech;
mod statements;
mod summary;
mod targets;
mod translation;
mod writing;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use machine::Machine;
use report::Report;

/// Benchmarks of the whole service.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Measure also while other programs use the machine. The report says so
    #[arg(long, global = true)]
    busy_machine: bool,
}

#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Measure the response time without decoding and inference, in turns with a hand-written queue
    Overhead {
        /// Seconds of one run, for each of the two queues
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Runs, whose medians count
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Requests per second, sent at random times
        #[arg(long, default_value_t = 20.0)]
        rate: f64,
    },
    /// Measure throughput, response times and CPU time in a closed loop
    Load {
        /// Seconds of load, with each number of clients
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        /// Clients that send requests at the same time, such as 32 or 1,8,64
        #[arg(long, default_value = "32", value_delimiter = ',')]
        clients: Vec<usize>,
    },
    /// Measure the same for `LitServe` and `BentoML` in turns with Akhar (bench/peers/setup.sh installs them)
    Peers {
        /// Seconds of one turn
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Clients that send requests at the same time
        #[arg(long, default_value_t = 32)]
        clients: usize,
        /// Turns of each program
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Measure empty jobs per second, in turns with graphile-worker and `graphile_worker` (bench/peers/setup.sh installs them)
    Queue {
        /// Jobs in one turn, such as 20000 or 20000,100000
        #[arg(long, default_value = "20000,100000", value_delimiter = ',')]
        jobs: Vec<usize>,
        /// Turns of each queue
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// The queues, such as `akhar,graphile_worker`; all if this is not given
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<queue::Contender>,
    },
    /// Measure what a group of jobs costs: the ends of its jobs in turns with those of jobs without a group, the statements on
    /// a group of 10,000 jobs, and the followers of a large group
    Groups {
        /// Turns of each
        #[arg(long, default_value_t = 10)]
        rounds: usize,
        #[command(flatten)]
        followed: groups::Followed,
    },
    /// Measure submissions and claims with many finished and 200,000 waiting jobs, in turns with an empty table, and every
    /// statement of the operations page
    FullTable {
        /// Finished jobs
        #[arg(long, default_value_t = 1_000_000)]
        jobs: usize,
    },
    /// Measure the speech jobs of three workers in turns with those of one worker
    Workers {
        /// Recordings in one turn
        #[arg(long, default_value_t = 120)]
        jobs: u16,
        /// Turns of each number of workers
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Measure up to 4 apis and 32 workers on one Postgres, idle and with digit requests
    Processes {
        /// Seconds without requests, and again with 32 clients
        #[arg(long, default_value_t = 15)]
        seconds: u64,
    },
    /// Measure the resident memory of the api and the worker, before and after load
    Memory {
        /// Seconds of load
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Measure the worker's time for handwriting of 100 characters, as points and as a picture
    Writing {
        /// Requests of each kind
        #[arg(long, default_value_t = 200)]
        sheets: usize,
    },
    /// Measure errors and speed of transcriptions
    Speech {
        /// A folder of wav and mp3 files with a table `clips.tsv` of `file`, `text` and `word_starts`
        #[arg(long)]
        clips: PathBuf,
        /// The language of the clips, `pa` or `en`
        #[arg(long, default_value = "pa")]
        lang: String,
    },
    /// Measure the tokens per second of the bundled translator, and compare them with `CTranslate2`
    Translation {
        /// A Python with the packages of training/requirements-fixtures.txt, to measure `CTranslate2` too
        #[arg(long)]
        python: Option<PathBuf>,
    },
    /// Measure memory, time and text of one long recording, and the response time of short clips beside it
    Long {
        /// The recording, wav or mp3
        #[arg(long)]
        recording: PathBuf,
        /// A table of `start`, `end` and `text` of the sentences in the recording
        #[arg(long)]
        pieces: PathBuf,
        /// The language of the recording, `pa` or `en`
        #[arg(long, default_value = "pa")]
        lang: String,
    },
    /// Measure the memory of the api and the worker for a recording of hours that is fetched from a URL or sent to a bucket
    Hours {
        /// The length of the recording
        #[arg(long, default_value_t = 3)]
        hours: usize,
    },
    /// Measure hours of audio in an hour of `akhar transcribe`, in turns with the speech model alone
    Bulk {
        /// A folder of WAV files with 16 bits and 16 kHz
        #[arg(long)]
        recordings: PathBuf,
        /// The language of the recordings, `pa` or `en`
        #[arg(long, default_value = "pa")]
        lang: String,
        /// Turns of each
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Measure when the texts of live sessions come, with turn detection and without, beside the texts of their files
    Live {
        /// A folder of Panjabi recordings: WAV files with 16 bits and 16 kHz
        #[arg(long, required_unless_present = "en")]
        pa: Option<PathBuf>,
        /// A folder of English recordings
        #[arg(long)]
        en: Option<PathBuf>,
        /// Sessions at a time
        #[arg(long, default_value_t = 1)]
        sessions: usize,
    },
    /// Run all measurements that need no recordings, with their defaults, and write the summary
    All,
    /// Write one page of the newest result of each measurement to bench/results/summary.md
    Summary,
    /// Run the hand-written queue's front end (started by `overhead`)
    #[command(hide = true)]
    HandWrittenFront,
    /// Run the hand-written queue's worker (started by `overhead`)
    #[command(hide = true)]
    HandWrittenWorker,
}

#[tokio::main]
async fn main() {
    let Arguments { command, busy_machine } = Arguments::parse();
    let machine = || Machine::new(busy_machine);
    match command {
        Command::HandWrittenFront => hand_written::front::run().await,
        Command::HandWrittenWorker => hand_written::worker::run().await,
        Command::Summary => println!("{}", summary::write().display()),
        Command::All => {
            for command in all() {
                measure(command, machine()).await.publish();
            }
            println!("{}", summary::write().display());
        }
        one => measure(one, machine()).await.publish(),
    }
}

/// The measurements of `all`, with the defaults of the command line where nothing else is said.
fn all() -> impl Iterator<Item = Command> {
    [
        "overhead --seconds 30",
        "load --seconds 8 --clients 1,2,4,8,16,32,64",
        "peers",
        "queue",
        "groups",
        "full-table",
        "workers",
        "processes",
        "memory",
        "writing",
    ]
    .into_iter()
    .map(|words| Arguments::parse_from(std::iter::once("akhar-bench").chain(words.split(' '))).command)
}

async fn measure(command: Command, machine: Machine) -> Report {
    match command {
        Command::Overhead { seconds, runs, rate } => overhead::run(machine, seconds, runs, rate).await,
        Command::Load { seconds, clients } => load::load(machine, seconds, &clients).await,
        Command::Peers { seconds, clients, rounds } => peers::run(machine, seconds, clients, rounds).await,
        Command::Queue { jobs, rounds, only } => queue::run(machine, &jobs, rounds, &only).await,
        Command::Groups { rounds, followed } => groups::run(machine, rounds, followed).await,
        Command::FullTable { jobs } => full_table::run(machine, jobs).await,
        Command::Workers { jobs, rounds } => processes::shares(machine, jobs, rounds).await,
        Command::Processes { seconds } => processes::many(machine, seconds).await,
        Command::Memory { seconds } => load::memory(machine, seconds).await,
        Command::Writing { sheets } => writing::time(machine, sheets).await,
        Command::Speech { clips, lang } => speech::clips_of(machine, &clips, &lang).await,
        Command::Translation { python } => translation::run(machine, python.as_deref()).await,
        Command::Long { recording, pieces, lang } => speech::long(machine, &recording, &pieces, &lang).await,
        Command::Hours { hours } => speech::hours(machine, hours).await,
        Command::Bulk { recordings, lang, rounds } => speech::bulk(machine, &recordings, &lang, rounds).await,
        Command::Live { pa, en, sessions } => {
            let folders = [("pa", pa.as_deref()), ("en", en.as_deref())];
            let folders: Vec<_> =
                folders.into_iter().filter_map(|(lang, folder)| Some((lang, folder?))).collect();
            speech::live(machine, &folders, sessions).await
        }
        other => unreachable!("{other:?} measures nothing"),
    }
}
