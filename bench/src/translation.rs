//! Measures the speed of translation, compared with `CTranslate2` and the same weights.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use akhar_inference::{Runtime, load_all, seq2seq::Translator};
use akhar_tests::{
    figures::count,
    root,
    stack::{models, onnxruntime},
};
use serde_json::Value;

use crate::{machine::Machine, report::Report};

/// The largest number of tokens for each text, as in the peers' script.
const LIMIT: usize = 40;
/// The number of runs, of which the best one counts.
const RUNS: usize = 3;

/// The sizes of batches.
const BATCHES: [usize; 2] = [1, 16];

/// A text of the golden file, with what the reference made of it.
struct Case {
    text: String,
    greedy: String,
    n_tokens: usize,
}

/// What one run over all texts gave.
#[derive(Default)]
struct Run {
    elapsed: Duration,
    n_tokens: usize,
    /// How many translations are those of the golden file.
    n_same: usize,
}

/// Translates the texts of the bundled model's golden file with greedy search and with the model's beam, alone and in
/// batches.
pub(crate) async fn run(machine: Machine, python: Option<&Path>) -> Report {
    let directions = directions();
    let n_texts = directions.iter().map(|(_, cases)| cases.len()).sum::<usize>();
    let mut report = Report::new(machine, "translation", format!("{n_texts} texts, best of {RUNS} runs"));
    report.machine.rest().await;
    let theirs = python.map(peers).unwrap_or_default();
    let runtime = Runtime::load(&onnxruntime()).expect("ONNX Runtime");
    for n_threads in [1, 2] {
        for is_greedy in [true, false] {
            let mut translator = translator(&runtime, n_threads, is_greedy);
            for n_batch in BATCHES {
                let runs: Vec<Run> =
                    (0..RUNS).map(|_| translated(&mut translator, &directions, n_batch)).collect();
                let best = runs.iter().min_by_key(|run| run.elapsed).expect("a run");
                let ours = count(best.n_tokens) / best.elapsed.as_secs_f64();
                let search = if is_greedy { "greedy" } else { "beam" };
                let name = format!("akhar, {search}, {n_threads} threads, batches of {n_batch}");
                let same = ("same_as_greedy_golden", count(best.n_same));
                report.row(&name, vec![("tokens_per_s", ours), same]);
                let alike = |line: &&Value| line["threads"] == n_threads && line["batch"] == n_batch;
                for peer in theirs.iter().filter(alike).filter(|_| is_greedy) {
                    let rate = peer["tokens_per_second"].as_f64().expect("a number");
                    let n_same = peer["same_as_golden"].as_f64().unwrap_or_default();
                    let name = peer["peer"].as_str().unwrap_or_default();
                    let name = format!("{name}, greedy, {n_threads} threads, batches of {n_batch}");
                    let values = vec![
                        ("tokens_per_s", rate),
                        ("ratio", ours / rate),
                        ("same_as_greedy_golden", n_same),
                    ];
                    report.row(&name, values);
                }
            }
        }
    }
    report
}

/// The cases of the golden file by their source and target languages.
fn directions() -> Vec<([String; 2], Vec<Case>)> {
    let golden = root().join("tests/fixtures/seq2seq/bundled.json");
    let golden: Value = serde_json::from_slice(&fs::read(&golden).expect("a fixture")).expect("JSON");
    let mut directions: Vec<([String; 2], Vec<Case>)> = Vec::new();
    for case in golden["cases"].as_array().expect("cases") {
        let text = |name: &str| case[name].as_str().expect("a text").to_owned();
        let languages = [text("source"), text("target")];
        // The tokens are those of the golden file, without the start and the forced language.
        let n_tokens = case["greedy_ids"].as_array().map_or(0, |ids| ids.len() - 2);
        let case = Case { text: text("text"), greedy: text("greedy_text"), n_tokens };
        match directions.iter_mut().find(|(known, _)| *known == languages) {
            Some((_, cases)) => cases.push(case),
            None => directions.push((languages, vec![case])),
        }
    }
    directions
}

/// Translates all texts once.
fn translated(translator: &mut Translator, directions: &[([String; 2], Vec<Case>)], n_batch: usize) -> Run {
    let mut run = Run::default();
    let started = Instant::now();
    for ([from, to], cases) in directions {
        for batch in cases.chunks(n_batch) {
            let texts: Vec<&str> = batch.iter().map(|case| case.text.as_str()).collect();
            let said = translator.translate(&texts, from, to).expect("it translates");
            for (case, said) in batch.iter().zip(said) {
                run.n_same += usize::from(said.text == case.greedy);
                run.n_tokens += case.n_tokens;
            }
        }
    }
    run.elapsed = started.elapsed();
    run
}

/// The bundled translator, with greedy search or the manifest's beam.
fn translator(runtime: &Runtime, n_threads: usize, is_greedy: bool) -> Translator {
    let mut all = load_all(&models()).expect("manifests").into_iter();
    let mut manifest = all.find(|m| m.operation == "translation").expect("a translator");
    let generation = manifest.generation.as_mut().expect("how it writes");
    generation.max_new_tokens = LIMIT;
    if is_greedy {
        generation.num_beams = 1;
        generation.reverse_weight = 0.0; // there is nothing to choose from
    }
    Translator::load(runtime, &manifest, n_threads).expect("the model")
}

fn peers(python: &Path) -> Vec<Value> {
    let peers = Command::new(python)
        .current_dir(root().join("training"))
        .args(["-m", "translation.peer", "--models-dir", "../models", "--runs", &RUNS.to_string()])
        .args(["--batches"])
        .args(BATCHES.map(|n_batch| n_batch.to_string()))
        .args(["--limit", &LIMIT.to_string(), "--texts", "../tests/fixtures/seq2seq/bundled.json"])
        .output()
        .expect("the peers' script runs");
    assert!(peers.status.success(), "{}", String::from_utf8_lossy(&peers.stderr));
    String::from_utf8_lossy(&peers.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
