//! `akhar`: arguments and environment come in; a running service, or one command's answer, comes out.
//!
//! Exit codes: 0 done, 1 failed, 2 usage. Answers go to stdout, everything else to stderr.

mod api;
mod connect;
mod demo;
mod failure;
mod keys;
mod models;
mod reference;
mod serve;
mod worker;

use std::process::ExitCode;

use akhar_platform::{config::Config, telemetry};
use clap::{CommandFactory as _, Parser, Subcommand};

use failure::Failure;

/// Panjabi handwriting, recognition and speech as a service.
///
/// Settings are AKHAR_* variables or keys of akhar.toml; .env.example lists them all.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything: database (a private one unless `AKHAR_DATABASE_URL` is set), migrations, api, worker
    Serve,
    /// Run the HTTP front end
    Api,
    /// Run a worker
    Worker(worker::Arguments),
    /// Bring the database schema up to date
    Migrate,
    /// Make, list, revoke and rotate API keys
    #[command(subcommand)]
    Keys(keys::Command),
    /// List, verify, pull, choose and remove models, or prepare images as they see them
    #[command(subcommand)]
    Models(models::Command),
    /// Print the OpenAPI document
    Openapi,
    /// Print a page of the reference
    #[command(hide = true)]
    Reference {
        /// Which
        page: reference::Page,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("akhar: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Models(command) => return models::run(&command),
        Command::Openapi => return api::print_openapi(),
        Command::Reference { page } => {
            reference::print(page, Arguments::command());
            return Ok(());
        }
        _ => (),
    }
    let config = Config::load()?;
    telemetry::init(config.log_format)?;
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
            Command::Models(_) | Command::Openapi | Command::Reference { .. } => Ok(()),
        }
    });
    // What is left, such as a thread reading stdin, must not keep the process.
    runtime.shutdown_background();
    done
}
