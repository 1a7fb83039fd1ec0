//! Logging to stderr: text for people, or one JSON object on each line for programs.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::config::LogFormat;

/// The filter if `RUST_LOG` is not set: messages from akhar, and warnings from libraries.
const DEFAULT_FILTER: &str =
    "info,sqlx=warn,apalis=warn,apalis_core=off,apalis_postgres=warn,ort=warn,tower_http=warn";

/// Logging was started before.
#[derive(Debug, thiserror::Error)]
#[error("cannot start logging: {0}")]
pub struct TelemetryError(#[from] tracing_subscriber::util::TryInitError);

/// Starts logging for this process. `RUST_LOG` selects the messages, in the syntax of
/// `tracing_subscriber::EnvFilter`.
pub fn init(format: LogFormat) -> Result<(), TelemetryError> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
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
