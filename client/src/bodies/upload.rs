//! The body of a reserved upload.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A recording that the caller may write to the server's bucket.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Upload))]
pub struct UploadBody {
    /// The id, for the field `upload` of one request.
    pub id: Uuid,
    /// Where the file is sent with `PUT`, with exactly the size that was reserved and without an API key. Whoever knows the URL
    /// can send the file.
    pub url: String,
    /// When the URL stops working. A request that has begun goes on.
    pub expires_at: DateTime<Utc>,
}

impl fmt::Debug for UploadBody {
    /// Leaves the URL out, because it is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, url: _, expires_at } = self;
        f.debug_struct("UploadBody").field("id", id).field("expires_at", expires_at).finish_non_exhaustive()
    }
}
