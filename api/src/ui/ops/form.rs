//! A form that an operator sent. A form without the token of its session is refused, since another site may have sent it. So is
//! one of an operator who may only look.

use std::time::Duration;

use akhar_accounts::Role;
use axum::{
    extract::{Form, FromRequest, FromRequestParts as _, Request},
    http::{HeaderMap, header},
};
use subtle::ConstantTimeEq as _;
use tokio::time::timeout;

use super::{failure::Failure, operator::Operator, state::OpsState};

/// The field with the token.
pub(super) const TOKEN: &str = "token";

/// How long a form may take to arrive.
const FORM_LIMIT: Duration = Duration::from_secs(10);

/// The fields of a form.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads a form, and checks that it has this token and comes from a page of this server.
    pub(super) async fn read(request: Request, token: &str) -> Result<Self, Failure> {
        if !is_same_origin(request.headers()) {
            return Err(Failure::Form);
        }
        let form = timeout(FORM_LIMIT, Form::<Vec<(String, String)>>::from_request(request, &())).await;
        let Ok(Ok(Form(fields))) = form else { return Err(Failure::Form) };
        let fields = Self(fields);
        let is_valid: bool = fields.get(TOKEN).as_bytes().ct_eq(token.as_bytes()).into();
        if is_valid { Ok(fields) } else { Err(Failure::Form) }
    }

    /// The first value of a field. Empty without the field.
    pub(super) fn get<'a>(&'a self, name: &'a str) -> &'a str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of a field.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Whether a browser sent the request from a page of this server, as far as its headers say. `Sec-Fetch-Site` decides where
/// it is present, since a proxy may change the host.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN.as_str()) else { return true };
    let host = text("x-forwarded-host").or_else(|| text(header::HOST.as_str()));
    origin.split_once("://").is_some_and(|(_, of_page)| host == Some(of_page))
}

/// A form with which an operator changes something.
#[derive(Debug)]
pub(super) struct OperatorForm {
    /// Who sent it.
    pub(super) operator: Operator,
    /// What it says.
    pub(super) fields: Fields,
}

impl FromRequest<OpsState> for OperatorForm {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &OpsState) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let operator = Operator::from_request_parts(&mut parts, state).await?;
        let fields = Fields::read(Request::from_parts(parts, body), &operator.id.form_token()).await?;
        // Which change it is, and whether the operator may make it, is found where the change is made.
        if operator.session.role == Role::View {
            return Err(Failure::Forbidden);
        }
        Ok(Self { operator, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_site_is_recognised_by_its_headers() {
        let is_ours = |headers: &[(&'static str, &str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_same_origin(&headers.collect())
        };
        let host = ("host", "akhar:8080");
        assert!(is_ours(&[host]));
        assert!(is_ours(&[host, ("origin", "http://akhar:8080")]));
        assert!(is_ours(&[host, ("x-forwarded-host", "ops.example"), ("origin", "https://ops.example")]));
        assert!(is_ours(&[host, ("sec-fetch-site", "same-origin"), ("origin", "https://ops.example")]));
        assert!(!is_ours(&[host, ("origin", "http://evil")]));
        assert!(!is_ours(&[host, ("origin", "null")]));
        assert!(!is_ours(&[host, ("sec-fetch-site", "cross-site"), ("origin", "http://akhar:8080")]));
        assert!(!is_ours(&[host, ("sec-fetch-site", "same-site")]));
    }
}
