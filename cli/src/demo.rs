//! A first key, so that a new user's first request works: made once, shown with a line to paste.

use std::{
    fs::OpenOptions,
    io::Write as _,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use akhar_accounts::keys;
use sqlx::PgPool;

use crate::failure::Failure;

/// An image that comes with the source.
const EXAMPLE: &str = "tests/fixtures/images/digit-5.png";

/// The demo key, if there is one to show: made now because the database has no key at all, or kept
/// beside the private database from an earlier start and still working.
pub(crate) async fn key(db: &PgPool, data_dir: Option<&Path>) -> Result<Option<String>, Failure> {
    let kept: Option<PathBuf> = data_dir.map(|dir| dir.join("demo-key"));
    if keys::any(db).await? {
        let Some(key) = kept.and_then(|path| std::fs::read_to_string(path).ok()) else { return Ok(None) };
        let key = key.trim().to_owned();
        let works = keys::list(db).await?.iter().any(|k| k.revoked_at.is_none() && key.contains(&k.prefix));
        return Ok(works.then_some(key));
    }
    let (_, key) = keys::create(db, "demo").await?;
    if let Some(path) = kept {
        let secret = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = secret.and_then(|mut file| writeln!(file, "{}", key.expose()));
        written.map_err(Failure::io(path.display().to_string()))?;
    }
    Ok(Some(key.expose().to_owned()))
}

/// Prints the key and a request that works when pasted.
pub(crate) fn print(key: &str, address: SocketAddr) {
    println!("\nAkhar is ready. Demo key: {key}\nTry it:\n");
    println!("  curl http://{address}/v1/models/digit-recognition \\");
    println!("    -H 'Authorization: Bearer {key}' -F file=@{EXAMPLE}\n");
}
