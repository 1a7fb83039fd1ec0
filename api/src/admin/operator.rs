//! Who sends a request of an operator, and whether the key is one of an operator.

use akhar_accounts::Role;
use akhar_operators::Actor;
use axum::{
    extract::FromRequestParts,
    http::{Method, request::Parts},
};

use crate::{
    app::App,
    auth::caller::Caller,
    http::peer::{Peer, client},
    problems::{Problem, ProblemType},
};

/// An operator's request. One that changes something is refused if the role of the key may only look; which changes other
/// roles may make, the statements know.
#[derive(Debug)]
pub(crate) struct Operator {
    /// The operator as the audit trail names them.
    pub(crate) actor: Actor,
    _caller: Caller,
}

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        const FORBIDDEN: Problem = Problem::of(ProblemType::Forbidden);
        let caller = Caller::from_request_parts(parts, app).await?;
        let role = caller.role.ok_or(FORBIDDEN)?;
        if role == Role::View && parts.method != Method::GET && parts.method != Method::HEAD {
            return Err(FORBIDDEN);
        }
        let address = client(parts.extensions.get::<Peer>().copied(), &parts.headers, &app.proxies);
        let actor = Actor::of_key(caller.key_name.clone(), caller.key.id(), role, address);
        Ok(Self { actor, _caller: caller })
    }
}
