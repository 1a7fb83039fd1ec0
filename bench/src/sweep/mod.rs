//! Measures the cost of a request as the load grows ([`mod@clients`]) and as the jobs table grows
//! ([`mod@rows`]).

mod clients;
mod fill;
mod rows;

pub(crate) use clients::run as clients;
pub(crate) use rows::run as rows;
