//! Logging to stderr: text for people, or one JSON object on each line for programs.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, filter::ParseError, fmt, prelude::*, util::TryInitError};

use crate::config::LogFormat;

/// The filter of servers if `RUST_LOG` is not set: messages from akhar, and warnings from libraries.
pub const SERVER_FILTER: &str =
    "info,sqlx=warn,apalis=warn,apalis_core=off,apalis_postgres=warn,ort=warn,symphonia=off,tower_http=warn";
/// The filter of commands that show their own progress: warnings.
pub const COMMAND_FILTER: &str = "warn,apalis_core=off,symphonia=off";

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `RUST_LOG` does not have the syntax of a filter.
    #[error("RUST_LOG is {filter:?}, expected a filter such as info,akhar_worker=debug: {source}")]
    Filter {
        /// The value of `RUST_LOG`.
        filter: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// Logging was started before.
    #[error("cannot start logging: {0}")]
    Started(#[from] TryInitError),
}

/// Starts logging for this process. `RUST_LOG` selects the messages, in the syntax of
/// `tracing_subscriber::EnvFilter`. `default` selects them if it is not set.
pub fn init(format: LogFormat, default: &str) -> Result<(), TelemetryError> {
    let filter = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let filter = match filter.trim() {
        "" => EnvFilter::new(default),
        given => {
            given.parse().map_err(|source| TelemetryError::Filter { filter: given.to_owned(), source })?
        }
    };
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Human => registry.with(lines.with_target(false)).try_init()?,
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_span_list(false);
            registry.with(lines).try_init()?;
        }
    }
    Ok(())
}
