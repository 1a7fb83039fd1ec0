//! Who calls: an Authorization header comes in, a caller with a place among the requests held goes out.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Span;
use uuid::Uuid;

use crate::{
    app::App,
    keys::{PresentedKey, prefix_text},
    problems::{Problem, ProblemType},
};

/// A caller whose key is proven. As long as it lives, it holds one of the process's places.
#[derive(Debug)]
pub(crate) struct Caller {
    /// `api_keys.id`.
    pub(crate) id: Uuid,
    _place: OwnedSemaphorePermit,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        const UNAUTHORIZED: Problem = Problem::of(ProblemType::Unauthorized);
        let key = presented(&parts.headers).ok_or(UNAUTHORIZED)?;
        let id = app.keys.caller(&app.database.durable, &key).await?.ok_or(UNAUTHORIZED)?;
        Span::current().record("caller", prefix_text(&key.prefix));
        let place = app.permits.clone().try_acquire_owned().map_err(|_| Problem::of(ProblemType::Busy))?;
        Ok(Self { id, _place: place })
    }
}

/// The key in the one Authorization header, if it has a key's form.
fn presented(headers: &HeaderMap) -> Option<PresentedKey> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| PresentedKey::parse(key.trim_matches(' ')))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_bearer_key_of_the_right_form_is_presented() {
        let key = format!("ak_AAAAAAAA_{}", "b".repeat(43));
        let presents = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::AUTHORIZATION, (*line).try_into().unwrap());
            }
            presented(&headers).is_some()
        };
        let bearer = format!("Bearer {key}");
        assert!(presents(&[bearer.as_bytes()]));
        assert!(presents(&[format!("bearer  {key}").as_bytes()]));
        assert!(!presents(&[bearer.as_bytes(), bearer.as_bytes()]));
        for odd in [&b""[..], b"Bearer", b"Bearer ", b"Bearer x", b"\xff\xfe", key.as_bytes(), b"Basic YTpi"]
        {
            assert!(!presents(&[odd]), "{odd:?}");
        }
        assert!(!presents(&[format!("Basic {key}").as_bytes()]));
        assert!(!presents(&[]));
    }
}
