//! From the queue to an attempt: wake-ups and jobs come in; attempts are made, and their ends written.

pub(crate) mod attempt;
pub(crate) mod in_hand;
pub(crate) mod queue;
pub(crate) mod wakeup;
