//! Requests that wait for jobs: those that wait for an end, and streams that follow a job; the readers of groups;
//! and jobs that are kept until their outcome is delivered.

pub(crate) mod deliveries;
pub(crate) mod follower;
pub(crate) mod group_readers;
pub(crate) mod streams;
pub(crate) mod waiters;
