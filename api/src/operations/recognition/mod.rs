//! What both recognitions of characters take and give.

pub(crate) mod body;
pub(crate) mod form;
