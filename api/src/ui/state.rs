//! The state that all pages share.

use std::sync::Arc;

use akhar_platform::networks::Networks;
use tokio_util::sync::CancellationToken;

use super::{ops::OpsState, playground::DemoKey};
use crate::auth::caller::Authenticator;

/// The state of the pages, which is cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct PageState {
    pub(super) ops: OpsState,
    pub(super) demo_key: DemoKey,
}

impl PageState {
    /// Pages on which operators sign in with `auth`, and of which the playground gets `demo_key` once. Their streams
    /// end when `draining` is cancelled. `proxies` can name the client of a request.
    pub(crate) fn new(
        auth: Arc<Authenticator>,
        draining: CancellationToken,
        proxies: Arc<Networks>,
        demo_key: DemoKey,
    ) -> Self {
        Self { ops: OpsState::new(auth, draining, proxies), demo_key }
    }
}
