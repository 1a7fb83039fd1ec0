//! Measures the speed of translation, compared with Python runtimes that use the same files.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use akhar_inference::{load_all, seq2seq::Translator};
use akhar_tests::root;
use serde_json::Value;

use crate::{
    report::{Report, count},
    runtime::runtime,
};

/// The largest number of tokens for each text, as in the peers' script.
const LIMIT: usize = 40;
/// The number of runs, of which the best one counts.
const RUNS: usize = 3;

/// Translates the texts of the bundled model's golden file, one after another, with greedy search.
pub(crate) fn run(python: Option<&Path>) -> Report {
    let golden = root().join("tests/fixtures/seq2seq/bundled.json");
    let golden: Value = serde_json::from_slice(&fs::read(&golden).expect("a fixture")).expect("JSON");
    let cases = golden["cases"].as_array().expect("cases");
    let mut report =
        Report::new("translation", format!("{} texts alone, greedily, best of {RUNS} runs", cases.len()));
    let theirs = python.map(peers).unwrap_or_default();
    for n_threads in [1, 2] {
        let mut translator = translator(n_threads);
        let (mut best, mut n_tokens, mut n_same) = (Duration::MAX, 0, 0);
        for _ in 0..RUNS {
            (n_tokens, n_same) = (0, 0);
            let started = Instant::now();
            for case in cases {
                let text = |name: &str| case[name].as_str().expect("a text");
                let said = translator.translate(&[text("text")], text("source"), text("target"));
                let said = said.expect("it translates").remove(0);
                n_same += usize::from(said.text == text("greedy_text"));
                // The tokens are those of the golden file, without the start and the forced language.
                n_tokens += case["greedy_ids"].as_array().map_or(0, |ids| ids.len() - 2);
            }
            best = best.min(started.elapsed());
        }
        let ours = count(n_tokens) / best.as_secs_f64();
        let same = ("same_as_golden", count(n_same));
        report.row(&format!("akhar, {n_threads} threads"), vec![("tokens_per_s", ours), same]);
        for peer in theirs.iter().filter(|line| line["threads"] == n_threads) {
            let rate = peer["tokens_per_second"].as_f64().expect("a number");
            let same = ("same_as_golden", peer["same_as_golden"].as_f64().unwrap_or_default());
            let name = format!("{}, {n_threads} threads", peer["peer"].as_str().unwrap_or_default());
            report.row(&name, vec![("tokens_per_s", rate), ("ratio", ours / rate), same]);
        }
    }
    report
}

fn translator(n_threads: usize) -> Translator {
    let mut all = load_all(&root().join("models")).expect("manifests").into_iter();
    let mut manifest = all.find(|m| m.operation == "translation").expect("a translator");
    let generation = manifest.generation.as_mut().expect("how it writes");
    (generation.num_beams, generation.max_new_tokens) = (1, LIMIT);
    Translator::load(runtime(), &manifest, n_threads).expect("the model")
}

fn peers(python: &Path) -> Vec<Value> {
    let peers = Command::new(python)
        .current_dir(root().join("training"))
        .args(["-m", "translation.peer", "--models-dir", "../models", "--runs", &RUNS.to_string()])
        .args(["--limit", &LIMIT.to_string(), "--texts", "../tests/fixtures/seq2seq/bundled.json"])
        .output()
        .expect("the peers' script runs");
    assert!(peers.status.success(), "{}", String::from_utf8_lossy(&peers.stderr));
    String::from_utf8_lossy(&peers.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
