//! What a recording says.

pub(crate) mod body;
pub(crate) mod form;
pub(crate) mod route;
