//! Why a page cannot be shown. The page that says so is in both languages, because it may come before the language is known.

use akhar_accounts::{ChangeError, KeyError};
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use maud::{DOCTYPE, html};

use crate::ui::{assets, language::Language, respond::see_other};

/// Why a request to the operations page failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nobody is signed in.
    SignedOut,
    /// The form has no valid token, so that it may come from another site. Or it cannot be read.
    Form,
    /// The operator's key may not do this.
    Forbidden,
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
        let text = |language: Language| {
            let texts = &language.text().failures;
            match self {
                Self::SignedOut | Self::Form => texts.form,
                Self::Forbidden => texts.forbidden,
                Self::NotFound => texts.not_found,
                Self::Database => texts.database,
            }
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
                        @for language in Language::ALL {
                            p lang=(language.code()) { (text(language)) }
                        }
                        p { a href="/ops" { "/ops" } }
                    }
                }
            }
        };
        (self.status(), Html(page.into_string())).into_response()
    }
}
