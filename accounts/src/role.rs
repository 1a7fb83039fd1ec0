//! What the keys of operators may do.

/// What the key of an operator may do. Each role may do what the ones before it may. The names are stored in rows: never
/// rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Role {
    /// Read pages and lists.
    View,
    /// Change queues, workers, jobs and webhook deliveries.
    Operate,
    /// Change keys and accounts.
    Admin,
}

impl Role {
    /// Every role, the one that may do least first.
    pub const ALL: [Self; 3] = [Self::View, Self::Operate, Self::Admin];

    /// The name in rows, lists and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }
}
