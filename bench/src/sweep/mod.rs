//! Measures the cost of a request as the load grows ([`mod@clients`]) and as the jobs table grows
//! ([`mod@rows`]), and of every statement on a full table ([`mod@full_table`]).

mod clients;
mod fill;
mod full_table;
mod rows;

pub(crate) use clients::run as clients;
pub(crate) use full_table::run as full_table;
pub(crate) use rows::run as rows;
