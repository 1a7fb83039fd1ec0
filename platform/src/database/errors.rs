//! What an error of Postgres or of a connection says.

use std::io;

use super::{deadline::is_silence, encoding::WrongEncoding};

pub(super) fn has_code(error: &sqlx::Error, matches: impl FnOnce(&str) -> bool) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().is_some_and(|code| matches(&code)))
}

/// What an operator can do if the disk is full.
pub(super) const STORAGE_IS_FULL: &str = "the disk of Postgres is full: free space on it, or make it larger";

/// What the system says when a file cannot grow: `ENOSPC`, `EDQUOT` and `EFBIG` of `errno(3)`.
const FULL: [&str; 3] = ["No space left on device", "Disk quota exceeded", "File too large"];

/// What an operator can do about the cause of this error. `None` for errors that say it themselves.
pub fn advice(error: &sqlx::Error) -> Option<&'static str> {
    match error {
        sqlx::Error::Configuration(cause) if cause.is::<WrongEncoding>() => Some(
            "create another database (`create database akhar owner akhar encoding 'UTF8' template template0`), and name it in \
             AKHAR_DATABASE_URL",
        ),
        // A prepared statement exists already, or is not there.
        _ if has_code(error, |code| matches!(code, "42P05" | "26000")) => Some(
            "a pooler in transaction mode that keeps no prepared statements stands before Postgres: use PgBouncer 1.21 or newer \
             with max_prepared_statements set, or its session mode, or the address of Postgres itself",
        ),
        _ if is_storage_full(error) => Some(STORAGE_IS_FULL),
        _ if has_code(error, |code| code == "53300") => Some(
            "Postgres runs, and all connections that it accepts are taken: raise max_connections (or the limit of the role or the \
             database), start fewer processes, or lower AKHAR_DATABASE_CONNECTIONS",
        ),
        _ if has_code(error, |code| code == "57P03") => Some(
            "Postgres runs, and is starting, stopping or recovering from a crash: if it goes on, its log says why, such as a full disk",
        ),
        _ if is_silence(error) => Some(
            "Postgres or the network to it does not answer, though it does not refuse: look on its machine for a process that stands \
             still, a slow disk or memory that is used up, and between the machines for lost packets",
        ),
        _ if has_code(error, |code| matches!(code, "57014" | "55P03")) => Some(
            "Postgres runs, and the statement took too long: look for a lock (the line `locks`), and at its disk and processor",
        ),
        _ => None,
    }
}

/// Whether the server is starting, or has no connection free: trying again shortly may help.
pub(super) fn is_starting(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused)
        || has_code(error, |code| matches!(code, "53300" | "57P03"))
}

/// Whether the server takes no changes: it is a replica, or its database is set read-only (SQLSTATE 25006).
pub fn is_read_only(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem)
        || has_code(error, |code| code == "25006")
}

/// Whether the server has no space left on its disk. Postgres has no code for a quota of its user, or a limit of the size of its
/// files, that is used up: it says so in the message of an internal or a system error.
pub fn is_storage_full(error: &sqlx::Error) -> bool {
    has_code(error, |code| code == "53100")
        || has_code(error, |code| code == "XX000" || code.starts_with("58"))
            && matches!(error, sqlx::Error::Database(cause) if is_full(cause.message()))
}

/// Whether a message says that a file cannot grow.
pub(super) fn is_full(message: &str) -> bool {
    FULL.iter().any(|full| message.contains(full))
}

/// Whether the same query may succeed later without any change to it: the error is transient (see [`is_transient`]), or
/// the server has no disk space, memory or connections left.
pub fn may_recover(error: &sqlx::Error) -> bool {
    is_transient(error) || has_code(error, |code| code.starts_with("53"))
}

/// Whether the same query may succeed if it is tried again shortly: the connection was lost, or the server is
/// stopping, is starting, takes no changes, has no free connection, took too long, or ended the transaction because of a
/// conflict with another one. Codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed => true,
        _ => has_code(error, |code| {
            code.starts_with("08")
                || code.starts_with("57")
                || matches!(code, "25006" | "25P03" | "53300" | "40001" | "40P01")
        }),
    }
}
