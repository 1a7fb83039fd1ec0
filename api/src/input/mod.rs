//! Parses and checks the bodies and query strings of requests. All violations of a request are reported together.
//!
//! A request's [`fields::Fields`] are described once. `json`, `multipart` and `query` read what was sent into
//! [`values::Values`], from which each [`field::Field`] takes its value.

pub(crate) mod body;
pub(crate) mod caller_url;
pub(crate) mod field;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod multipart;
pub(crate) mod names;
mod parts;
pub(crate) mod query;
pub(crate) mod source;
pub(crate) mod value;
pub(crate) mod values;
