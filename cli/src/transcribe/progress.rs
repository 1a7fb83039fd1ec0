//! Shows the progress on standard error: a bar on a terminal, otherwise a line every ten seconds.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

const BAR: &str = "{wide_bar}  {msg}  {eta} left";
/// How often a line is printed where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// What a run has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) n_files: usize,
    pub(super) n_transcribed: usize,
    /// Those of `n_transcribed` whose results have warnings.
    pub(super) n_with_warnings: usize,
    /// Recordings whose results an earlier run has written.
    pub(super) n_earlier: usize,
    pub(super) n_failed: usize,
    /// Files that are not among the recordings.
    pub(super) n_skipped: usize,
    /// The length of the recordings that this run has transcribed, seconds.
    pub(super) audio_s: f64,
    /// Bytes of recordings that have ended, of all.
    pub(super) n_bytes: u64,
    pub(super) n_all_bytes: u64,
}

impl Tally {
    fn n_ended(&self) -> usize {
        self.n_transcribed + self.n_earlier + self.n_failed
    }

    /// Such as `12 of 40 files, 1 failed, 0.35 h of audio, 21 times as fast as it plays`.
    fn text(&self, transcribed: Duration, elapsed: Duration) -> String {
        let failed = if self.n_failed > 0 { format!(", {} failed", self.n_failed) } else { String::new() };
        let speed = transcribed.as_secs_f64() / elapsed.as_secs_f64().max(0.001);
        format!(
            "{} of {} files{failed}, {:.2} h of audio, {speed:.0} times as fast as it plays",
            self.n_ended(),
            self.n_files,
            transcribed.as_secs_f64() / 3600.0
        )
    }

    /// The time until all bytes have ended, at the mean speed so far. `None` before the first file has ended.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        let share = self.n_bytes as f64 / self.n_all_bytes.max(1) as f64;
        (share > 0.0).then(|| elapsed.mul_f64((1.0 / share - 1.0).clamp(0.0, 1e6)))
    }

    /// The last line of a run.
    pub(super) fn summary(&self, elapsed: Duration) -> String {
        let earlier = match self.n_earlier {
            0 => String::new(),
            n => format!(", {n} by an earlier run"),
        };
        let warnings = match self.n_with_warnings {
            0 => String::new(),
            n => format!(", {n} with warnings"),
        };
        format!(
            "{} of {} recordings transcribed{earlier}, {} failed, {} skipped{warnings}: {:.2} h of audio in {:.0} s",
            self.n_transcribed,
            self.n_files,
            self.n_failed,
            self.n_skipped,
            self.audio_s / 3600.0,
            elapsed.as_secs_f64(),
        )
    }
}

/// Shows a [`Tally`].
#[derive(Debug)]
pub(super) struct Progress {
    started: Instant,
    printed: Instant,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(tally: &Tally) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(tally.n_all_bytes).with_style(style)
        });
        Self { started: Instant::now(), printed: Instant::now(), bar }
    }

    /// The time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows the tally, if it is time for that. `transcribed`: the length of what is transcribed, with the pieces of
    /// recordings that have not ended.
    pub(super) fn show(&mut self, tally: &Tally, transcribed: Duration) {
        let text = tally.text(transcribed, self.elapsed());
        if let Some(bar) = &self.bar {
            bar.set_position(tally.n_bytes);
            bar.set_message(text);
        } else if self.printed.elapsed() >= LINE_INTERVAL {
            self.printed = Instant::now();
            let left = tally.left(self.elapsed()).map(|left| format!(", {} s left", left.as_secs()));
            eprintln!("{text}{}", left.unwrap_or_default());
        }
    }

    /// Prints a line about a recording.
    pub(super) fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_says_how_much_is_done_how_fast_and_how_long_the_rest_takes() {
        let tally = Tally {
            n_files: 8,
            n_transcribed: 2,
            n_with_warnings: 1,
            n_earlier: 1,
            n_failed: 1,
            n_skipped: 5,
            audio_s: 720.0,
            n_bytes: 100,
            n_all_bytes: 400,
        };
        let elapsed = Duration::from_secs(60);
        assert_eq!(
            tally.text(Duration::from_secs(720), elapsed),
            "4 of 8 files, 1 failed, 0.20 h of audio, 12 times as fast as it plays"
        );
        assert_eq!(tally.left(elapsed), Some(Duration::from_secs(180)));
        assert_eq!(
            tally.summary(elapsed),
            "2 of 8 recordings transcribed, 1 by an earlier run, 1 failed, 5 skipped, 1 with warnings: 0.20 h of audio in 60 s"
        );
        assert_eq!(Tally::default().left(elapsed), None);
    }
}
