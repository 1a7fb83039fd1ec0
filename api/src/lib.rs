//! The HTTP server: checks requests, submits them as jobs, waits for the outcomes and sends responses.
//!
//! A request passes the middleware of `http`, is authenticated by `auth` and parsed by `input`. `operations::run`
//! submits it as a job and builds the response. Errors become `problems`.

mod admin;
mod app;
mod auth;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod groups;
#[cfg(test)]
mod hang_ups;
mod health;
mod http;
mod input;
mod jobs;
mod listen;
mod measure;
mod openai;
mod openapi;
mod operations;
mod outcomes;
mod page;
mod problems;
mod readiness;
mod realtime;
pub mod reference;
mod router;
mod server;
mod stored;
mod tokens;
mod ui;
mod uploads;
mod waiting;
mod webhooks;

pub use openapi::{openapi, openapi_json};
pub use server::{ServeError, serve};
pub use ui::playground::DemoKey;
