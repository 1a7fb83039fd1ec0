//! The operation `translation`: translates a text.

pub(crate) mod form;
pub(crate) mod route;
