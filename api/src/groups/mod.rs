//! The routes under `/v1/groups`, one file for each.

mod counts;
pub(crate) mod delete;
pub(crate) mod events;
mod follower;
pub(crate) mod get;
pub(crate) mod list;
