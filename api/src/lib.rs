//! The HTTP front end: a listener and a database come in; jobs are submitted and waited for, answers go out.
//!
//! A request passes the middleware of `http`, is authenticated by `auth`, parsed once by `input`, and becomes a job
//! in `operations::run`, which answers it. Errors become `problems`.

mod app;
mod auth;
mod health;
mod http;
mod input;
mod jobs;
mod listen;
mod openapi;
mod operations;
mod pages;
mod problems;
pub mod reference;
mod retry;
mod router;
mod server;

pub use openapi::openapi;
pub use server::{ServeError, serve};
