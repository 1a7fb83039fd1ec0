//! The routes under `/v1/jobs`, one file for each.

pub(crate) mod delete;
mod event_id;
mod event_writer;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod result;
