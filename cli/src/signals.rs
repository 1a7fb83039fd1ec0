//! The signals that stop a command.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// SIGINT and SIGTERM.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From now on, these signals do not end the process.
    pub(crate) fn new() -> Result<Self, Failure> {
        let catch = |kind| signal(kind).map_err(Failure::io("cannot install signal handlers"));
        Ok(Self { interrupt: catch(SignalKind::interrupt())?, terminate: catch(SignalKind::terminate())? })
    }

    /// Waits for a signal. Returns the code that the process ends with, as shells do: 128 and the signal's number.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
        }
    }
}
