//! Requests that wait for jobs: those that wait for an end, and streams that follow a job or a group; the readers of groups;
//! and jobs that are kept until their outcome is delivered.

pub(crate) mod deliveries;
pub(crate) mod followed_job;
pub(crate) mod follower;
pub(crate) mod group_readers;
pub(crate) mod streams;
pub(crate) mod waiters;
