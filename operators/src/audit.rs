//! All SQL on the audit trail: who changed what, when and from where. Every change of an operator takes an [`Actor`], which
//! refuses it or gives an [`Entry`], and writes that entry in its own transaction.

use std::net::IpAddr;

use akhar_accounts::Role;
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

/// The most characters of a target that are kept.
const MAX_TARGET: usize = 500;
/// The name of the service as an actor. That of a user who runs a command has an `@`.
const SERVICE: &str = "akhar";

macro_rules! actions {
    ($(#[doc = $doc:literal] $name:ident: $stored:literal, $role:ident;)+) => {
        /// What an operator can do. The names are stored in rows: never rename one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action { $(#[doc = $doc] $name,)+ }

        impl Action {
            /// Every action.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name in rows and lists.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $stored),+ }
            }

            /// The least role that may do it.
            pub const fn role(self) -> Role {
                match self { $(Self::$name => Role::$role),+ }
            }
        }
    };
}

actions! {
    /// Start no more jobs of a queue.
    QueuePause: "queue.pause", Operate;
    /// Accept no more jobs of a queue.
    QueueDrain: "queue.drain", Operate;
    /// Accept and start jobs of a queue again.
    QueueResume: "queue.resume", Operate;
    /// Make a worker claim no more jobs.
    WorkerDrain: "worker.drain", Operate;
    /// Make a worker claim jobs again.
    WorkerResume: "worker.resume", Operate;
    /// Return failed jobs to their queues.
    JobsRetry: "jobs.retry", Operate;
    /// Cancel jobs.
    JobsCancel: "jobs.cancel", Operate;
    /// Delete jobs.
    JobsPurge: "jobs.purge", Operate;
    /// Send webhooks again.
    WebhooksRedeliver: "webhooks.redeliver", Operate;
    /// Keep a restored database quiet.
    DatabaseQuiet: "database.quiet", Operate;
    /// Let a restored database go on.
    DatabaseGo: "database.go", Operate;
    /// Create an account with a key.
    KeyCreate: "key.create", Admin;
    /// Change the quotas of an account.
    KeyLimit: "key.limit", Admin;
    /// Change the webhook of an account, or see its secret.
    KeyWebhook: "key.webhook", Admin;
    /// Replace a key with a new one.
    KeyRotate: "key.rotate", Admin;
    /// Change when a key expires.
    KeyExpire: "key.expire", Admin;
    /// Revoke a key.
    KeyRevoke: "key.revoke", Admin;
    /// Erase an account with all that is kept of it. The function `is_erased` of the database knows this name.
    AccountErase: "account.erase", Admin;
}

impl Action {
    /// The action with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// Who makes a change, and from where.
#[derive(Debug, Clone)]
pub struct Actor {
    name: String,
    key_id: Option<Uuid>,
    address: Option<IpAddr>,
    role: Role,
}

impl Actor {
    /// The owner of an operator's key, whose request came from this address.
    pub const fn of_key(name: String, key_id: Uuid, role: Role, address: Option<IpAddr>) -> Self {
        Self { name, key_id: Some(key_id), address, role }
    }

    /// A user of a machine who ran a command, such as `asha@db1`. The command has the database, so it may do everything.
    pub const fn of_command(user: String) -> Self {
        Self { name: user, key_id: None, address: None, role: Role::Admin }
    }

    /// Begins an action, if the actor may do it.
    pub fn begin(&self, action: Action) -> Result<Entry, Forbidden> {
        if self.role < action.role() {
            return Err(Forbidden { role: self.role, needed: action.role() });
        }
        Ok(Entry { id: Uuid::now_v7(), actor: self.clone(), action })
    }
}

/// A key may not do this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key with the role {} may not do this: it needs the role {}", .role.name(), .needed.name())]
pub struct Forbidden {
    /// The role of the key.
    pub role: Role,
    /// The least role that may do it.
    pub needed: Role,
}

/// Why an operator's change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The operator may not make it.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// A statement failed, or the connection was lost.
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
}

