//! Logs to stderr, as text for people or one JSON object on each line for programs, and traces and metrics to a collector.

pub mod collector;
pub mod traces;

use std::{io::IsTerminal as _, sync::OnceLock};

use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{Directive, ParseError},
    fmt,
    prelude::*,
    registry::LookupSpan,
    reload,
    util::TryInitError,
};

use crate::config::LogFormat;
use collector::{Collector, CollectorError};
use traces::Traces;

/// The filter of servers if `RUST_LOG` is not set: messages from akhar, and warnings from libraries.
pub const SERVER_FILTER: &str =
    "info,sqlx=warn,apalis=warn,apalis_core=off,apalis_postgres=warn,ort=warn,symphonia=off,tower_http=warn";
/// The filter of commands that show their own progress: warnings.
pub const COMMAND_FILTER: &str = "warn,sqlx::query=error,apalis_core=off,symphonia=off";

/// The message of the one log line about the end of a job.
pub const JOB_ENDED: &str = "job ended";

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
    /// Traces and metrics cannot be exported.
    #[error(transparent)]
    Collector(#[from] CollectorError),
    /// Logging was started before.
    #[error("cannot start logging: {0}")]
    Started(#[from] TryInitError),
}

/// Why the filter cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    /// It is that of a variable.
    #[error("RUST_LOG is set and takes precedence over log_filter")]
    Fixed,
    /// It does not have the syntax of a filter.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// Logging has ended.
    #[error(transparent)]
    Gone(#[from] reload::Error),
}

/// How the filter of this process is changed.
static CHANGE: OnceLock<Change> = OnceLock::new();

struct Change {
    /// The filter if the configuration has none.
    default: &'static str,
    replace: Box<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync>,
}

/// Starts logging for this process, and exporting traces and metrics if there is a collector. `RUST_LOG` selects the messages, in
/// the syntax of `tracing_subscriber::EnvFilter`. If it is not set, `configured` does, and without that, `default`.
pub fn init(
    format: LogFormat,
    default: &'static str,
    configured: Option<&str>,
    collector: Option<&Collector>,
) -> Result<Traces, TelemetryError> {
    let variable = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let given = Some(variable.trim()).filter(|given| !given.is_empty());
    let text = given.or(configured).unwrap_or(default);
    let filter = filter(text).map_err(|source| TelemetryError::Filter { filter: text.to_owned(), source })?;
    let collector = collector.map(|collector| (collector, collector.resource()));
    if let Some((collector, resource)) = &collector {
        collector.send_metrics(resource.clone())?;
    }
    let (layer, traces) = traces::layer(collector)?;
    let replace: Box<dyn Fn(_) -> _ + Send + Sync> = match layer {
        None => {
            let (filter, handle) = reload::Layer::new(filter);
            tracing_subscriber::registry().with(filter).with(lines(format)).try_init()?;
            Box::new(move |filter| handle.reload(filter))
        }
        Some(layer) => {
            let (filter, handle) = reload::Layer::new(filter);
            tracing_subscriber::registry().with(layer).with(lines(format).with_filter(filter)).try_init()?;
            Box::new(move |filter| handle.reload(filter))
        }
    };
    if given.is_none() {
        // It was not set before: `try_init` succeeds once.
        let _ = CHANGE.set(Change { default, replace });
    }
    Ok(traces)
}

/// Changes the messages that are selected to those of `configured`, or of the default if there is none.
pub(crate) fn set_filter(configured: Option<&str>) -> Result<(), FilterError> {
    let change = CHANGE.get().ok_or(FilterError::Fixed)?;
    Ok((change.replace)(filter(configured.unwrap_or(change.default))?)?)
}

/// The filter of a text.
fn filter(text: &str) -> Result<EnvFilter, ParseError> {
    // Spans that only traces have would hide the fields of the job's or request's span in the lines.
    Ok(text.parse::<EnvFilter>()?.add_directive(traces::SPANS_OFF.parse::<Directive>()?))
}

/// The layer that writes lines.
fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // It would panic if standard error is closed or full.
    let lines = lines.log_internal_errors(false);
    match format {
        LogFormat::Human => lines.with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).boxed(),
    }
}
