//! Who is signed in: reads the session's cookie, and writes it.

use akhar_operators::{
    Action, Actor,
    sessions::{self, MAX_AGE, OpsSession, SessionId},
};
use akhar_platform::database::retry_transient;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, request::Parts},
};
use tracing::Span;

use super::{failure::Failure, state::OpsState};
use crate::{
    http::peer::{Peer, client},
    ui::cookies::{cookie, set_cookie},
};

/// The cookie of a session.
pub(super) const SESSION: &str = "akhar_ops";

/// A request of an operator who is signed in.
#[derive(Debug)]
pub(super) struct Operator {
    /// The session's id.
    pub(super) id: SessionId,
    /// The session.
    pub(super) session: OpsSession,
    /// The operator as the audit trail names the one who makes a change.
    pub(super) actor: Actor,
    /// The path of the page with its query.
    pub(super) path: String,
}

impl Operator {
    /// Whether the operator may do this. Pages have no button for anything else.
    pub(super) fn may(&self, action: Action) -> bool {
        self.session.role >= action.role()
    }
}

impl FromRequestParts<OpsState> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &OpsState) -> Result<Self, Failure> {
        let id = cookie(&parts.headers, SESSION).and_then(SessionId::parse).ok_or(Failure::SignedOut)?;
        let session = retry_transient(|_| sessions::find(&state.database, &id)).await?;
        let session = session.ok_or(Failure::SignedOut)?;
        Span::current().record("caller", &session.prefix);
        let path = parts.uri.path_and_query().map_or("/ops", |path| path.as_str()).to_owned();
        let address = client(parts.extensions.get::<Peer>().copied(), &parts.headers, &state.proxies);
        let actor = Actor::of_key(session.name.clone(), session.key_id, session.role, address);
        Ok(Self { id, session, actor, path })
    }
}

/// The cookie of a new session.
pub(super) fn session_cookie(request: &HeaderMap, id: &SessionId) -> Option<HeaderValue> {
    set_cookie(request, "/ops", SESSION, id.expose(), MAX_AGE.as_secs())
}
