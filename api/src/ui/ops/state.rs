//! The state that requests to the operations page share.

use std::sync::Arc;

use akhar_platform::budget::Budget;
use akhar_platform::database::Pool;
use akhar_platform::networks::Networks;
use tokio_util::sync::CancellationToken;

use super::{
    attempts::LoginAttempts,
    live::{Live, MAX_PAGES},
};
use crate::auth::caller::Authenticator;

/// The state of the operations page, which is cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OpsState {
    /// The database in which operators read and change jobs.
    pub(super) database: Pool,
    /// Checks the keys of operators who sign in.
    pub(super) auth: Arc<Authenticator>,
    /// The numbers that the page shows.
    pub(super) live: Arc<Live>,
    /// The open pages that are updated.
    pub(super) open_pages: Arc<Budget<()>>,
    /// The proxies that can name the client of a request.
    pub(super) proxies: Arc<Networks>,
    /// The failed attempts to sign in.
    pub(super) login_attempts: LoginAttempts,
    /// Cancelled when the process starts to shut down.
    pub(super) draining: CancellationToken,
}

impl OpsState {
    /// The state of a page that no operator has opened yet. `proxies` can name the client of a request.
    pub(crate) fn new(auth: Arc<Authenticator>, draining: CancellationToken, proxies: Arc<Networks>) -> Self {
        Self {
            database: auth.database.clone(),
            auth,
            live: Arc::default(),
            open_pages: Budget::new(MAX_PAGES, MAX_PAGES),
            proxies,
            login_attempts: LoginAttempts::default(),
            draining,
        }
    }
}
