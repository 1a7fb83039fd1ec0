//! From the queue to the end of an attempt: claimed jobs come in through apalis; attempts are made, and how
//! they end is written.

mod attempt;
mod backoff;
mod config;
mod consumer;
mod retry;

pub(crate) use attempt::Attempts;
pub(crate) use config::ConsumerConfig;
pub(crate) use consumer::Consumers;
