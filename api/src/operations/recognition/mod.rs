//! The form and the response that both recognition operations share.

pub(crate) mod body;
pub(crate) mod form;
