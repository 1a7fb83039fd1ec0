//! The HTTP front end: a listener and a database come in; jobs are submitted and waited for, answers go out.
//!
//! A request passes the `envelope`, proves its `caller`, is parsed once by `intake`, becomes a job in
//! `perform` and leaves through `answer`. Whatever goes wrong on the way is a `problem`.

mod accept;
mod answer;
mod app;
mod caller;
mod envelope;
mod intake;
pub mod keys;
mod leftover;
mod listen;
mod openapi;
mod patience;
mod perform;
mod prefer;
mod problem;
mod representation;
mod routes;
mod server;
mod terms;
mod waiters;

pub use openapi::openapi;
pub use server::{ServeError, serve};
