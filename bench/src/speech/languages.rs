//! Measures how often the language of a recording is detected, as `lang=auto` does it.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_inference::{
    Confidence, KeyTerms,
    speech::{Chunker, ENOUGH_SAMPLES, Evidence, Transcript, WindowInput, likeliest},
};
use akhar_tests::figures::{Row, count};

use super::clips::{Transcriber, clips, runtime, samples};
use crate::{machine::Machine, report::Report};

/// The languages, in the order of the models.
const LANGUAGES: [&str; 2] = ["pa", "en"];

/// What became of the clips in one language, or in one set of them.
#[derive(Default)]
struct Counts {
    /// For each language, how many clips were taken for it.
    detected: [usize; 2],
    n_unclear: usize,
    /// The time of the model of the language that is spoken, and of the other one.
    took: [Duration; 2],
}

impl Counts {
    fn add(&mut self, other: &Self) {
        for (sum, n) in self.detected.iter_mut().zip(other.detected) {
            *sum += n;
        }
        self.n_unclear += other.n_unclear;
        for (sum, took) in self.took.iter_mut().zip(other.took) {
            *sum += took;
        }
    }

    fn row(&self, spoken: usize) -> Row {
        let [own, other] = self.took.map(|took| took.as_secs_f64());
        let n = count(self.detected.iter().sum::<usize>() + self.n_unclear);
        vec![
            ("clips", n),
            ("as_pa", count(self.detected[0])),
            ("as_en", count(self.detected[1])),
            ("unclear", count(self.n_unclear)),
            ("right_percent", 100.0 * count(self.detected[spoken]) / n),
            ("unclear_percent", 100.0 * count(self.n_unclear) / n),
            ("time_ratio", (own + other) / own),
        ]
    }
}

/// Detects the language of the clips of at least two seconds in these folders, of which one list has Panjabi and the other
/// English.
pub(crate) async fn languages(machine: Machine, folders: [&[PathBuf]; 2]) -> Report {
    let about = "clips of at least 2 s by the language that is detected, and the time with both models as a multiple of \
        that with the one of the language";
    let mut report = Report::new(machine, "languages", about.to_owned());
    report.machine.rest().await;
    let runtime = runtime();
    let mut models = LANGUAGES.map(|lang| Transcriber::load(&runtime, lang, false, 1));
    for (spoken, folders) in folders.into_iter().enumerate() {
        let mut all = Counts::default();
        for folder in folders {
            let counts = of_folder(&mut models, spoken, folder);
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            report.row(&format!("{}, {name}", LANGUAGES[spoken]), counts.row(spoken));
            all.add(&counts);
        }
        report.row(&format!("{}, all", LANGUAGES[spoken]), all.row(spoken));
    }
    report
}

fn of_folder(models: &mut [Transcriber; 2], spoken: usize, folder: &Path) -> Counts {
    let mut counts = Counts::default();
    for clip in clips(folder) {
        let Some(samples) = samples(&clip.bytes).filter(|samples| samples.len() >= ENOUGH_SAMPLES) else {
            continue;
        };
        let texts = [0, 1].map(|nth| {
            let started = Instant::now();
            let text = models[nth].beginning(&samples);
            counts.took[usize::from(nth != spoken)] += started.elapsed();
            text
        });
        match likeliest(&texts) {
            Some(nth) => counts.detected[nth] += 1,
            None => counts.n_unclear += 1,
        }
    }
    counts
}

impl Transcriber {
    /// The evidence for the text of the first windows, as many as a worker reads to detect the language.
    fn beginning(&mut self, samples: &[f32]) -> (Evidence, Confidence) {
        let front_end = self.model.front_end();
        let mut chunker = Chunker::new(self.model.clock().grid);
        let mut windows = chunker.push(samples);
        windows.extend(chunker.finish());
        let terms = KeyTerms::default();
        let mut n_samples = 0;
        let mut evidence = Evidence::default();
        for window in windows {
            let features = front_end.features(&window.samples);
            if n_samples >= ENOUGH_SAMPLES || features.n_frames == 0 {
                continue;
            }
            n_samples += window.samples.len();
            let input = WindowInput { features: &features, terms: &terms };
            let outputs = self.model.infer(&[input], &self.lang).expect("it runs");
            let transcripts = outputs.into_iter().map(|output| output.decode(&terms));
            evidence += transcripts.map(|transcript: Transcript| transcript.evidence()).sum();
        }
        (evidence, self.confidence.expect("the bundled models tell it"))
    }
}
