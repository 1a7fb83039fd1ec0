//! From the queue to the end of an attempt: claimed jobs come in through apalis; attempts are made, and how
//! they end is written.

mod attempt;
mod backoff;
mod consumer;
mod retry;

pub(crate) use attempt::Attempts;
pub(crate) use consumer::{ConsumerConfig, Consumers};
