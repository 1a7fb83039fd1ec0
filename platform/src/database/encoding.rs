//! The encoding of the database. Texts are in any script, so only UTF-8 will do. A database keeps the encoding that it was created
//! with.

use sqlx::{PgConnection, Row as _};

/// The encoding of the database is another one. Holds its name.
#[derive(Debug, thiserror::Error)]
#[error("the encoding of the database is {0}, which has no letters of Panjabi")]
pub(super) struct WrongEncoding(String);

/// Fails with [`WrongEncoding`] in a [`sqlx::Error::Configuration`].
pub(super) async fn check(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    // Without a prepared statement, which an old pooler does not keep.
    let encoding: String = sqlx::raw_sql("show server_encoding").fetch_one(db).await?.try_get(0)?;
    if encoding == "UTF8" { Ok(()) } else { Err(sqlx::Error::Configuration(WrongEncoding(encoding).into())) }
}
