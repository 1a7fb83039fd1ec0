//! Measures other programs on the same clips. `training/speech/measure/peer.py` runs them, and the lines that it prints are
//! compared with this process and with the service.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use akhar_inference::{KeyTerms, speech::text};
use akhar_tests::{
    Stack,
    figures::{Row, count},
    root,
};
use serde_json::Value;

use super::clips::{Clip, Quality, Transcriber, samples};
use crate::report::Report;

/// How often each clip is transcribed.
const N_RUNS: usize = 3;

/// Adds a row for each other program, with `threads` threads, and for this process, which decodes greedily. The
/// samples are in memory. The other programs of Panjabi run the same model file, and their decoding is greedy as
/// well. Those of English have their own defaults, and the service, with its beams and its aligner, is one of them.
pub(super) fn beside_peers(
    clips: &[Clip],
    (folder, lang): (&Path, &str),
    python: &Path,
    stack: &Stack,
    report: &mut Report,
) {
    let n_threads: &[usize] = if lang == "en" { &[1] } else { &[1, 2] };
    let lines = lines(folder, lang, python, stack);
    for &n_threads in n_threads {
        let ours = in_process(clips, lang, n_threads);
        report.row(
            &format!("akhar, greedy, in process, {n_threads} threads"),
            vec![("rtf", ours.spent / ours.seconds)],
        );
        let of_threads = |line: &&Value| line["threads"] == n_threads && line["peer"] != "reference";
        let lines: Vec<&Value> = lines.iter().filter(of_threads).collect();
        let mut peers: Vec<&str> = lines.iter().filter_map(|line| line["peer"].as_str()).collect();
        peers.sort_unstable();
        peers.dedup();
        for peer in peers {
            let of_peer: Vec<&Value> = lines.iter().copied().filter(|line| line["peer"] == peer).collect();
            report.row(&format!("{peer}, {n_threads} threads"), ours.beside(&of_peer));
        }
    }
}

/// What the script prints for each clip and program.
fn lines(folder: &Path, lang: &str, python: &Path, stack: &Stack) -> Vec<Value> {
    let mut command = Command::new(python);
    command.current_dir(root().join("training")).args(["-m", "speech.measure.peer", "--language", lang]);
    if lang == "en" {
        command.args(["--weights", "../models/fetched/moonshine-tiny-en", "--threads", "1"]);
        command.args(["--url", &stack.base, "--key", &stack.key]);
    } else {
        command.args(["--weights", "../models/weights", "--threads", "1", "2"]);
    }
    command.args(["--runs", &N_RUNS.to_string(), "--clips"]);
    let peers =
        command.arg(folder.canonicalize().expect("a folder")).output().expect("the peers' script runs");
    assert!(peers.status.success(), "{}", String::from_utf8_lossy(&peers.stderr));
    let lines = String::from_utf8_lossy(&peers.stdout);
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What this process recognised in each clip, the seconds that it needed and the seconds of sound.
struct InProcess {
    texts: Vec<(String, String)>,
    spent: f64,
    seconds: f64,
}

fn in_process(clips: &[Clip], lang: &str, n_threads: usize) -> InProcess {
    let mut transcriber = Transcriber::open(lang, true, n_threads);
    let mut ours = InProcess { texts: Vec::new(), spent: 0.0, seconds: 0.0 };
    for clip in clips {
        let Some(samples) = samples(&clip.bytes) else { continue };
        ours.seconds += count(samples.len()) / 16_000.0;
        let mut times = [Duration::ZERO; N_RUNS];
        let mut recognised = String::new();
        for time in &mut times {
            let started = Instant::now();
            recognised = text(&transcriber.transcribe(&samples, &KeyTerms::default()));
            *time = started.elapsed();
        }
        times.sort_unstable();
        ours.spent += times[N_RUNS / 2].as_secs_f64();
        ours.texts.push((clip.name.clone(), recognised));
    }
    ours
}

impl InProcess {
    /// The row of another program: its speed beside this process, its wrong words, and where its texts differ.
    fn beside(&self, lines: &[&Value]) -> Row {
        let sum = |name: &str| lines.iter().filter_map(|line| line[name].as_f64()).sum::<f64>();
        let (mut same, mut apart) = (0, Quality::default());
        for (name, recognised) in &self.texts {
            let text = lines.iter().find(|line| line["file"] == **name).map(|line| &line["text"]);
            let text = text.and_then(Value::as_str).unwrap_or_default();
            same += usize::from(text == recognised);
            apart.add(text, recognised);
        }
        vec![
            ("rtf", sum("seconds") / self.seconds),
            ("ratio", sum("seconds") / self.spent),
            ("wer_percent", 100.0 * sum("wrong") / sum("words")),
            ("same_texts", count(same)),
            ("of", count(self.texts.len())),
            ("characters_agree_percent", 100.0 - apart.characters.percent()),
        ]
    }
}
