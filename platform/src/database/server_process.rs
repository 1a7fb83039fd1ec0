//! The process of the private Postgres server. A shell is its parent, which stops it when this process ends, however
//! it ends.

use std::{
    fs::File,
    io,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{private_error::PrivateError, programs::Programs};

/// Runs the server, and sends it SIGINT, which means a fast shutdown, when standard input closes. It ends when the
/// server ends, with the server's status.
const PARENT: &str = r#"
exec 3<&0
"$@" 3<&- &
server=$!
(while read -r _ <&3; do :; done; kill -INT "$server") &
watch=$!
wait "$server"
status=$?
kill "$watch" 2>/dev/null
exit "$status"
"#;

/// How long a fast shutdown may take.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// The pause between two looks at a process that is starting or stopping.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A started server and the shell above it. Dropping it closes the shell's standard input, which stops the server.
#[derive(Debug)]
pub(super) struct ServerProcess {
    shell: Child,
}

impl ServerProcess {
    /// Starts a server on a cluster. `server` is the command without its output, which goes to `log`.
    pub(super) fn spawn(programs: &Programs, server: &Command, log: &File) -> Result<Self, PrivateError> {
        let mut shell = programs.shell();
        shell.args(["-c", PARENT, "akhar-postgres"]).arg(server.get_program()).args(server.get_args());
        let failed = |source| PrivateError::Start { program: "/bin/sh".into(), source };
        let (out, err) = (log.try_clone().map_err(failed)?, log.try_clone().map_err(failed)?);
        shell.stdin(Stdio::piped()).stdout(out).stderr(err);
        Ok(Self { shell: shell.spawn().map_err(failed)? })
    }

    /// How the server ended, if it did.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.shell.try_wait()
    }

    /// Waits until `ready`. Returns the status of a server that ended before.
    pub(super) fn wait_until(&mut self, ready: impl Fn() -> bool) -> io::Result<Result<(), ExitStatus>> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Err(status));
            }
            if ready() {
                return Ok(Ok(()));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks for a fast shutdown and waits for it. Returns false if the server still runs after [`STOP_LIMIT`].
    pub(super) fn stop(&mut self) -> io::Result<bool> {
        drop(self.shell.stdin.take());
        let deadline = Instant::now() + STOP_LIMIT;
        while self.ended()?.is_none() {
            if Instant::now() > deadline {
                return Ok(false);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(true)
    }
}
