//! Jobs as their callers see them: one file for each thing that can be asked of a job.

pub(crate) mod body;
pub(crate) mod cancel;
mod documentation;
pub(crate) mod get;
pub(crate) mod result;
pub(crate) mod waiters;
