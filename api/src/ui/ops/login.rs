//! `/ops/login` and `/ops/logout`: an operator signs in with a key, and out.

use akhar_accounts::{PresentedKey, prefix_text};
use akhar_operators::sessions::{self, SessionId};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use maud::html;

use super::{
    attempts,
    failure::Failure,
    form::{Fields, TOKEN},
    layout,
    operator::{Operator, SESSION, session_cookie},
    state::OpsState,
};
use crate::http::peer::{Peer, client, network};
use crate::ui::{
    cookies::{cookie, set_cookie},
    respond::see_other,
};

/// The cookie that belongs to the form for signing in, so that no other site can send it.
const FORM: &str = "akhar_ops_login";

/// How long that form can be sent, seconds.
const FORM_S: u64 = 3600;

/// Why a key was refused.
#[derive(Debug, Clone, Copy)]
enum Refusal {
    /// It is not a working key of an operator.
    Key,
    /// The form is too old, or cookies are off.
    Form,
    /// Too many attempts.
    Attempts,
}

/// `GET /ops/login`.
pub(super) async fn form(headers: HeaderMap) -> Response {
    show(&headers, None)
}

fn show(headers: &HeaderMap, refusal: Option<Refusal>) -> Response {
    let id = cookie(headers, FORM).and_then(SessionId::parse).unwrap_or_else(SessionId::random);
    let error = refusal.map(|refusal| match refusal {
        Refusal::Key => "This is not a working key of an operator.",
        Refusal::Form => "The form is too old, or the browser accepts no cookies. Send it again.",
        Refusal::Attempts => "Too many attempts. Wait a minute and try again.",
    });
    let content = html! {
        main.login {
            p.brand { span aria-hidden="true" lang="pa" { "ਅ" } " Akhar" }
            h1 { "Sign in" }
            @if let Some(error) = error { p.error #error role="alert" { (error) } }
            form method="post" action="/ops/login" {
                input type="hidden" name=(TOKEN) value=(id.form_token());
                label for="key" { "Operator’s key" }
                input #key type="password" name="key" required autocomplete="current-password" autocapitalize="none"
                    spellcheck="false" aria-describedby={ "hint" (error.map_or("", |_| " error")) }
                    aria-invalid=[error.map(|_| "true")];
                p.hint #hint { "An operator’s key is made with " code { "akhar keys create --role view --name …" } }
                button { "Sign in" }
            }
        }
        (layout::footer())
    };
    let mut response = layout::respond("Sign in", &content);
    *response.status_mut() = match refusal {
        None => StatusCode::OK,
        Some(Refusal::Key | Refusal::Form) => StatusCode::FORBIDDEN,
        Some(Refusal::Attempts) => StatusCode::TOO_MANY_REQUESTS,
    };
    let headers_out = response.headers_mut();
    if let Some(cookie) = set_cookie(headers, "/ops", FORM, id.expose(), FORM_S) {
        headers_out.append(header::SET_COOKIE, cookie);
    }
    if matches!(refusal, Some(Refusal::Attempts)) {
        headers_out.insert(header::RETRY_AFTER, attempts::PAUSE.as_secs().into());
    }
    response
}

/// `POST /ops/login`: begins a session if the key is an operator's.
pub(super) async fn enter(State(state): State<OpsState>, request: Request) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let client = client(request.extensions().get::<Peer>().copied(), &headers, &state.proxies).map(network);
    if !state.login_attempts.may_try(client) {
        return Ok(show(&headers, Some(Refusal::Attempts)));
    }
    let Some(id) = cookie(&headers, FORM).and_then(SessionId::parse) else {
        return Ok(show(&headers, Some(Refusal::Form)));
    };
    let Ok(fields) = Fields::read(request, &id.form_token()).await else {
        return Ok(show(&headers, Some(Refusal::Form)));
    };
    let Some(presented) = PresentedKey::parse(fields.get("key").trim()) else {
        state.login_attempts.failed(client);
        return Ok(show(&headers, Some(Refusal::Key)));
    };
    let found = state.auth.keys.find(&state.database, &presented).await.map_err(|_| Failure::Database)?;
    let Some(key) = found.filter(|key| key.role.is_some() && !key.is_expired()) else {
        state.login_attempts.failed(client);
        tracing::warn!(key = prefix_text(&presented.prefix), "refused to sign in to the operations page");
        return Ok(show(&headers, Some(Refusal::Key)));
    };
    let session = SessionId::random();
    sessions::begin(&state.database, &session, key.id).await?;
    tracing::info!(key = prefix_text(&presented.prefix), "signed in to the operations page");
    let mut response = see_other("/ops");
    let cookies = [session_cookie(&headers, &session), set_cookie(&headers, "/ops", FORM, "", 0)];
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `POST /ops/logout`: ends the session.
pub(super) async fn leave(
    State(state): State<OpsState>,
    operator: Operator,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    Fields::read(request, &operator.id.form_token()).await?;
    sessions::end(&state.database, &operator.id).await?;
    let gone = set_cookie(&headers, "/ops", SESSION, "", 0).map(|cookie| [(header::SET_COOKIE, cookie)]);
    Ok((gone, see_other("/ops/login")).into_response())
}
