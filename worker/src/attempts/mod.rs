//! Takes claimed jobs from apalis, runs an attempt at each, and writes how the attempt ended.

mod attempt;
mod backoff;
mod config;
mod consumer;
mod download;
mod report;
mod retry;
mod temporary_file;
mod upload;

pub(crate) use attempt::Attempts;
pub(crate) use config::ConsumerConfig;
pub(crate) use consumer::Consumers;
pub(crate) use download::Downloads;
