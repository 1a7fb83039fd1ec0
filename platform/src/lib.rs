//! What every process needs: configuration, logs, traces, metrics, database connections and shutdown. Only this crate reads
//! environment variables. There is no clock here: times come from Postgres's `now()`, so all processes share one
//! clock.

pub mod blocking;
pub mod budget;
pub mod checked_client;
pub mod config;
pub mod database;
pub mod host;
pub mod http_client;
mod installation;
pub mod metrics;
pub mod networks;
pub mod open_files;
pub mod origins;
pub mod pace;
pub mod public_url;
pub mod reload;
pub mod shutdown;
pub mod supervisor;
pub mod telemetry;
pub mod text;
