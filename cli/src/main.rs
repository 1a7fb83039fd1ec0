//! The `akhar` program: parses the arguments and runs a command.
//!
//! Exit codes: 0 success, 1 failure, 2 wrong arguments, 130 and 143 a command that a signal stopped. Results are printed to stdout, everything else to stderr.

mod api;
mod connect;
mod demo;
mod failure;
mod keys;
mod language;
mod models;
mod output;
mod reference;
mod serve;
mod tls;
mod transcribe;
mod translate;
mod worker;

use std::process::ExitCode;

use akhar_platform::{config::Config, telemetry};
use clap::{CommandFactory as _, Parser, Subcommand};

use failure::Failure;

/// The allocator of all processes. It returns memory to the system after load.
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
    Migrate,
    /// Create, list, revoke and rotate API keys
    #[command(subcommand)]
    Keys(keys::Command),
    /// List, verify, download, choose and remove models
    #[command(subcommand)]
    Models(models::Command),
    /// Transcribe files and folders of recordings, and write the results as files
    Transcribe(transcribe::Arguments),
    /// Translate the lines of standard input with the installed translator
    Translate(translate::Arguments),
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
            eprintln!("akhar: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Models(command) => return models::run(&command),
        Command::Openapi => return reference::print_openapi(),
        Command::Reference { page } => return reference::print(page, Arguments::command()),
        _ => (),
    }
    let config = Config::load()?;
    let is_client = matches!(command, Command::Transcribe(_) | Command::Translate(_));
    let filter = if is_client { telemetry::COMMAND_FILTER } else { telemetry::SERVER_FILTER };
    telemetry::init(config.log_format, filter)?;
    if let Command::Translate(arguments) = &command {
        return translate::run(&config, arguments);
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(config.async_threads()).enable_all().build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve => serve::run(config).await,
            Command::Api => api::run(config).await,
            Command::Worker(arguments) => worker::run(config, &arguments).await,
            Command::Migrate => connect::migrate(&config).await,
            Command::Keys(command) => keys::run(&config, command).await,
            Command::Transcribe(arguments) => transcribe::run(&config, arguments).await,
            Command::Models(_) | Command::Openapi | Command::Reference { .. } | Command::Translate(_) => {
                Ok(())
            }
        }
    });
    // Do not wait for remaining tasks: a thread that reads stdin would keep the process alive.
    runtime.shutdown_background();
    done
}
