//! The name of a thing in a path.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

use crate::problems::{Problem, ProblemType};

/// The last part of a path that a caller chooses: the name of a queue or a worker, or the prefix of a key. A text that no such
/// thing can have is a 404.
#[derive(Debug)]
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(Path(name)) = Path::<String>::from_request_parts(parts, state).await else {
            return Err(Problem::of(ProblemType::NotFound));
        };
        // Postgres has no texts with this character.
        if name.contains('\0') { Err(Problem::of(ProblemType::NotFound)) } else { Ok(Self(name)) }
    }
}
