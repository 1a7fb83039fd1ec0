//! Requests that wait for jobs: those that wait for an end, and streams that follow a job.

pub(crate) mod follower;
pub(crate) mod streams;
pub(crate) mod waiters;
