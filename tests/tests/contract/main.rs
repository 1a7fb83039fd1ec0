//! The contract, row by row, over HTTP. A file each for what a request can be about.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

mod audit;
mod bounds;
mod browser;
mod bulk;
mod client;
mod compression;
mod deletion;
mod erasure;
mod events;
mod fields;
mod files;
mod formats;
mod groups;
mod handwriting;
mod idempotency;
mod job_list;
mod jobs;
mod keys;
mod logs;
mod metrics;
mod openai;
mod openai_clients;
mod operators;
mod ops;
mod ops_pages;
mod otlp;
mod playground;
mod protocol;
mod public_url;
mod quotas;
mod realtime;
mod realtime_translation;
mod reload;
mod retention;
mod service;
mod speech;
mod subtitles;
mod tokens;
mod top;
mod traces;
mod translate;
mod translation;
mod typescript;
mod webhooks;

use akhar_tests::images::{Fixture, fixture_of};

/// An image for each of the two recognition operations.
fn operations() -> [Fixture; 2] {
    [fixture_of("੫"), fixture_of("ਕ")]
}

/// A set of pairs of field and code.
fn violations<const N: usize>(pairs: [(&str, &str); N]) -> std::collections::BTreeSet<(String, String)> {
    pairs.map(|(field, code)| (field.to_owned(), code.to_owned())).into()
}
