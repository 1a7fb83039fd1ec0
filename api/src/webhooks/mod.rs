//! Sends webhooks: announces the ends of jobs to the URLs that their callers chose, as
//! <https://www.standardwebhooks.com> defines it.
//!
//! The statement that ends a job writes a delivery. Every api process leases due deliveries (`deliver`) and attempts them
//! (`attempt`): it builds the body (`event`), signs it and sends it (`sender`). A delivery whose attempt failed is due
//! again later (`schedule`). `running` limits the attempts at a time.

mod attempt;
mod deliver;
mod event;
mod running;
mod schedule;
mod sender;

pub(crate) use attempt::RESULTS;
pub(crate) use deliver::deliver;
