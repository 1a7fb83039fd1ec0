//! What operators may see and change. Each list, search, number and action is described once: its rows are the documents of the
//! admin API, and the operations page and the commands show the same rows.
//!
//! A change takes an [`Actor`], which refuses it or begins its entry in the audit trail, and the transaction of the change writes that
//! entry.

pub mod accounts;
pub mod audit;
pub mod changes;
pub mod erasure;
pub mod keys;
pub mod marks;
pub mod minutes;
pub mod overview;
pub mod queues;
pub mod restores;
pub mod search;
pub mod sessions;
pub mod until;
pub mod webhooks;
pub mod workers;

pub use audit::{Action, Actor, ChangeError, Forbidden};
pub use changes::Change;
pub use erasure::EraseError;
pub use keys::KeyError;
pub use search::JobSearch;
