//! Parses and checks the bodies and query strings of requests. All violations of a request are reported together.

mod body;
pub(crate) mod choice;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod multipart;
pub(crate) mod object;
pub(crate) mod panjabi_text;
pub(crate) mod query;
pub(crate) mod sniff;
pub(crate) mod whole_number;
