//! Finds Postgres's server programs and the user to run them as.

use std::{
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::private_error::PrivateError;

/// The users to run Postgres as, in order of preference. An installation of Postgres has the first, any Debian the
/// second.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The programs of the newest installed Postgres, and the user to run them as.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    bin: PathBuf,
    /// Set if this process runs as root, because Postgres refuses to run as root.
    pub(super) user: Option<User>,
}

/// A user to run as.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Programs {
    pub(super) fn find() -> Result<Self, PrivateError> {
        let bin = debian_folders().into_iter().chain(path_folders()).find(|dir| dir.join("initdb").is_file());
        let bin = bin.ok_or(PrivateError::NoServer)?;
        let user = if rustix::process::geteuid().is_root() {
            Some(unprivileged().ok_or(PrivateError::NoUser)?)
        } else {
            None
        };
        Ok(Self { bin, user })
    }

    /// A command that runs one of the programs as [`Self::user`], in a folder that this user can enter.
    pub(super) fn command(&self, program: &str) -> Command {
        self.as_user(Command::new(self.bin.join(program)))
    }

    /// A shell that runs as [`Self::user`].
    pub(super) fn shell(&self) -> Command {
        self.as_user(Command::new("/bin/sh"))
    }

    fn as_user(&self, mut command: Command) -> Command {
        command.current_dir("/").env_remove("PGDATA").env("LC_ALL", "C.UTF-8").process_group(0);
        if let Some(user) = self.user {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }
}

/// Runs a command and waits for its end. If it fails, the error contains its output.
pub(super) fn run(mut command: Command) -> Result<Output, PrivateError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|source| PrivateError::Start { program: program.clone(), source })?;
    if output.status.success() {
        return Ok(output);
    }
    let output_text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(PrivateError::Failed { program, status: output.status, output: output_text })
}

/// The folders `/usr/lib/postgresql/<version>/bin`, the newest version first.
fn debian_folders() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|v| Some((v.file_name().to_str()?.parse().ok()?, v.path().join("bin"))))
        .collect();
    folders.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    folders.into_iter().map(|(_, bin)| bin).collect()
}

fn path_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn unprivileged() -> Option<User> {
    let passwd = std::fs::read_to_string(Path::new("/etc/passwd")).ok()?;
    UNPRIVILEGED.iter().find_map(|name| {
        let mut fields = passwd.lines().find(|l| l.split(':').next() == Some(name))?.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    })
}
