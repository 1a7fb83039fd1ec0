//! Pages of the reference that are made from this crate: its problem types and its OpenAPI document become Markdown.

mod http;
mod problems;

pub use self::{http::http, problems::problems};
