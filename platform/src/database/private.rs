//! The private Postgres server of `akhar serve`. It keeps its files in a folder, listens on a Unix socket, and stops
//! when `akhar` stops or is killed. The next start uses the same cluster.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, chown},
    path::{Path, PathBuf},
    process::ExitStatus,
};

use sqlx::postgres::PgConnectOptions;

use super::{
    private_error::PrivateError,
    programs::{self, Programs, User, others_may_enter, run},
    server_process::ServerProcess,
};

/// The cluster's superuser. It has no password. Only users who may enter the socket's folder can connect.
const ROLE: &str = "akhar";

/// The folder for clusters whose `data_dir` is in a folder that the server's user cannot enter, such as /root.
const FALLBACK: &str = "/var/lib/akhar";

/// How many lines of the log are shown if the server does not start.
const SHOWN_LINES: usize = 20;

/// Settings of the private server. It does not listen on TCP, because its role has no password. It needs little
/// shared memory, because its connections are few and local.
const SETTINGS: &str = "
# Written by akhar.
listen_addresses = ''
# Relative to the cluster, because a socket's path may have at most 107 bytes and an absolute path can be longer.
unix_socket_directories = '../socket'
max_connections = 120
shared_buffers = 64MB
max_wal_size = 256MB
logging_collector = off
";

/// A running private server.
#[derive(Debug)]
pub struct PrivatePostgres {
    folders: Folders,
    /// The file that the server's output is appended to.
    log: PathBuf,
    process: ServerProcess,
    /// Locked while this process runs, so that only one process uses the folder.
    _lock: Lock,
}

/// The locked file of a folder.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    /// Closing the file would not be enough: a child that is being started has it open until it runs its program, and
    /// would keep the lock for this moment.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::debug!(%error, "cannot unlock the data folder");
        }
    }
}

/// A data folder for one command. When this is dropped, it is removed with the cluster in it, whose server must have
/// stopped.
#[derive(Debug)]
pub struct TemporaryDataDir(PathBuf);

impl TemporaryDataDir {
    /// Creates an empty folder among the temporary files.
    pub fn create() -> Result<Self, PrivateError> {
        let parent = std::env::temp_dir();
        let parent = parent.canonicalize().map_err(at(&parent))?;
        for nth in 0..1000_u32 {
            let path = parent.join(format!("akhar-{}-{nth}", std::process::id()));
            match fs::DirBuilder::new().mode(0o755).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by a killed process with the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(at(&path)(error)),
            }
        }
        Err(at(&parent)(io::ErrorKind::AlreadyExists.into()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDataDir {
    fn drop(&mut self) {
        for folder in [&fallback(&self.0), &self.0] {
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, folder = %folder.display(), "cannot remove a temporary folder");
                }
                _ => (),
            }
        }
    }
}

impl PrivatePostgres {
    /// Starts the server of `data_dir`, and creates its cluster if there is none. Blocks for less than a second, or for
    /// a few seconds if it creates the cluster or the server recovers from a crash.
    pub fn start(data_dir: &Path) -> Result<Self, PrivateError> {
        let programs = Programs::find()?;
        make_dir(data_dir, 0o755, None)?;
        let data_dir = data_dir.canonicalize().map_err(at(data_dir))?;
        let lock = lock(&data_dir)?;
        let home = home(&data_dir, programs.user)?;
        let folders = Folders { cluster: home.join("cluster"), socket: home.join("socket"), programs };
        make_dir(&folders.socket, 0o700, folders.programs.user)?;
        if !folders.cluster.join("PG_VERSION").is_file() {
            folders.init()?;
        }
        let log = home.join("postgres.log");
        let mut process = folders.launch(&log)?;
        let started = process.wait_until(|| folders.answers()).map_err(at(&log))?;
        started.map_err(|status| folders.failed(status, &log))?;
        Ok(Self { folders, log, process, _lock: lock })
    }

