//! Writes results to standard output. The reader may close it early, as `head` does.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write as _},
};

use crate::failure::Failure;

/// Writes a line. Fails with [`Failure::OutputClosed`] if nobody reads standard output any more.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    print(format_args!("{text}\n"))
}

/// Writes a text as it is.
pub(crate) fn print(text: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        written => written.map_err(Failure::io("cannot write to standard output")),
    }
}
