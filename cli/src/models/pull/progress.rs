//! Shows the progress of a download on stderr: a bar on a terminal, otherwise a line for each 10 %.

use std::io::IsTerminal as _;

use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};

use crate::output;

const BAR: &str =
    "{msg}  {wide_bar}  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta}";
const SPINNER: &str = "{msg}  {decimal_bytes}  {decimal_bytes_per_sec}";

/// The progress of one file.
pub(super) struct Progress {
    /// `None` if stderr is not a terminal.
    bar: Option<ProgressBar>,
    name: String,
    at: u64,
    total: Option<u64>,
}

impl Progress {
    /// Progress of the file with this name.
    pub(super) fn new(name: String) -> Self {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::no_length);
        Self { bar, name, at: 0, total: None }
    }

    /// Starts a download of which `at` of `total` bytes are already on disk.
    pub(super) fn begin(&mut self, at: u64, total: Option<u64>) {
        (self.at, self.total) = (at, total);
        if let Some(bar) = &self.bar {
            total.inspect(|total| bar.set_length(*total));
            bar.set_position(at);
            bar.set_message(self.name.clone());
            let style = ProgressStyle::with_template(if total.is_some() { BAR } else { SPINNER });
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.reset_eta();
            return;
        }
        let size = total.map_or("of unknown size".to_owned(), |total| DecimalBytes(total).to_string());
        match at {
            0 => output::note(format_args!("{}: {size}", self.name)),
            _ => output::note(format_args!("{}: {size}, resuming after {}", self.name, DecimalBytes(at))),
        }
    }

    /// Adds `n_bytes` received bytes.
    pub(super) fn advance(&mut self, n_bytes: u64) {
        let tenth = |at: u64| self.total.and_then(|total| (at.saturating_mul(10)).checked_div(total));
        let (before, after) = (tenth(self.at), tenth(self.at.saturating_add(n_bytes)));
        self.at = self.at.saturating_add(n_bytes);
        match (&self.bar, after) {
            (Some(bar), _) => bar.set_position(self.at),
            (None, Some(tenths)) if before != after => {
                output::note(format_args!("{}: {} %", self.name, tenths * 10));
            }
            (None, _) => (),
        }
    }

    /// Prints a message about the file.
    pub(super) fn print(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.println(format!("{}: {what}", self.name)),
            None => output::note(format_args!("{}: {what}", self.name)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
