//! A shell session in a folder of its own: commands come in, what they print comes out.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
};

use akhar_tests::{
    TIMEOUT, binary, root,
    scripts::{copy_files, link_packages, node_paths},
};
use tokio::{process::Command, time::timeout};

/// Runs one command and keeps the session's variables and folder for the next one.
const RUN: &str = r#"
trap 'status=$?; export -p >"$SESSION"; exit $status' EXIT
if [ -e "$SESSION" ]; then . "$SESSION"; cd "$PWD"; fi
set -ea
eval "$1"
"#;

/// A session of a user of a service.
#[derive(Debug)]
pub(crate) struct Shell<'a> {
    /// The address of the service.
    base: &'a str,
    key: &'a str,
    environment: &'a [(String, String)],
    folder: PathBuf,
}

impl<'a> Shell<'a> {
    /// One in a new folder `folder`, which looks like the repository's root: fixtures, models, examples, the program.
    pub(crate) fn new(
        base: &'a str,
        key: &'a str,
        environment: &'a [(String, String)],
        folder: PathBuf,
    ) -> Self {
        let models = environment.iter().find(|(name, _)| name == "AKHAR_MODELS_DIR").expect("it is set");
        for parent in ["tests", "target/release"] {
            fs::create_dir_all(folder.join(parent)).expect("a folder");
        }
        symlink(root().join("tests/fixtures"), folder.join("tests/fixtures")).expect("a link");
        symlink(&models.1, folder.join("models")).expect("a link");
        symlink(binary(), folder.join("target/release/akhar")).expect("a link");
        copy_files(&root().join("examples"), &folder.join("examples"));
        link_packages(&folder);
        fs::copy(root().join("tests/node/tsconfig.json"), folder.join("tsconfig.json")).expect("a copy");
        Self { base, key, environment, folder }
    }

    /// What a command prints to standard output; an error when it fails.
    pub(crate) async fn run(&self, command: &str) -> Result<String, String> {
        let mut path = vec![self.folder.join("target/release"), python()];
        path.extend(node_paths());
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut shell = Command::new("bash");
        shell.args(["-c", RUN, "bash", command]).current_dir(&self.folder);
        shell.envs(self.environment.iter().map(|(name, value)| (name, value)));
        shell.env("PATH", std::env::join_paths(path).expect("no folder has a colon"));
        shell.env("SESSION", self.folder.join(".session"));
        shell.env("PYTHONPATH", root().join("client/python/src"));
        // The service is on this machine, whatever stands between it and others.
        shell.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(TIMEOUT, shell.output()).await;
        let output = output.map_err(|_| format!("it takes longer than {TIMEOUT:?}"))?.expect("bash runs");
        let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            Ok(out.into_owned())
        } else {
            Err(format!("{}: {out}{log}", output.status))
        }
    }

    /// Text of a page with this service's address and key in it.
    pub(crate) fn filled_in(&self, text: &str) -> String {
        text.replace("http://127.0.0.1:8080", self.base).replace("ak_…", self.key)
    }
}

/// The folder of a `python3` that has `requests`, `openai`, `websockets` and `httpx`: schemathesis's.
fn python() -> PathBuf {
    let program = std::env::var("AKHAR_SCHEMATHESIS")
        .map_or_else(|_| root().join(".cache/schemathesis/bin/schemathesis"), PathBuf::from);
    let folder = program.parent().expect("a folder").to_owned();
    assert!(folder.join("python3").is_file(), "no {}: run `make test`", folder.join("python3").display());
    folder
}

/// A copy of the bundled models, in which a page may choose others; the weights are the repository's.
pub(crate) fn copy_models(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let files = fs::read_dir(root().join("models")).expect("models").map(|file| file.expect("a file").path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("a copy");
    }
    for part in ["weights", "fetched", "cards"] {
        symlink(root().join("models").join(part), folder.join(part)).expect("a link");
    }
}
