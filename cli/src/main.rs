//! The `akhar` program: parses the arguments and runs a command.
//!
//! Exit codes: 0 success, 1 failure, 2 wrong arguments, 130 and 143 a command that a signal stopped. Results are printed to stdout, everything else to stderr.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod accounts;
mod actor;
mod api;
mod audit;
mod choices;
mod connect;
mod database;
mod demo;
mod doctor;
mod elsewhere;
mod failure;
mod free_space;
mod jobs;
mod keys;
mod models;
mod output;
mod queues;
mod reference;
mod serve;
mod signals;
mod top;
mod transcribe;
mod translate;
mod uploads;
mod webhooks;
mod worker;
mod workers;
mod written;

use std::process::ExitCode;

use akhar_platform::{
    config::Config,
    http_client,
    telemetry::{
        self,
        collector::{self, Collector},
    },
};
use clap::{CommandFactory as _, Parser, Subcommand};
use tokio::runtime::Handle;

use failure::Failure;

/// The allocator of all processes. It returns memory to the system after load. Its feature `unprefixed_malloc_on_supported_platforms`
/// makes ONNX Runtime use it too, whose tensors glibc would keep.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A server for Panjabi handwriting recognition, handwriting generation and speech recognition.
///
/// Settings are environment variables named AKHAR_*, or keys in akhar.toml. The file .env.example lists all of them.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything: migrations, HTTP server, worker, and a private Postgres unless `AKHAR_DATABASE_URL` is set
    Serve,
    /// Run the HTTP server
    Api,
    /// Run a worker, which claims jobs and runs models
    Worker(worker::Arguments),
    /// Bring the database schema up to date: apply all pending migrations
    Migrate {
        /// Migrate nothing, but take the settings off the role of the database again that processes give it (`alter role`)
        #[arg(long)]
        reset_role: bool,
    },
    /// Create, list, limit, revoke and rotate API keys, and change the webhooks of their accounts
    #[command(subcommand)]
    Keys(keys::Command),
    /// Erase accounts
    #[command(subcommand)]
    Accounts(accounts::Command),
    /// List webhooks, and send those again that were given up
    #[command(subcommand)]
    Webhooks(webhooks::Command),
    /// List, count, show, retry, cancel and purge jobs of all accounts
    #[command(subcommand)]
    Jobs(jobs::Command),
    /// Keep a restored database quiet, and let it go on
    #[command(subcommand)]
    Database(database::Command),
    /// List, pause, drain and resume the queues
    #[command(subcommand)]
    Queues(queues::Command),
    /// List, drain and resume workers
    #[command(subcommand)]
    Workers(workers::Command),
    /// Show what happens in the queues, and the workers, until Ctrl-C
    Top(top::Arguments),
    /// List what operators changed in the last 90 days: who, what, when and from where
    Audit(audit::Arguments),
    /// List, verify, download, choose and remove models
    #[command(subcommand)]
    Models(models::Command),
    /// Transcribe files and folders of recordings, and write the results as files
    Transcribe(transcribe::Arguments),
    /// Translate the lines of standard input, on a server or with the installed translator
    Translate(translate::Arguments),
    /// Write the numbers of the lines of standard input in figures
    #[command(hide = true)]
    Written(written::Arguments),
    /// Check everything that the service needs on this machine, and say how to correct what is wrong
    Doctor(doctor::Arguments),
    /// Print the OpenAPI document of the HTTP interface
    Openapi,
    /// Print a reference page that is generated from the code
    #[command(hide = true)]
    Reference {
        /// The page
        page: reference::Page,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        // The reader has what it wanted.
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Exit(code)) => ExitCode::from(code),
        Err(failure) => {
            output::note(format_args!("akhar: {failure}"));
            if let Some(advice) = failure.advice() {
                output::note(format_args!("akhar: {advice}"));
            }
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Models(command) => return models::run(&command),
        Command::Doctor(arguments) => return doctor::run(&arguments),
        Command::Written(arguments) => return written::run(&arguments),
        Command::Openapi => return reference::print_openapi(),
        Command::Reference { page } => return reference::print(page, Arguments::command()),
        _ => (),
    }
    let config = Config::load()?;
    let is_client = matches!(command, Command::Transcribe(_) | Command::Translate(_));
    let filter = if is_client { telemetry::COMMAND_FILTER } else { telemetry::SERVER_FILTER };
    // Fewer threads wake each other less: on two cores, one thread for network and database answers sooner than two.
    let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(n_threads).enable_all().build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let collector = collector(&command, runtime.handle())?;
    let configured = config.log_filter.as_deref().filter(|_| is_server(&command));
    let traces = telemetry::init(config.log_format, filter, configured, collector.as_ref())?;
    if let Command::Translate(arguments) = &command {
        return translate::run(&config, arguments, &runtime);
    }
    let done = runtime.block_on(async {
        match command {
            Command::Serve => serve::run(config).await,
            Command::Api => api::run(config).await,
            Command::Worker(arguments) => worker::run(config, &arguments).await,
            Command::Migrate { reset_role: true } => connect::reset_role(&config).await,
            Command::Migrate { reset_role: false } => connect::migrate(&config).await,
            Command::Keys(command) => keys::run(&config, command).await,
            Command::Accounts(command) => accounts::run(&config, command).await,
            Command::Webhooks(command) => webhooks::run(&config, command).await,
            Command::Jobs(command) => jobs::run(&config, command).await,
            Command::Database(command) => database::run(&config, command).await,
            Command::Queues(command) => queues::run(&config, command).await,
            Command::Workers(command) => workers::run(&config, command).await,
            Command::Top(arguments) => top::run(&config, arguments).await,
            Command::Audit(arguments) => audit::run(&config, arguments).await,
            Command::Transcribe(arguments) => transcribe::run(&config, arguments).await,
            Command::Models(_)
            | Command::Doctor(_)
            | Command::Openapi
            | Command::Reference { .. }
            | Command::Written(_)
            | Command::Translate(_) => Ok(()),
        }
    });
    traces.finish();
    // Do not wait for remaining tasks: a thread that reads stdin would keep the process alive.
    runtime.shutdown_background();
    done
}

/// Whether the command serves until it is stopped.
const fn is_server(command: &Command) -> bool {
    matches!(command, Command::Serve | Command::Api | Command::Worker(_))
}

/// Where the traces and metrics of this command go. Only processes that serve have them.
fn collector(command: &Command, runtime: &Handle) -> Result<Option<Collector>, Failure> {
    let service = match command {
        Command::Serve | Command::Api => "akhar-api",
        Command::Worker(_) => "akhar-worker",
        _ => return Ok(None),
    };
    // An empty one counts as not set, because a settings file may have an empty value.
    let endpoint =
        std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok().filter(|endpoint| !endpoint.trim().is_empty());
    let Some(endpoint) = endpoint else { return Ok(None) };
    let client = http_client::builder(collector::LIMITS);
    let client = client.and_then(|client| client.build().map_err(std::io::Error::other));
    let client =
        client.map_err(Failure::io("cannot make a client for the collector of traces and metrics"))?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(Some(Collector { endpoint, service, version, client, runtime: runtime.clone() }))
}