    /// The folder of the programs that [`Self::start`] would use, and the text with which they name their version.
    pub fn programs() -> Result<(PathBuf, String), PrivateError> {
        let programs = Programs::find()?;
        let mut version = programs.command("postgres");
        version.arg("--version");
        let output = run(version)?;
        Ok((programs.folder().to_owned(), String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }

    /// Whether `data_dir` has a cluster.
    pub fn exists(data_dir: &Path) -> Result<bool, PrivateError> {
        if !data_dir.is_dir() {
            return Ok(false);
        }
        let data_dir = data_dir.canonicalize().map_err(at(data_dir))?;
        let folders = [data_dir.join("postgres"), fallback(&data_dir)];
        Ok(folders.iter().any(|home| home.join("cluster/PG_VERSION").is_file()))
    }

    /// How the server ended, if it did.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, PrivateError> {
        self.process.ended().map_err(at(&self.log))
    }

    /// Starts a server that has ended again. Does not wait until it answers.
    pub fn restart(&mut self) -> Result<(), PrivateError> {
        self.process = self.folders.launch(&self.log)?;
        Ok(())
    }

    /// Whether the server accepts connections.
    pub fn answers(&self) -> bool {
        self.folders.answers()
    }

    /// The options to connect with.
    pub fn options(&self) -> PgConnectOptions {
        options(&self.folders.socket)
    }

    /// The options to connect with, as a URL for another process.
    pub fn url(&self) -> String {
        // The host of the URL is the percent-encoded path of the socket's folder.
        let host: String = self.folders.socket.to_string_lossy().bytes().map(encode).collect();
        format!("postgres://{ROLE}@{host}/postgres")
    }

    /// The options to connect to the server that another process runs for `data_dir`.
    pub fn address(data_dir: &Path) -> Result<PgConnectOptions, PrivateError> {
        let data_dir = data_dir.canonicalize().map_err(at(data_dir))?;
        let home = home(&data_dir, programs::user()?)?;
        Ok(options(&home.join("socket")))
    }

    /// Stops the server. Open connections are closed, and everything committed is on disk when this returns.
    pub fn stop(mut self) -> Result<(), PrivateError> {
        if self.process.stop().map_err(at(&self.log))? {
            return Ok(());
        }
        tracing::warn!(
            "the private Postgres server does not stop: killing it. Its next start recovers from the log"
        );
        self.folders.kill()
    }
}

/// Where a private server keeps its files, and the programs to run it with.
#[derive(Debug)]
struct Folders {
    programs: Programs,
    cluster: PathBuf,
    socket: PathBuf,
}

impl Folders {
    fn init(&self) -> Result<(), PrivateError> {
        tracing::info!(cluster = %self.cluster.display(), "creating a private Postgres cluster");
        // The cluster is created in a draft folder and then renamed, so that a killed process leaves no incomplete
        // cluster.
        let draft = self.cluster.with_extension("draft");
        if draft.exists() {
            fs::remove_dir_all(&draft).map_err(at(&draft))?;
        }
        make_dir(&draft, 0o700, self.programs.user)?;
        let mut init = self.programs.command("initdb");
        init.args(["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username", ROLE, "--pgdata"])
            .arg(&draft);
        run(init)?;
        let settings = draft.join("postgresql.conf");
        let mut text = fs::read_to_string(&settings).map_err(at(&settings))?;
        text.push_str(SETTINGS);
        fs::write(&settings, text).map_err(at(&settings))?;
        fs::rename(&draft, &self.cluster).map_err(at(&self.cluster))
    }

    /// Whether a server accepts connections.
    fn answers(&self) -> bool {
        let mut answers = self.programs.command("pg_isready");
        answers.args(["--quiet", "--host"]).arg(&self.socket);
        run(answers).is_ok()
    }

    /// Stops the server that the cluster's pid file names, and waits for its end.
    fn stop(&self) -> Result<(), PrivateError> {
        let mut stop = self.programs.command("pg_ctl");
        stop.args(["stop", "--wait", "--mode=fast", "--pgdata"]).arg(&self.cluster);
        run(stop).map(|_| ())
    }

    /// Kills the server that the cluster's pid file names, and its children, which do not go on without it.
    fn kill(&self) -> Result<(), PrivateError> {
        let Some(pid) = self.named_pid() else { return Ok(()) };
        let mut kill = self.programs.command("pg_ctl");
        kill.args(["kill", "KILL"]).arg(pid.to_string());
        run(kill).map(|_| ())
    }

