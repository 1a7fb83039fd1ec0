//! The demo key: a first API key that `akhar serve` creates, and prints with a request to paste.

use std::{
    fs::OpenOptions,
    io::Write as _,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use akhar_accounts::{Quotas, keys};
use sqlx::PgPool;

use crate::{failure::Failure, output};

/// The image of the printed request, which is part of the source code.
const EXAMPLE: &str = "tests/fixtures/images/digit-5.png";

/// Returns the demo key. Creates it if the database has no keys. With a private database the key is kept in
/// `data_dir`, and is returned again as long as it is not revoked. Returns `None` if there is no demo key to print.
pub(crate) async fn key(db: &PgPool, data_dir: Option<&Path>) -> Result<Option<String>, Failure> {
    let kept: Option<PathBuf> = data_dir.map(|dir| dir.join("demo-key"));
    if keys::any(db).await? {
        let Some(key) = kept.and_then(|path| std::fs::read_to_string(path).ok()) else { return Ok(None) };
        let key = key.trim().to_owned();
        let works =
            keys::list(db).await?.iter().any(|k| k.key.revoked_at.is_none() && key.contains(&k.key.prefix));
        return Ok(works.then_some(key));
    }
    let (_, key) = keys::create(db, "demo", Quotas::default()).await?;
    if let Some(path) = kept {
        let secret = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = secret.and_then(|mut file| writeln!(file, "{}", key.expose()));
        written.map_err(Failure::io(format!("cannot write the demo key to {}", path.display())))?;
    }
    Ok(Some(key.expose().to_owned()))
}

/// Prints the key and a complete request that uses it.
pub(crate) fn print(key: &str, address: SocketAddr) -> Result<(), Failure> {
    output::print(format_args!(
        "\nAkhar is ready. Demo key: {key}\nTry it:\n\n  curl http://{address}/v1/models/digit-recognition \\\n    \
         -H 'Authorization: Bearer {key}' -F file=@{EXAMPLE}\n\n"
    ))
}
