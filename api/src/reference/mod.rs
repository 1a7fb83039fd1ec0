//! Generates the reference pages about problem types and HTTP paths, in Markdown.

mod http;
mod problems;

pub use self::{http::http, problems::problems};
