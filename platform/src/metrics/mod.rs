//! The metrics of a process: the table of them, and the listener that exports them.
//!
//! The rest of the code records with the constants of the table, such as `metrics::ATTEMPTS.add_one([…])`, so a name that
//! is not in the table cannot be recorded.

mod exporter;
mod metric;
pub mod reference;
mod table;

pub use exporter::{Exporter, Measure, MetricsError};
pub use metric::{Counter, Gauge, Histogram, Kind};
pub use table::*;
