//! What callers get of jobs: the outcome in each representation, and the document about a job.

pub(crate) mod body;
pub(crate) mod cancelled;
pub(crate) mod document;
pub(crate) mod response;
pub(crate) mod warnings;
