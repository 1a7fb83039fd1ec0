//! The routes under `/v1/groups`, one file for each.

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
