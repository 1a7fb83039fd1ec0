//! Webhooks: announces the ends of jobs and groups to the URLs that their callers chose, as
//! <https://www.standardwebhooks.com> defines it.
//!
//! The statement that ends a job writes a delivery. Every api process leases due deliveries (`store`, `deliver`) and attempts
//! them (`attempt`): it gets the body from the api ([`Bodies`]), signs it (`secret`) and sends it (`sender`) to an address that
//! the rules allow (`caller_urls`). A delivery whose attempt failed is due again later (`schedule`). `running` limits the attempts
//! at a time.

mod account;
mod attempt;
mod caller_urls;
mod deliver;
mod running;
mod schedule;
mod secret;
mod sender;
pub mod store;

pub use account::{UrlChange, WebhookChange, set, signing_secrets};
pub use attempt::{Bodies, Body, Failure, RESULTS};
pub use caller_urls::{CallerUrl, CallerUrlError, MAX_URL_BYTES, UrlRules};
pub use deliver::{Deliver, deliver};
pub use secret::WebhookSecret;
