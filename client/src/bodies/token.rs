//! The body of a new token.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A short-lived token, with which a web page uses one operation.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Token))]
pub struct TokenBody {
    /// The token, for `Authorization: Bearer` in place of a key, and for the parameter `token` of a stream of events. This
    /// is its only copy.
    pub token: String,
    /// When it stops working.
    pub expires_at: DateTime<Utc>,
}

impl fmt::Debug for TokenBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenBody").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
