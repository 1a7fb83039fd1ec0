//! Process plumbing: the environment comes in once, here; configuration, telemetry, database pools and
//! the order to stop come out. Time has no module: it is Postgres's `now()`, one clock for all processes.

pub mod config;
pub mod database;
pub mod shutdown;
pub mod telemetry;
