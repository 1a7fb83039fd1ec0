//! `akhar models`: installs, verifies and removes models, and chooses which of them serve.

mod choose;
mod error;
mod features;
mod list;
mod pull;
mod remove;
mod verify;

use akhar_platform::config::Config;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the installed models, and what else may be pulled
    List,
    /// Check model files against their manifests
    Verify {
        /// One model; all of them unless named
        id: Option<String>,
    },
    /// Download a model of the catalogue; an interrupted download is resumed
    Pull {
        /// Its id, as `models list` shows it
        id: String,
    },
    /// Choose the model that serves an operation; running workers load it by themselves
    Use {
        /// As in the API's paths, such as speech-recognition
        operation: String,
        /// Its id, as `models list` shows it; `bundled` goes back to what came with Akhar
        id: String,
        /// In this language alone, such as pa; in all it knows unless named
        #[arg(long)]
        lang: Option<String>,
    },
    /// Delete a pulled model, or what an interrupted pull left of one
    Remove {
        /// Its id, as `models list` shows it
        id: String,
    },
    /// Turn images into the recognisers' input features: a filter for training
    Features {
        /// Read frames from stdin (width and height as u32 little endian, then RGB bytes) and write a
        /// status byte (0: ink, 1: none) and the coverage bytes of each to stdout
        #[arg(long, required = true)]
        stream: bool,
    },
}

/// Runs one command.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    if matches!(command, Command::Features { .. }) {
        return features::run();
    }
    let config = Config::load()?;
    match command {
        Command::List => list::run(&config),
        Command::Verify { id } => verify::run(&config, id.as_deref()),
        Command::Pull { id } => pull::run(&config, id),
        Command::Use { operation, id, lang } => choose::run(&config, operation, lang.as_deref(), id),
        Command::Remove { id } => remove::run(&config, id),
        Command::Features { .. } => Ok(()),
    }
}
