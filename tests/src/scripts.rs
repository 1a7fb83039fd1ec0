//! Programs in Python and TypeScript that use the service, or read its answers, as a caller's programs do. Each prints
//! one JSON object. `scripts/setup.sh` installs what they need.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tokio::{process::Command, time::timeout};

use crate::{Stack, root};

/// The longest time that a program may take. A visit of all pages in a browser takes about 20 seconds on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The Python that has the packages of `tests/requirements.txt`.
pub fn python_program() -> PathBuf {
    root().join(".cache/schemathesis/bin/python")
}

/// A program of the folder `tests`, run by that Python.
pub fn python(program: &str) -> Command {
    let mut command = Command::new(python_program());
    command.arg(root().join("tests").join(program));
    command
}

/// A folder with the programs of `tests/node` and their packages. What they write is beside them.
#[derive(Debug)]
pub struct NodeFolder(PathBuf);

impl NodeFolder {
    /// A new folder with this name in the folder for temporary files.
    pub fn new(temporary: &Path, name: &str) -> Self {
        let folder = temporary.join(name);
        copy_files(&root().join("tests/node"), &folder);
        link_packages(&folder);
        Self(folder)
    }

    /// Copies the files of another folder into a folder of this one.
    pub fn add(&self, from: &Path, name: &str) {
        copy_files(from, &self.0.join(name));
    }

    /// Runs a program of the folder with Node.js, such as `client.ts`. Its environment has the address of the service
    /// in `BASE` and a key in `KEY`.
    pub fn program(&self, stack: &Stack, program: &str) -> Command {
        self.program_at(&stack.base, &stack.key, program)
    }

    /// The same with a service at this address, and this key.
    pub fn program_at(&self, base: &str, key: &str, program: &str) -> Command {
        let mut command = Command::new(node_folder().join("bin/node"));
        command.arg(program).current_dir(&self.0).env("BASE", base).env("KEY", key);
        // A browser that is killed leaves files.
        command.env("TMPDIR", &self.0);
        command
    }
}

/// Copies the files of a folder into another, which is made if there is none.
pub fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for file in fs::read_dir(from).expect("files").map(|file| file.expect("a file")) {
        fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

/// Gives programs in a folder the packages of `tests/node/package.json`.
pub fn link_packages(folder: &Path) {
    let packages = node_folder().join("node_modules");
    assert!(packages.is_dir(), "no {}: run `make test`, which installs it", packages.display());
    symlink(packages, folder.join("node_modules")).expect("a link");
}

/// The folders of Node.js and of the commands in its packages.
pub fn node_paths() -> [PathBuf; 2] {
    ["bin", "node_modules/.bin"].map(|folder| node_folder().join(folder))
}

fn node_folder() -> PathBuf {
    root().join(".cache/node")
}

/// What a program prints to standard output. Panics if it fails, or takes longer than three minutes.
pub async fn output(mut command: Command) -> Vec<u8> {
    // The service is on this machine, whatever stands between it and others.
    command.env("NO_PROXY", "127.0.0.1").kill_on_drop(true);
    let output = timeout(TIMEOUT, command.output()).await;
    let output = output.unwrap_or_else(|_| panic!("it takes longer than {TIMEOUT:?}: {command:?}"));
    let output =
        output.unwrap_or_else(|error| panic!("{error}: run `make test`, which installs {command:?}"));
    let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {out}{log}", output.status);
    output.stdout
}

/// The JSON that a program prints. See [`output`].
pub async fn json(command: Command) -> Value {
    serde_json::from_slice(&output(command).await).expect("JSON")
}
