//! The private Postgres server of `akhar serve`. It keeps its files in a folder, listens on a Unix socket, and is
//! stopped when `akhar` stops. If `akhar` is killed, the next start uses the same cluster, and the same server if it
//! still runs.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use sqlx::postgres::PgConnectOptions;

use super::{
    private_error::PrivateError,
    programs::{Programs, User, run},
};

/// The cluster's superuser. It has no password. Only users who may enter the socket's folder can connect.
const ROLE: &str = "akhar";

/// The folder for clusters whose `data_dir` is in a folder that the server's user cannot enter, such as /root.
const FALLBACK: &str = "/var/lib/akhar";

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
    programs: Programs,
    cluster: PathBuf,
    socket: PathBuf,
    /// Locked while this process runs, so that only one process uses the folder.
    _lock: File,
}

impl PrivatePostgres {
    /// Starts the server of `data_dir`, and creates its cluster if there is none. Blocks for about a second, or for a
    /// few seconds if it creates the cluster.
    pub fn start(data_dir: &Path) -> Result<Self, PrivateError> {
        let programs = Programs::find()?;
        make_dir(data_dir, 0o755, None)?;
        let data_dir = data_dir.canonicalize().map_err(at(data_dir))?;
        let lock = lock(&data_dir)?;
        let home = home(&data_dir, programs.user)?;
        let postgres =
            Self { cluster: home.join("cluster"), socket: home.join("socket"), programs, _lock: lock };
        make_dir(&postgres.socket, 0o700, postgres.programs.user)?;
        if !postgres.cluster.join("PG_VERSION").is_file() {
            postgres.init()?;
        }
        if postgres.is_running() {
            tracing::info!(cluster = %postgres.cluster.display(), "the private Postgres server is still running: using it");
        } else {
            postgres.launch(&home.join("postgres.log"))?;
        }
        Ok(postgres)
    }

    /// The options to connect with.
    pub fn options(&self) -> PgConnectOptions {
        options(&self.socket)
    }

    /// The options to connect with, as a URL for another process.
    pub fn url(&self) -> String {
        // The host of the URL is the percent-encoded path of the socket's folder.
        let host: String = self.socket.to_string_lossy().bytes().map(encode).collect();
        format!("postgres://{ROLE}@{host}/postgres")
    }

    /// The options to connect to the server that another process runs for `data_dir`.
    pub fn address(data_dir: &Path) -> Result<PgConnectOptions, PrivateError> {
        let data_dir = data_dir.canonicalize().map_err(at(data_dir))?;
        let home = home(&data_dir, Programs::find()?.user)?;
        Ok(options(&home.join("socket")))
    }

    /// Stops the server. Open connections are closed, and everything committed is on disk when this returns.
    pub fn stop(self) -> Result<(), PrivateError> {
        let mut stop = self.programs.command("pg_ctl");
        stop.args(["stop", "--wait", "--mode=fast", "--pgdata"]).arg(&self.cluster);
        run(stop).map(|_| ())
    }

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

    /// Whether a server of an earlier run still answers. The pid file alone does not prove that: after a kill, the
    /// process that it names may be a zombie or another program.
    fn is_running(&self) -> bool {
        let mut status = self.programs.command("pg_ctl");
        status.args(["status", "--pgdata"]).arg(&self.cluster);
        let mut answers = self.programs.command("pg_isready");
        answers.args(["--quiet", "--host"]).arg(&self.socket);
        run(status).is_ok() && run(answers).is_ok()
    }

    /// Removes the lock files of a killed server whose process is still there: it is exiting, or it is a zombie because
    /// its parent has not waited for it. Postgres would take that process for a running server and refuse to start.
    fn remove_locks_of_dead_process(&self) -> Result<(), PrivateError> {
        let pid_file = self.cluster.join("postmaster.pid");
        let text = fs::read_to_string(&pid_file).unwrap_or_default();
        let Some(pid) = text.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else {
            return Ok(());
        };
        // Once its files are closed, an exiting process has no working folder: see proc_pid_cwd(5).
        let folder = fs::read_link(format!("/proc/{pid}/cwd"));
        if folder.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            for lock in [pid_file, self.socket.join(".s.PGSQL.5432.lock")] {
                match fs::remove_file(&lock) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&lock)(error)),
                    _ => (),
                }
            }
        }
        Ok(())
    }

    fn launch(&self, log: &Path) -> Result<(), PrivateError> {
        self.remove_locks_of_dead_process()?;
        let mut start = self.programs.command("pg_ctl");
        start.args(["start", "--wait", "--silent", "--pgdata"]).arg(&self.cluster);
        start.arg("--log").arg(log);
        run(start).map(|_| ()).map_err(|error| match error {
            PrivateError::Failed { program, status, output } => {
                let output = format!("{output}{}", fs::read_to_string(log).unwrap_or_default());
                PrivateError::Failed { program, status, output }
            }
            other => other,
        })
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

fn lock(data_dir: &Path) -> Result<File, PrivateError> {
    let path = data_dir.join("akhar.lock");
    let file = File::create(&path).map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PrivateError::InUse(data_dir.to_owned())),
        Err(TryLockError::Error(source)) => Err(PrivateError::Io { path, source }),
    }
}

/// The folder that the server's user owns. It is in `data_dir` if that user can enter it, otherwise in [`FALLBACK`].
fn home(data_dir: &Path, user: Option<User>) -> Result<PathBuf, PrivateError> {
    let inside = data_dir.join("postgres");
    let reachable = data_dir.ancestors().all(|dir| user.is_none() || others_may_enter(dir));
    let home = if reachable {
        inside
    } else {
        let name = data_dir.to_string_lossy().trim_matches('/').replace('/', "-");
        let home = Path::new(FALLBACK).join(name);
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

fn others_may_enter(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|m| m.permissions().mode() & 0o001 != 0)
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
