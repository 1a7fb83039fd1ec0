//! Log lines: for eyes on a terminal, or one JSON object a line for machines, always on stderr.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::config::LogFormat;

/// What is logged when `RUST_LOG` says nothing: ours, and what libraries warn of.
const DEFAULT_FILTER: &str =
    "info,sqlx=warn,apalis=warn,apalis_core=off,apalis_postgres=warn,ort=warn,tower_http=warn";

/// A subscriber was installed already.
#[derive(Debug, thiserror::Error)]
#[error("telemetry: {0}")]
pub struct TelemetryError(#[from] tracing_subscriber::util::TryInitError);

/// Starts logging for this process. `RUST_LOG` filters, in `tracing_subscriber`'s notation.
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
