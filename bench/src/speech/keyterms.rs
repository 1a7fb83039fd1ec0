//! Measures key terms: how many of those that are said are recognised, and what changes where none is said.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_inference::{KeyTerms, speech::text};
use akhar_jobs::key_term::MAX_TERMS;
use akhar_tests::{figures::count, speech::distance};

use super::clips::{Clip, Transcriber, clips, samples, spoken};
use crate::{machine::Machine, report::Report};

/// Terms that are sent together.
struct Group {
    /// As they are compared with a text.
    spoken: Vec<String>,
    sent: KeyTerms,
}

impl Group {
    fn new(terms: &[String], lang: &str) -> Self {
        let spoken = terms.iter().map(|term| spoken(term, lang)).collect();
        Self { spoken, sent: KeyTerms::new(terms) }
    }

    /// How often any of the terms is in a text, beyond how often it is in what was said.
    fn n_inserted(&self, text: &str, said: &str) -> usize {
        self.spoken.iter().map(|term| n_times(term, text).saturating_sub(n_times(term, said))).sum()
    }
}

/// How often a term is in a text as whole words.
fn n_times(term: &str, text: &str) -> usize {
    let [text, term] = [text, term].map(|t| t.split(' ').collect::<Vec<_>>());
    text.windows(term.len()).filter(|words| *words == term).count()
}

/// What is counted with the terms, and without them.
#[derive(Default)]
struct Counts {
    n_found: usize,
    n_inserted: usize,
    took: Duration,
}

/// Transcribes each clip with the terms of its group and without them.
pub(crate) async fn keyterms(machine: Machine, folder: &Path, elsewhere: &[PathBuf], lang: &str) -> Report {
    let table = fs::read_to_string(folder.join("terms.txt")).expect("a folder with terms.txt");
    let terms: Vec<String> = table.lines().map(str::to_owned).collect();
    let groups: Vec<Group> = terms.chunks(MAX_TERMS).map(|some| Group::new(some, lang)).collect();
    let about = format!("{} terms in {lang}, at most {MAX_TERMS} in a request", terms.len());
    let mut report = Report::new(machine, "keyterms", about);
    report.machine.rest().await;
    let mut transcriber = Transcriber::open(lang, false, 1);
    let [mut without, mut with] = [Counts::default(), Counts::default()];
    for (n, clip) in clips(folder).iter().enumerate() {
        let group = &groups[n / MAX_TERMS];
        let term = spoken(&terms[n], lang);
        let Some((before, after)) = transcriber.compare(clip, group, &mut without, &mut with) else {
            continue;
        };
        without.n_found += n_times(&term, &before).min(1);
        with.n_found += n_times(&term, &after).min(1);
    }
    for (name, counts) in [("without", &without), ("with", &with)] {
        let row = vec![
            ("found", count(counts.n_found)),
            ("of", count(terms.len())),
            ("percent", 100.0 * count(counts.n_found) / count(terms.len())),
            ("inserted", count(counts.n_inserted)),
        ];
        report.row(&format!("said, {name}"), row);
    }
    for folder in elsewhere {
        transcriber.elsewhere(folder, &groups, &mut report);
    }
    report
}

impl Transcriber {
    /// Transcribes the clips of a folder, in which no term is said, with the terms of each group in turn.
    fn elsewhere(&mut self, folder: &Path, groups: &[Group], report: &mut Report) {
        let [mut without, mut with] = [Counts::default(), Counts::default()];
        let (mut n_changed, mut n_words, mut n_samples) = (0, 0, 0);
        let (mut n_wrong_without, mut n_wrong_with) = (0, 0);
        let mut n_said = 0;
        for (n, clip) in clips(folder).iter().enumerate() {
            let group = &groups[n % groups.len()];
            let Some((before, after)) = self.compare(clip, group, &mut without, &mut with) else { continue };
            let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
            let (before, after, said) =
                (words(&before), words(&after), words(&spoken(&clip.text, &self.lang)));
            n_changed += distance(&before, &after);
            n_words += before.len();
            n_said += said.len();
            n_wrong_without += distance(&said, &before);
            n_wrong_with += distance(&said, &after);
            n_samples += samples(&clip.bytes).map_or(0, |samples| samples.len());
        }
        let hours = count(n_samples) / 16_000.0 / 3600.0;
        let name = folder.parent().filter(|_| folder.ends_with("wav")).unwrap_or(folder);
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        let row = vec![
            ("hours", hours),
            ("inserted", count(with.n_inserted)),
            ("inserted_an_hour", count(with.n_inserted) / hours),
            ("words", count(n_words)),
            ("changed_percent", 100.0 * count(n_changed) / count(n_words)),
            ("wer_without", 100.0 * count(n_wrong_without) / count(n_said)),
            ("wer_with", 100.0 * count(n_wrong_with) / count(n_said)),
            ("time_ratio", with.took.as_secs_f64() / without.took.as_secs_f64()),
        ];
        report.row(&format!("not said, {name}"), row);
    }

    /// The text of a clip without terms and with those of a group. `None` for files of other formats.
    fn compare(
        &mut self,
        clip: &Clip,
        group: &Group,
        without: &mut Counts,
        with: &mut Counts,
    ) -> Option<(String, String)> {
        let samples = samples(&clip.bytes)?;
        let said = spoken(&clip.text, &self.lang);
        let mut transcribe = |terms: &KeyTerms, counts: &mut Counts| {
            let started = Instant::now();
            let words = self.transcribe(&samples, terms);
            counts.took += started.elapsed();
            let text = spoken(&text(&words), &self.lang);
            counts.n_inserted += group.n_inserted(&text, &said);
            text
        };
        Some((transcribe(&KeyTerms::default(), without), transcribe(&group.sent, with)))
    }
}
