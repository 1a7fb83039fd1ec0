//! Pages about the service: `/openapi.json`, and a page for each problem type.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderName, header},
    response::{Html, IntoResponse},
};

use bytes::Bytes;

use crate::problems::{Problem, ProblemType, page};

/// The content security policy of pages that load no other resources.
const CSP: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);

/// A response with a JSON document.
pub(crate) fn json(document: Bytes) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], document)
}

/// `GET /problems`: the list of all problem types.
pub(crate) async fn problems() -> impl IntoResponse {
    ([CSP], Html(page::index()))
}

/// `GET /problems/{slug}`: the page of a problem type.
pub(crate) async fn problem(slug: Result<Path<String>, PathRejection>) -> Result<impl IntoResponse, Problem> {
    let known = slug.ok().and_then(|Path(slug)| ProblemType::from_slug(&slug));
    let problem_type = known.ok_or(Problem::of(ProblemType::NotFound))?;
    Ok(([CSP], Html(page::page(problem_type))))
}
