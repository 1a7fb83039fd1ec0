//! The routes under `/v1/jobs`, one file for each, and the requests that wait for jobs.

pub(crate) mod body;
pub(crate) mod cancel;
pub(crate) mod cancelled;
mod documentation;
mod event_id;
pub(crate) mod events;
mod follower;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod result;
pub(crate) mod streams;
pub(crate) mod waiters;
