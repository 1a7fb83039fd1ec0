//! The documents against the product: pages that are made from code are current, and commands in pages print what the
//! page says. `docs/src/contributing/style.md` says how a page writes commands.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

mod answer;
mod commands;
mod excerpts;
mod page;
mod reference;
mod schema;
mod shell;
mod troubleshooting;
