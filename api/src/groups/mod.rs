//! The routes under `/v1/groups`, one file for each.

mod counts;
pub(crate) mod delete;
pub(crate) mod events;
mod followed_group;
pub(crate) mod get;
pub(crate) mod list;
