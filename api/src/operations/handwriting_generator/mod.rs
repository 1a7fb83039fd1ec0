//! Text as handwriting.

pub(crate) mod body;
pub(crate) mod form;
pub(crate) mod route;
mod schema;
