//! Shows the progress on standard error: a bar on a terminal, otherwise a line every ten seconds.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use akhar_client::GroupBody;
use indicatif::{ProgressBar, ProgressStyle};

use super::lengths::Audio;
use crate::output;

const BAR: &str = "{wide_bar}  {msg}";
const BAR_AND_GROUP: &str = "{wide_bar}  {msg}\n{prefix}";
/// The number of steps of the bar.
const BAR_LENGTH: u64 = 10_000;
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
    /// Recordings that failed in an earlier run too, for the same reason.
    pub(super) n_known: usize,
    /// Files that are not among the recordings.
    pub(super) n_skipped: usize,
    /// The length of the recordings that this run has transcribed, seconds.
    pub(super) audio_s: f64,
}

impl Tally {
    fn n_ended(&self) -> usize {
        self.n_transcribed + self.n_earlier + self.n_failed + self.n_known
    }

    /// Such as `12 of 40 files, 1 failed, 0.35 of 3.20 h of audio, 21 times as fast as it plays, 490 s left`. What is unknown is
    /// left out.
    fn text(&self, audio: Audio, elapsed: Duration) -> String {
        let failed = if self.n_failed > 0 { format!(", {} failed", self.n_failed) } else { String::new() };
        let hours = |seconds: f64| format!("{:.2}", seconds / 3600.0);
        let of_all = audio.total_s.map(|total_s| format!(" of {}", hours(total_s))).unwrap_or_default();
        let left = audio.left(elapsed).map(|left| format!(", {} s left", left.as_secs())).unwrap_or_default();
        format!(
            "{} of {} files{failed}, {}{of_all} h of audio, {:.0} times as fast as it plays{left}",
            self.n_ended(),
            self.n_files,
            hours(audio.done_s),
            audio.done_s / elapsed.as_secs_f64().max(0.001),
        )
    }

    /// The last line of a run.
    pub(super) fn summary(&self, elapsed: Duration) -> String {
        let earlier = match self.n_earlier {
            0 => String::new(),
            n => format!(", {n} by an earlier run"),
        };
        let known = match self.n_known {
            0 => String::new(),
            1 => ", 1 known failure".to_owned(),
            n => format!(", {n} known failures"),
        };
        let warnings = match self.n_with_warnings {
            0 => String::new(),
            n => format!(", {n} with warnings"),
        };
        format!(
            "{} of {} recordings transcribed{earlier}, {} failed{known}, {} skipped{warnings}: {:.2} h of audio in {:.0} s",
            self.n_transcribed,
            self.n_files,
            self.n_failed,
            self.n_skipped,
            self.audio_s / 3600.0,
            elapsed.as_secs_f64(),
        )
    }
}

/// The counts of the run's jobs, such as `on the server: 20 jobs waiting, 4 running, 873 done, 1 failed`.
fn on_the_server(group: &GroupBody) -> String {
    let GroupBody { queued, running, succeeded, failed, cancelled, .. } = group;
    let cancelled = if *cancelled > 0 { format!(", {cancelled} cancelled") } else { String::new() };
    format!(
        "on the server: {queued} jobs waiting, {running} running, {succeeded} done, {failed} failed{cancelled}"
    )
}

/// Shows a [`Tally`], and the group of the run's jobs.
#[derive(Debug)]
pub(super) struct Progress {
    started: Instant,
    printed: Instant,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Self {
        let bar =
            std::io::stderr().is_terminal().then(|| ProgressBar::new(BAR_LENGTH).with_style(style(BAR)));
        Self { started: Instant::now(), printed: Instant::now(), bar }
    }

    /// The time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows the tally, how much audio is transcribed, and the counts of the group if they are known, if it is time for that.
    pub(super) fn show(&mut self, tally: &Tally, audio: Audio, group: Option<&GroupBody>) {
        let text = tally.text(audio, self.elapsed());
        let counts = group.map(on_the_server);
        if let Some(bar) = &self.bar {
            bar.set_position(audio.share_of(BAR_LENGTH));
            bar.set_message(text);
            if let Some(counts) = counts {
                bar.set_style(style(BAR_AND_GROUP));
                bar.set_prefix(counts);
            }
        } else if self.printed.elapsed() >= LINE_INTERVAL {
            self.printed = Instant::now();
            let counts = counts.map(|counts| format!("; {counts}")).unwrap_or_default();
            output::note(format_args!("{text}{counts}"));
        }
    }

    /// Prints a line about a recording.
    pub(super) fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => output::note(format_args!("{line}")),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
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
            n_known: 2,
            n_skipped: 5,
            audio_s: 720.0,
        };
        let elapsed = Duration::from_secs(60);
        let audio = Audio { done_s: 720.0, total_s: Some(2880.0) };
        assert_eq!(
            tally.text(audio, elapsed),
            "6 of 8 files, 1 failed, 0.20 of 0.80 h of audio, 12 times as fast as it plays, 180 s left"
        );
        assert_eq!(
            Tally { n_files: 1, ..Tally::default() }.text(Audio::default(), elapsed),
            "0 of 1 files, 0.00 h of audio, 0 times as fast as it plays"
        );
        assert_eq!(
            tally.summary(elapsed),
            "2 of 8 recordings transcribed, 1 by an earlier run, 1 failed, 2 known failures, 5 skipped, 1 with warnings: 0.20 h of audio in 60 s"
        );
    }

    #[test]
    fn the_counts_of_the_group_are_those_of_its_jobs_on_the_server() {
        let group = |cancelled| GroupBody {
            name: "calls".to_owned(),
            has_ended: false,
            queued: 20,
            running: 4,
            succeeded: 873,
            failed: 1,
            cancelled,
            created_at: chrono::DateTime::UNIX_EPOCH,
            last_ended_at: None,
        };
        let counts = "on the server: 20 jobs waiting, 4 running, 873 done, 1 failed";
        assert_eq!(on_the_server(&group(0)), counts);
        assert_eq!(on_the_server(&group(2)), format!("{counts}, 2 cancelled"));
    }
}
