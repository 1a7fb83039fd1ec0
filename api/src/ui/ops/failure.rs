//! Why a page cannot be shown.

use akhar_operators::{ChangeError, KeyError};
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use maud::{DOCTYPE, html};

use crate::ui::{assets, respond::see_other};

/// Why a request to the operations page failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nobody is signed in.
    SignedOut,
    /// The form has no valid token, so that it may come from another site. Or it cannot be read.
    Form,
    /// The operator's key may not do this.
    Forbidden,
    /// What was entered in a field cannot be used. Holds what is expected.
    Field(String),
    /// There is no such page or job.
    NotFound,
    /// The database cannot be reached, or a statement failed.
    Database,
}

impl From<sqlx::Error> for Failure {
    fn from(cause: sqlx::Error) -> Self {
        tracing::error!(%cause, "the operations page cannot use the database");
        Self::Database
    }
}

impl From<KeyError> for Failure {
    fn from(cause: KeyError) -> Self {
        match cause {
            KeyError::Database(cause) => cause.into(),
            KeyError::Forbidden(_) => Self::Forbidden,
            _ => Self::NotFound,
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(cause: ChangeError) -> Self {
        match cause {
            ChangeError::Database(cause) => cause.into(),
            ChangeError::Forbidden(_) => Self::Forbidden,
        }
    }
}

impl Failure {
    const fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::SEE_OTHER,
            Self::Form | Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Field(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Database => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if matches!(self, Self::SignedOut) {
            return see_other("/ops/login");
        }
        let text = match &self {
            Self::Field(expected) => &format!("Nothing was changed: {expected}. Go back and try again."),
            Self::SignedOut | Self::Form => {
                "The form does not belong to this session, or cannot be read. Nothing was changed. Go back, reload the page and try again."
            }
            Self::Forbidden => {
                "Your key may not do this. Nothing was changed. An operator whose key has a higher role can do it."
            }
            Self::NotFound => "There is no such page, job or key. A job is deleted some time after its end.",
            Self::Database => "The database cannot be reached, or a query failed. The log has the cause.",
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { "Akhar" }
                    link rel="stylesheet" href=(assets::path("base.css"));
                    link rel="stylesheet" href=(assets::path("ops.css"));
                }
                body.alone {
                    main {
                        h1 { (self.status().as_u16()) }
                        p { (text) }
                        p { a href="/ops" { "/ops" } }
                    }
                }
            }
        };
        (self.status(), Html(page.into_string())).into_response()
    }
}
