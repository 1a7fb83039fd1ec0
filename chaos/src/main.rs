//! `akhar-chaos` starts the product on a new Postgres, breaks it on purpose or attacks it, and checks what its callers got.
//! Each command passes or fails. The numbers that it prints describe this run; `akhar-bench` measures.

#![expect(clippy::disallowed_methods, reason = "a run that waits for ever concerns nobody else")]

mod attack;
mod chaos;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks of the whole service while it is disturbed.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Disturb every process, connection and disk under load, and check that no job is lost, ends twice, waits for ever or gets a
    /// wrong answer
    Chaos {
        /// Draws the requests and the faults
        #[arg(long, default_value_t = 11)]
        seed: u64,
        /// Minutes of load
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// Requests per second, sent at random times
        #[arg(long, default_value_t = 15.0)]
        rate: f64,
        /// Live sessions at a time
        #[arg(long, default_value_t = 4)]
        speakers: u16,
        /// Where uploads are kept
        #[arg(long, default_value = "postgres")]
        store: chaos::UploadStore,
    },
    /// Attack a running service in many ways, with names and drawn from a seed, and observe the requests of an innocent
    /// caller, the memory and the processor time
    Attack(attack::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let failures = match Arguments::parse().command {
        Command::Chaos { seed, minutes, rate, speakers, store } => {
            Box::pin(chaos::run(seed, minutes, (rate, speakers), store)).await
        }
        Command::Attack(options) => attack::run(options).await,
    };
    for failure in &failures {
        eprintln!("failed: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
