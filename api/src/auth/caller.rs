//! Authenticates a request by its API key or token, and limits the number of requests in a minute and in progress.

use std::{sync::Arc, time::Instant};

use akhar_accounts::{AccountWebhook, Prefix, Quotas, Role, WorkingKey, prefix_text};
use akhar_platform::budget::Budget;
use akhar_platform::database::Pool;
use axum::{
    extract::{FromRef, FromRequestParts},
    http::request::Parts,
};
use sqlx::types::Json;
use tracing::Span;
use uuid::Uuid;

use super::{
    key_cache::KeyCache,
    presented::{self, socket_key},
    rates::{Rates, WINDOW},
    scope,
};
use crate::{
    http::{
        context::RequestInfo,
        rate_limit::{RateLimit, RateLimits},
    },
    problems::{Problem, ProblemType},
};

/// The state that authentication needs.
#[derive(Debug)]
pub(crate) struct Authenticator {
    /// The database that holds the keys.
    pub(crate) database: Pool,
    /// A cache of keys.
    pub(crate) keys: KeyCache,
    /// The number of requests that the process may handle at a time, by account.
    pub(crate) requests: Arc<Budget<Uuid>>,
    /// The requests of accounts that may make only so many in a minute.
    pub(crate) rates: Rates,
}

/// The account of a request with a valid key. The request counts as one in progress until its answer is sent.
#[derive(Debug)]
pub(crate) struct Caller {
    /// `accounts.id` of the account that owns the jobs of this request.
    pub(crate) account_id: Uuid,
    /// What the account may use.
    pub(crate) quotas: Quotas,
    /// Where the ends of its jobs are announced.
    pub(crate) webhook: AccountWebhook,
    /// The key of the request.
    pub(crate) key: KeyInUse,
    /// The name of the key.
    pub(crate) key_name: String,
    /// What the key may do as an operator's. `None` if it is only a caller's.
    pub(crate) role: Option<Role>,
}

/// `accounts.id` of the account whose key a request has, for what is extracted after its caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccountOfRequest(pub(crate) Uuid);

/// The key of a request that goes on for a while.
#[derive(Debug, Clone)]
pub(crate) struct KeyInUse {
    auth: Arc<Authenticator>,
    prefix: Prefix,
    id: Uuid,
}

impl KeyInUse {
    /// `api_keys.id`.
    pub(crate) const fn id(&self) -> Uuid {
        self.id
    }

    /// Returns when the key is revoked.
    pub(crate) async fn revoked(self) {
        self.auth.keys.revoked(self.prefix, self.id).await;
    }
}

impl<S> FromRequestParts<S> for Caller
where
    Arc<Authenticator>: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        const UNAUTHORIZED: Problem = Problem::of(ProblemType::Unauthorized);
        const EXPIRED: &str = "The API key has expired. Ask the operator for a new one.";
        let auth = Arc::<Authenticator>::from_ref(state);
        let is_socket = scope::is_socket(parts);
        let key = if is_socket {
            socket_key(&parts.headers).map(|presented| presented.key)
        } else {
            presented::key(&parts.headers).or_else(|| scope::in_query(parts))
        };
        let key = key.ok_or(UNAUTHORIZED)?;
        Span::current().record("caller", prefix_text(&key.prefix));
        let working = auth.keys.find(&auth.database, &key).await?.ok_or(UNAUTHORIZED)?;
        if working.is_expired() {
            return Err(UNAUTHORIZED.with_detail(EXPIRED));
        }
        let WorkingKey { id, account_id, key_prefix, name, role, scope, quotas, webhook, .. } = working;
        if let Some(Json(scope)) = scope {
            scope::check(&scope, parts)?;
        }
        let request = parts.extensions.get::<RequestInfo>();
        let request = request.ok_or_else(|| Problem::internal("the request did not pass the middleware"))?;
        auth.count(account_id, quotas, &request.rate_limits)?;
        request.share.hold(auth.requests.take(account_id, 1).map_err(|limit| Problem::of(limit.into()))?);
        parts.extensions.insert(AccountOfRequest(account_id));
        // A socket outlives its token, but not the token's key.
        let of_key = key_prefix.as_bytes().try_into().ok().filter(|_| is_socket);
        let key = KeyInUse { auth, prefix: of_key.unwrap_or(key.prefix), id };
        Ok(Self { account_id, quotas, webhook, key, key_name: name, role })
    }
}

impl Authenticator {
    /// The requests that a process handles at a time if it may handle so many, and those of one account.
    pub(crate) const fn request_limits(n_requests: usize) -> (usize, usize) {
        (n_requests, n_requests - n_requests / 4)
    }

    /// Counts a request of this account. A problem if it has made too many in a minute.
    fn count(&self, account_id: Uuid, quotas: Quotas, limits: &RateLimits) -> Result<(), Problem> {
        let Some(per_minute) = quotas.requests_per_minute.and_then(|n| u32::try_from(n).ok()) else {
            return Ok(());
        };
        let counted = self.rates.count(account_id, per_minute, Instant::now());
        limits.add(RateLimit {
            name: "rpm",
            unit: None,
            quota: per_minute,
            window: WINDOW,
            n_left: counted.n_left,
            reset_in: counted.full_in,
        });
        let Some(retry_after) = counted.refused_for else { return Ok(()) };
        let detail = format!("Your account may make {per_minute} requests in a minute.");
        Err(Problem::quota("rpm", detail, retry_after))
    }
}
