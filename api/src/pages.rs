//! What explains the service: `/openapi.json`, and a page for every problem type.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderName, header},
    response::{Html, IntoResponse},
};

use crate::{
    app::App,
    problems::{Problem, ProblemType, page},
};

/// Pages that load nothing.
const CSP: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);

/// `GET /openapi.json`.
pub(crate) async fn openapi(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi_json.clone())
}

/// `GET /problems`.
pub(crate) async fn problems() -> impl IntoResponse {
    ([CSP], Html(page::index()))
}

/// `GET /problems/{slug}`.
pub(crate) async fn problem(slug: Result<Path<String>, PathRejection>) -> Result<impl IntoResponse, Problem> {
    let known = slug.ok().and_then(|Path(slug)| ProblemType::from_slug(&slug));
    let problem_type = known.ok_or(Problem::of(ProblemType::NotFound))?;
    Ok(([CSP], Html(page::page(problem_type))))
}
