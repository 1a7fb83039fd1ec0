//! Checks of this machine: the port, folders, disk space and the limit of open files.

use std::{
    fs,
    io::ErrorKind,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use akhar_platform::{
    config::Config,
    http_client::{self, Limits},
    open_files,
};

use super::check::Check;
use crate::{api::listen, free_space::free_bytes};

/// Below this much free space the service fails soon.
const LEAST_FREE_MIB: u64 = 256;
/// Below this much free space an operator should act.
const LOW_FREE_MIB: u64 = 2048;
/// How long another server on the port may take to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the api can listen, or already does.
pub(super) async fn port(config: &Config) -> Check {
    let address = config.listen;
    let Err(error) = listen(config) else {
        return Check::ok("port", format!("{address} is free"));
    };
    if is_akhar(address).await {
        Check::ok("port", format!("an akhar api answers on {address}"))
    } else {
        Check::failed(
            "port",
            error.to_string(),
            "stop the program that uses it, or set AKHAR_LISTEN to another address",
        )
    }
}

/// Whether an api answers there. Anything that fails means no.
async fn is_akhar(address: SocketAddr) -> bool {
    let limits = Limits { connect: TIMEOUT, stall: TIMEOUT, whole: Some(TIMEOUT) };
    let Ok(client) = http_client::builder(limits) else { return false };
    let Ok(client) = client.no_proxy().build() else { return false };
    match client.get(format!("http://{address}/health/live")).send().await {
        Ok(answer) => http_client::body(answer, 1024)
            .await
            .is_ok_and(|body| String::from_utf8_lossy(&body).contains("\"live\"")),
        Err(_) => false,
    }
}

/// The other checks of this machine.
pub(super) fn checks(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(folder) = data_dir(config) {
        checks.push(writable(&folder));
        checks.push(space("disk", &folder));
    }
    checks.push(space("temporary", &std::env::temp_dir()));
    checks.push(open_file_limit(config));
    checks
}

/// The folder of the private database. `None` if another database is configured.
pub(super) fn data_dir(config: &Config) -> Option<PathBuf> {
    let folder = config.database_url.is_none().then_some(&config.data_dir)?;
    Some(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
}

/// Whether files can be made in a folder, or in the folder where it would be made.
fn writable(folder: &Path) -> Check {
    let existing = existing(folder);
    let probe = existing.join(format!(".akhar-doctor-{}", std::process::id()));
    let made = fs::File::create_new(&probe);
    match made.and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Check::ok("permissions", format!("{} can be written", folder.display())),
        Err(error) => {
            let found = format!("cannot write to {}: {error}", existing.display());
            let fix = match error.kind() {
                ErrorKind::PermissionDenied => {
                    "give this user the folder, or set AKHAR_DATA_DIR to one that it owns"
                }
                _ => "free space on its disk, or set AKHAR_DATA_DIR to a folder on another one",
            };
            Check::failed("permissions", found, fix)
        }
    }
}

/// Whether the disk of a folder has less space than Postgres takes with one step, a segment of its log.
pub(super) fn has_no_space(folder: &Path) -> bool {
    free_bytes(&existing(folder)).is_ok_and(|n_bytes| n_bytes < 16 << 20)
}

fn space(name: &'static str, folder: &Path) -> Check {
    let folder = existing(folder);
    let n_bytes = match free_bytes(&folder) {
        Ok(n_bytes) => n_bytes,
        Err(error) => {
            let found = format!("cannot read the free space of {}: {error}", folder.display());
            return Check::failed(name, found, "check that the folder exists");
        }
    };
    let free_mib = n_bytes / (1 << 20);
    let found = format!("{free_mib} MiB are free in {}", folder.display());
    let fix = "free some space, or make AKHAR_RETENTION_S shorter";
    match free_mib {
        ..LEAST_FREE_MIB => Check::failed(name, found, fix),
        LEAST_FREE_MIB..LOW_FREE_MIB => Check::warning(name, found, fix),
        _ => Check::ok(name, found),
    }
}

/// Whether all connections that the api accepts fit into the limit of open files.
fn open_file_limit(config: &Config) -> Check {
    let limit = open_files::raise_limit();
    let found = format!("{limit} files may be open; AKHAR_MAX_CONNECTIONS is {}", config.max_connections);
    if limit <= config.max_connections.get() {
        let fix = "raise the limit (`ulimit -n`, or LimitNOFILE= in a systemd unit)";
        Check::warning("open files", found, fix)
    } else {
        Check::ok("open files", found)
    }
}

/// The folder, or the nearest one above it that exists.
fn existing(folder: &Path) -> PathBuf {
    let nearest = folder.ancestors().find(|above| above.is_dir());
    nearest.unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::Status;

    #[test]
    fn the_nearest_folder_that_exists_is_checked() {
        let folder = std::env::temp_dir();
        assert_eq!(existing(&folder.join("akhar-does/not/exist")), folder);
        assert_eq!(writable(&folder.join("akhar-does/not/exist")).status, Status::Ok);
    }

    #[test]
    fn a_folder_of_another_kind_fails_with_a_fix() {
        let check = writable(Path::new("/proc/1"));
        assert_eq!(check.status, Status::Failed);
        assert!(check.fix.is_some());
    }
}
