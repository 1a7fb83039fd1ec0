//! Writes results to standard output. The reader may close it early, as `head` does.

use std::{
    env,
    fmt::Display,
    io::{self, ErrorKind, Write as _},
};

use chrono::{DateTime, Utc};

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

/// Writes a line to standard error. Nothing depends on it, so the work goes on if it is closed or full.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", as_called(&text.to_string()));
}

/// A text with the commands that it names as they work where this one was called: `target/release/akhar keys list`, if that is how
/// this program was called.
pub(crate) fn as_called(text: &str) -> String {
    let called = env::args().next().filter(|called| called.contains('/') && !called.contains(' '));
    called.map_or_else(|| text.to_owned(), |called| text.replace("`akhar ", &format!("`{called} ")))
}

/// Asks on a terminal. Fails unless the answer is yes.
pub(crate) fn ask(question: impl Display) -> Result<(), Failure> {
    print(format_args!("{question} [y/N] "))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(Failure::io("cannot read the answer"))?;
    if matches!(answer.trim(), "y" | "yes") {
        Ok(())
    } else {
        Err(Failure::Command("nothing was changed".to_owned()))
    }
}

/// Writes a table.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), Failure> {
    print(columns(head, rows))
}

/// The lines of a table. Each column is as wide as its widest cell.
pub(crate) fn columns<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut all = vec![head.map(str::to_owned)];
    all.extend(rows);
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let lines = all.iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    });
    lines.collect()
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    line(serde_json::to_string(value).map_err(|error| Failure::io("cannot write JSON")(error.into()))?)
}

/// A time in the past as tables show it, such as `3 h ago`.
pub(crate) fn ago(time: DateTime<Utc>) -> String {
    format!("{} ago", age((Utc::now() - time).as_seconds_f64().max(0.0)))
}

/// How long it is until a time, such as `3 h`.
pub(crate) fn left(time: DateTime<Utc>) -> String {
    age((time - Utc::now()).as_seconds_f64().max(0.0))
}

/// A time to the second, UTC.
pub(crate) fn time(time: DateTime<Utc>) -> String {
    time.format("%F %T").to_string()
}

/// An age in its largest unit, such as `42 s` or `3 h`.
pub(crate) fn age(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.0} min", s / 60.0),
        s if s < 86_400.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} d", s / 86_400.0),
    }
}