    /// The process that the pid file names.
    fn named_pid(&self) -> Option<u32> {
        let text = fs::read_to_string(self.cluster.join("postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// The working folder of the process that the pid file names. `None` if there is no such file. An exiting process
    /// whose files are closed has no working folder: see `proc_pid_cwd(5)`.
    fn folder_of_named_process(&self) -> Option<io::Result<PathBuf>> {
        let pid = self.named_pid()?;
        Some(fs::read_link(format!("/proc/{pid}/cwd")))
    }

    /// Removes the lock files of a killed server whose process is still there: it is exiting, or it is a zombie because
    /// its parent has not waited for it. Postgres would take that process for a running server and refuse to start.
    fn remove_locks_of_dead_process(&self) -> Result<(), PrivateError> {
        let folder = self.folder_of_named_process();
        if !matches!(folder, Some(Err(error)) if error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        for lock in [self.cluster.join("postmaster.pid"), self.socket.join(".s.PGSQL.5432.lock")] {
            match fs::remove_file(&lock) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&lock)(error)),
                _ => (),
            }
        }
        Ok(())
    }

    /// Whether the server of an earlier process still runs. The pid file alone does not prove that, because its process
    /// may be another program by now.
    fn is_left_behind(&self) -> bool {
        let folder = self.folder_of_named_process();
        matches!(folder, Some(Ok(folder)) if folder == self.cluster) || self.answers()
    }

    /// Starts a server. A server that an earlier process left behind is stopped first, because no process would notice
    /// its end.
    fn launch(&self, log: &Path) -> Result<ServerProcess, PrivateError> {
        self.remove_locks_of_dead_process()?;
        if self.is_left_behind() {
            tracing::info!(cluster = %self.cluster.display(), "stopping a private Postgres server that an earlier process left behind");
            let stopped = self.stop();
            // It may have ended by itself before it could be stopped.
            if self.is_left_behind() {
                stopped?;
            }
        }
        let output = File::options().create(true).append(true).open(log).map_err(at(log))?;
        let mut server = self.programs.command("postgres");
        server.arg("-D").arg(&self.cluster);
        ServerProcess::spawn(&self.programs, &server, &output)
    }

    /// The error of a server that ended while it started.
    fn failed(&self, status: ExitStatus, log: &Path) -> PrivateError {
        let program = self.programs.command("postgres").get_program().to_string_lossy().into_owned();
        let text = fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let output = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
        PrivateError::Failed { program, status, output }
    }
}

fn options(socket: &Path) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass().socket(socket).username(ROLE).database("postgres")
}

fn encode(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn lock(data_dir: &Path) -> Result<Lock, PrivateError> {
    let path = data_dir.join("akhar.lock");
    let file = File::create(&path).map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(PrivateError::InUse(data_dir.to_owned())),
        Err(TryLockError::Error(source)) => Err(PrivateError::Io { path, source }),
    }
}

/// The folder that the server's user owns. It is in `data_dir` if that user can enter it, otherwise in [`FALLBACK`].
fn home(data_dir: &Path, user: Option<User>) -> Result<PathBuf, PrivateError> {
    let inside = data_dir.join("postgres");
    let reachable = user.is_none() || others_may_enter(data_dir);
    let home = if reachable {
        inside
    } else {
        let home = fallback(data_dir);
        tracing::info!(
            data_dir = %data_dir.display(), home = %home.display(),
            "the user that runs Postgres cannot enter the data folder: using another folder for the cluster"
        );
        make_dir(Path::new(FALLBACK), 0o755, None)?;
        home
    };
    make_dir(&home, 0o700, user)?;
    Ok(home)
}

/// The folder of a cluster whose `data_dir` is in a folder that the server's user cannot enter.
fn fallback(data_dir: &Path) -> PathBuf {
    let name = data_dir.to_string_lossy().trim_matches('/').replace('/', "-");
    Path::new(FALLBACK).join(name)
}

fn make_dir(path: &Path, mode: u32, owner: Option<User>) -> Result<(), PrivateError> {
    if !path.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(mode).create(path).map_err(at(path))?;
    }
    if let Some(user) = owner {
        chown(path, Some(user.uid), Some(user.gid)).map_err(at(path))?;
    }
    Ok(())
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> PrivateError + use<> {
    let path = path.to_owned();
    move |source| PrivateError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_free_as_soon_as_its_lock_is_dropped() {
        let folder = std::env::temp_dir().join(format!("akhar-lock-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let held = lock(&folder).unwrap();
        assert!(matches!(lock(&folder), Err(PrivateError::InUse(_))));
        let of_a_child = held.0.try_clone().unwrap();
        drop(held);
        assert!(lock(&folder).is_ok());
        drop(of_a_child);
        fs::remove_dir_all(&folder).unwrap();
    }
}
