//! The demo key: a first API key that `akhar serve` creates. It is printed with a request to paste, when it is created or on a
//! terminal, because other output is often kept in logs.

use std::{
    fs::OpenOptions,
    io::{IsTerminal as _, Write as _},
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use akhar_accounts::keys::any;
use akhar_operators::keys::{self, KeyState, NewAccount};
use akhar_platform::database::Pool;

use crate::{actor, failure::Failure, output};

/// The image of the printed request, which is part of the source code. In another folder, a request without a file is
/// printed.
const EXAMPLE: &str = "tests/fixtures/images/digit-5.png";

/// The demo key.
pub(crate) struct Demo {
    pub(crate) key: String,
    /// Whether it was created just now.
    is_new: bool,
}

/// Returns the demo key. Creates it if the database has no keys. With a private database the key is kept in
/// `data_dir`, and is returned again as long as it is not revoked. Returns `None` if there is no demo key.
pub(crate) async fn key(db: &Pool, data_dir: Option<&Path>) -> Result<Option<Demo>, Failure> {
    let kept: Option<PathBuf> = data_dir.map(|dir| dir.join("demo-key"));
    if any(db).await? {
        let Some(key) = kept.and_then(|path| std::fs::read_to_string(path).ok()) else { return Ok(None) };
        let key = key.trim().to_owned();
        let works =
            keys::list(db).await?.iter().any(|k| k.state == KeyState::Works && key.contains(&k.prefix));
        return Ok(works.then_some(Demo { key, is_new: false }));
    }
    let account = NewAccount { name: "demo".to_owned(), ..NewAccount::default() };
    let key = keys::create(db, &actor::of_command(), account).await?;
    if let Some(path) = kept {
        let secret = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = secret.and_then(|mut file| writeln!(file, "{}", key.key));
        written.map_err(Failure::io(format!("cannot write the demo key to {}", path.display())))?;
    }
    Ok(Some(Demo { key: key.key, is_new: true }))
}

/// Prints the key, the link to the playground if there is one, and a complete request that uses the key, if they may be
/// printed.
pub(crate) fn print(demo: &Demo, address: SocketAddr, link: Option<&str>) -> Result<(), Failure> {
    if !demo.is_new && !std::io::stdout().is_terminal() {
        return Ok(());
    }
    let key = &demo.key;
    let (operation, data) = if Path::new(EXAMPLE).is_file() {
        ("digit-recognition", format!("-F file=@{EXAMPLE}"))
    } else {
        let json = r#"-H 'Content-Type: application/json' -d '{"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}'"#;
        ("handwriting-generator", json.to_owned())
    };
    let browser = link.map_or_else(String::new, |link| {
        format!("Try it in a browser (the link works once, for 15 minutes):\n\n  {link}\n\n")
    });
    output::print(format_args!(
        "\nAkhar is ready. Demo key: {key}\n{browser}Try it in a terminal:\n\n  curl http://{address}/v1/models/{operation} \\\n    \
         -H 'Authorization: Bearer {key}' {data}\n\n"
    ))
}
