//! The form that both recognition operations share.

pub(crate) mod form;
