//! `GET /language/{code}`: remembers which language was chosen for the playground and `/docs`.

use axum::{
    extract::Path,
    http::{HeaderMap, header},
    response::Response,
};
use serde::Deserialize;

use super::{
    cookies::set_cookie,
    language::{CHOSEN, Language},
    query::Parameters,
    respond::see_other,
};
use crate::problems::{Problem, ProblemType};

/// How long the choice is kept, seconds.
const CHOICE_S: u64 = 365 * 24 * 3600;

/// The page to return to.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Return {
    to: Option<String>,
}

/// Remembers the choice, and returns to the page.
pub(super) async fn handle(
    Path(code): Path<String>,
    Parameters(back): Parameters<Return>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let language = Language::from_code(&code).ok_or(Problem::of(ProblemType::NotFound))?;
    let to = back.to.filter(|to| is_page(to)).unwrap_or_else(|| "/".to_owned());
    let mut response = see_other(&to);
    if let Some(cookie) = set_cookie(&headers, "/", CHOSEN, language.code(), CHOICE_S) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Whether this is a path of this server, and so not of another one.
pub(super) fn is_page(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| !rest.starts_with('/'))
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_pages_are_returned_to() {
        for page in ["/", "/docs", "/ops/jobs?state=failed", "/ops?done=1"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["", "//evil", "ops", "https://evil/ops", "/\\evil", "/ops/a b", "/ops\r\nx"] {
            assert!(!is_page(other), "{other}");
        }
    }
}
