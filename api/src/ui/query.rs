//! The parameters of a page. A page with invalid ones is shown as without them, since nothing is changed by reading it.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

/// Parameters in the query.
#[derive(Debug)]
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(Query::try_from_uri(&parts.uri).map(|query| query.0).unwrap_or_default()))
    }
}
