//! The metrics of a process: the table of them, and what exports them: a listener for Prometheus, and messages to a collector.
//!
//! The rest of the code records with the statics of the table, such as `metrics::ATTEMPTS.add_one([…])`, so a name that
//! is not in the table cannot be recorded.

mod exporter;
mod measure;
mod metric;
mod otlp;
mod push;
pub mod reference;
mod table;
mod text;

pub use exporter::{Exporter, Exports, MetricsError};
pub use measure::Measure;
pub use metric::{Counter, Gauge, Histogram, Kind};
pub use table::*;
