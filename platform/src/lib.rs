//! What every process needs: configuration, logging, database connections and shutdown. Only this crate reads
//! environment variables. There is no clock here: times come from Postgres's `now()`, so all processes share one
//! clock.

pub mod config;
pub mod database;
pub mod open_files;
pub mod shutdown;
pub mod telemetry;
