//! Parsing and checking requests: a request comes in; fields within their bounds, or every violation, go out.

mod body;
pub(crate) mod choice;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod multipart;
pub(crate) mod object;
pub(crate) mod panjabi_text;
pub(crate) mod query;
pub(crate) mod sniff;
pub(crate) mod whole_number;
