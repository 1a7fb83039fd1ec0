//! The documents about groups of jobs.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A group, with the number of its jobs in each state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Group))]
pub struct GroupBody {
    /// The group's name, as in `Akhar-Group`.
    pub name: String,
    /// Whether all jobs have ended. A new job opens the group again.
    pub has_ended: bool,
    /// The number of jobs that wait.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub queued: i64,
    /// The number of jobs that run.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub running: i64,
    /// The number of jobs that have succeeded.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub succeeded: i64,
    /// The number of jobs that have failed.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub failed: i64,
    /// The number of jobs that were cancelled.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub cancelled: i64,
    /// When the first of the jobs was accepted.
    pub created_at: DateTime<Utc>,
    /// When one of the jobs last ended.
    pub last_ended_at: Option<DateTime<Utc>>,
}

/// A list of groups.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Groups))]
pub struct GroupsBody {
    /// The groups, in the order of their names.
    pub groups: Vec<GroupBody>,
    /// The value of `after` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<String>,
}
