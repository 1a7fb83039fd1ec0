//! `akhar models`: installs, verifies and removes models, and chooses the model for each operation.

mod choose;
mod error;
mod features;
mod list;
mod lock;
mod pull;
mod remove;
mod trial;
mod verify;

use std::path::PathBuf;

use akhar_platform::config::Config;
use akhar_requests::Language;

use crate::{choices::named, failure::Failure};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the installed models and the models that can be pulled
    List,
    /// Check the files of installed models against the SHA-256 in their manifests
    Verify {
        /// The model's id; all models if omitted
        id: Option<String>,
    },
    /// Download and install a model of the catalogue. Resumes an interrupted download
    Pull {
        /// The model's id, as `akhar models list` shows it, or a name of several models: indictrans2
        id: String,
    },
    /// Transcribe recordings with an installed model and with the bundled one, and print text, confidence and time of both
    Try {
        /// The model's id, as `akhar models list` shows it
        id: String,
        /// Recordings
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The language that is spoken
        #[arg(long, default_value = "pa", value_parser = named(Language::ALL, Language::code))]
        lang: Language,
    },
    /// Choose the model for an operation. Running workers load it without a restart
    Use {
        /// The operation as in the API's paths, such as speech-recognition
        operation: String,
        /// The model's id, as `akhar models list` shows it, or `bundled` for the model that comes with Akhar
        id: String,
        /// Use the model for this language only, such as pa; for all its languages if omitted
        #[arg(long)]
        lang: Option<String>,
    },
    /// Delete a pulled model, or the files of an interrupted pull
    Remove {
        /// The model's id, as `akhar models list` shows it
        id: String,
    },
    /// Convert what models read and write, by the code that serves them, for training
    #[command(hide = true)]
    Features {
        /// Answer requests on stdin with replies on stdout. A request for pictures is width and height as little-endian
        /// u32, then RGB bytes; its reply is a status byte (0: ink found, 1: no ink) and the coverage bytes. Every other
        /// request is a line of JSON, then as many little-endian f32 as its `n_values` says, and so is its reply
        #[arg(long, required = true, num_args = 0..=1, default_missing_value = "pictures")]
        stream: features::Stream,
    },
}

/// Runs one subcommand.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    if let Command::Features { stream } = command {
        return features::run(*stream);
    }
    let config = Config::load()?;
    match command {
        Command::List => list::run(&config),
        Command::Verify { id } => verify::run(&config, id.as_deref()),
        Command::Pull { id } => pull::run(&config, id),
        Command::Try { id, files, lang } => trial::run(&config, id, *lang, files),
        Command::Use { operation, id, lang } => choose::run(&config, operation, lang.as_deref(), id),
        Command::Remove { id } => remove::run(&config, id),
        Command::Features { .. } => Ok(()),
    }
}
