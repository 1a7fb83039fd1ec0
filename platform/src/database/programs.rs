//! Finds Postgres's server programs and the user to run them as.

use std::{
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::private_error::PrivateError;
use crate::installation::{POSTGRES_BIN, folders, postgres_of_packages};

/// The users to run Postgres as, in order of preference. An installation of Postgres has the first, any Debian the
/// second.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The folder into which `scripts/setup.sh` unpacks a wheel of Postgres.
const FETCHED: &str = ".cache/postgres";

/// The programs that are run.
const NEEDED: [&str; 4] = ["initdb", "postgres", "pg_ctl", "pg_isready"];

/// The programs of Postgres, and the user to run them as.
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
    /// The programs that came with this one as a Python package, or else those in `PATH`, or else those of
    /// the newest installed Postgres.
    pub(super) fn find() -> Result<Self, PrivateError> {
        let bin = match postgres_of_packages() {
            Some(folder) => existing(&folder).ok_or(PrivateError::NoPrograms(folder))?,
            None => installed().ok_or(PrivateError::NoServer)?,
        };
        let user = user()?;
        if user.is_some() && !others_may_enter(&bin) {
            return Err(PrivateError::Unreachable(bin));
        }
        Ok(Self { bin, user })
    }

    /// The folder of the programs.
    pub(super) fn folder(&self) -> &Path {
        &self.bin
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

/// The user to run Postgres as, if this process runs as root.
pub(super) fn user() -> Result<Option<User>, PrivateError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    unprivileged().map(Some).ok_or(PrivateError::NoUser)
}

/// Whether all users can enter a folder.
pub(super) fn others_may_enter(folder: &Path) -> bool {
    let enterable = |dir: &Path| std::fs::metadata(dir).is_ok_and(|m| m.permissions().mode() & 0o001 != 0);
    folder.ancestors().all(enterable)
}

fn installed() -> Option<PathBuf> {
    let fetched = folders().into_iter().map(|folder| folder.join(FETCHED).join(POSTGRES_BIN));
    path_folders().into_iter().chain(debian_folders()).chain(fetched).find_map(|folder| existing(&folder))
}

/// The absolute path of a folder that has Postgres's server programs, or of the one that its links lead to: a folder of `PATH` may have
/// links to some of them.
fn existing(folder: &Path) -> Option<PathBuf> {
    let folder = folder.join("initdb").canonicalize().ok()?.parent()?.to_owned();
    NEEDED.iter().all(|program| folder.join(program).is_file()).then_some(folder)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_with_links_leads_to_the_one_that_has_all_programs() {
        let [all, links] = ["all", "links"]
            .map(|name| std::env::temp_dir().join(format!("akhar-programs-{name}-{}", std::process::id())));
        for folder in [&all, &links] {
            fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(all.join("initdb"), links.join("initdb")).unwrap();
        for program in NEEDED {
            assert_eq!([&all, &links].map(|folder| existing(folder)), [None, None], "{program} is missing");
            fs::write(all.join(program), "").unwrap();
        }
        let found = all.canonicalize().unwrap();
        assert_eq!([&all, &links].map(|folder| existing(folder)), [Some(found.clone()), Some(found)]);
        for folder in [all, links] {
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn a_folder_that_only_its_owner_can_enter_is_not_for_others() {
        let folder = std::env::temp_dir().join(format!("akhar-closed-{}", std::process::id()));
        fs::create_dir_all(folder.join("bin")).unwrap();
        assert!(others_may_enter(&folder.join("bin")));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!others_may_enter(&folder.join("bin")));
        fs::remove_dir_all(folder).unwrap();
    }
}