/// The audit of one action, which the actor may do.
#[derive(Debug, Clone)]
pub struct Entry {
    id: Uuid,
    actor: Actor,
    action: Action,
}

impl Entry {
    /// The entry of what the service does by itself, because an operator has said that it should do it now.
    pub(crate) fn of_service(action: Action) -> Self {
        Self { id: Uuid::now_v7(), actor: Actor::of_command(SERVICE.to_owned()), action }
    }

    /// Records that the action has changed `n` of its targets, in the transaction of that change. An action of several
    /// transactions has one row, with the sum. What changes nothing leaves no row.
    pub async fn record(
        &self,
        transaction: &mut PgConnection,
        target: &str,
        n: usize,
    ) -> Result<(), sqlx::Error> {
        if n == 0 {
            return Ok(());
        }
        sqlx::query(
            "insert into audit (id, action, target, n_changed, actor, key_id, address) values ($1, $2, $3, $4, $5, $6, $7)
             on conflict (id) do update set n_changed = audit.n_changed + excluded.n_changed",
        )
        .bind(self.id)
        .bind(self.action.name())
        .bind(target.chars().take(MAX_TARGET).collect::<String>())
        .bind(i64::try_from(n).unwrap_or(i64::MAX))
        .bind(&self.actor.name)
        .bind(self.actor.key_id)
        .bind(self.actor.address.map(|address| address.to_string()))
        .execute(transaction)
        .await?;
        Ok(())
    }
}

/// A change that an operator made.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminAuditRow)]
pub struct AuditRow {
    /// The id of the row.
    pub id: Uuid,
    /// When the change began.
    pub at: DateTime<Utc>,
    /// What was done, such as `queue.pause`.
    pub action: String,
    /// On what.
    pub target: String,
    /// How many of them were changed.
    pub n_changed: i64,
    /// The name of the operator's key, or the user who ran the command.
    pub actor: String,
    /// The prefix of that key. `null` for a command.
    pub key_prefix: Option<String>,
    /// Where the request came from. `null` for a command.
    pub address: Option<String>,
}

impl AuditRow {
    /// Where the change came from, for people.
    pub fn origin(&self) -> &str {
        match &self.address {
            Some(address) => address,
            None if self.key_prefix.is_none() && self.actor == SERVICE => "the service",
            None => "command line",
        }
    }
}

/// Which rows are meant. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// What was done.
    pub action: Option<Action>,
    /// Who did it: the name of the operator's key, its prefix, or the user who ran the command.
    pub actor: Option<String>,
    /// Only rows before this one.
    pub before: Option<Uuid>,
}

/// At most `limit` rows, the newest first.
pub async fn list(db: &Pool, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditRow>, sqlx::Error> {
    sqlx::query_as(
        "select t.id, t.at, t.action, t.target, t.n_changed, t.actor, k.prefix as key_prefix, t.address
         from audit t left join api_keys k on k.id = t.key_id
         where ($1::text is null or t.action = $1) and ($2::text is null or t.actor = $2 or k.prefix = $2)
             and ($3::uuid is null or t.id < $3)
         order by t.id desc limit $4",
    )
    .bind(filter.action.map(Action::name))
    .bind(&filter.actor)
    .bind(filter.before)
    .bind(limit)
    .fetch_all(db)
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_may_do_what_the_role_may_and_nothing_else() {
        for role in Role::ALL {
            let actor = Actor::of_key("a".to_owned(), Uuid::nil(), role, None);
            for action in Action::ALL {
                assert_eq!(actor.begin(*action).is_ok(), action.role() <= role, "{role:?} {action:?}");
            }
            assert_eq!(Action::ALL.iter().all(|action| action.role() > role), role == Role::View);
        }
    }

    #[test]
    fn every_action_is_found_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.name()), Some(*action));
        }
        assert_eq!(Action::from_name("queue"), None);
    }
}
