//! Digit recognition compared with `LitServe` and `BentoML`. The three take turns on the same cores, with the
//! same client and the same ONNX file.
//!
//! The two peers keep a request in memory only; Akhar's requests survive a crash. The peers' programs are in
//! `bench/peers/`, and `bench/peers/setup.sh` installs their packages.

mod tree;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use akhar_tests::{
    Answer, Cluster, Form,
    figures::{Row, count, number},
    free_port, http,
    images::fixture_of,
    load::{closed_loop, measure, n_good},
    root,
    stack::models,
    until,
};
use reqwest::RequestBuilder;
use serde_json::Value;

use crate::{
    cpu::CpuMeter,
    load::{for_seconds, medians_of, row_of, warm_stack},
    machine::Machine,
    report::{Report, results},
    targets,
};
use tree::ProcessTree;

/// The digit in the picture.
const LABEL: &str = "੫";

/// The number of requests before a turn is measured.
const WARM_UP: usize = 200;

/// A program that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    Akhar,
    LitServe,
    BentoMl,
}

impl Contender {
    const ALL: [Self; 3] = [Self::Akhar, Self::LitServe, Self::BentoMl];

    const fn name(self) -> &'static str {
        match self {
            Self::Akhar => "Akhar",
            Self::LitServe => "LitServe",
            Self::BentoMl => "BentoML",
        }
    }
}

/// Measures requests/s and response times of the three programs: medians of `n_rounds` turns of `seconds`
/// each.
pub(crate) async fn run(machine: Machine, seconds: u64, clients: usize, n_rounds: usize) -> Report {
    let about = format!(
        "digit recognition, {clients} closed-loop clients, {n_rounds} turns of {seconds} s each, medians; cpu_ms is of all \
         processes of the service, per answered request"
    );
    let mut report = Report::new(machine, "peers", about);
    let cluster = Cluster::own();
    let mut rounds: [Vec<Row>; 3] = Default::default();
    for _ in 0..n_rounds {
        for (contender, rows) in Contender::ALL.into_iter().zip(&mut rounds) {
            report.machine.rest().await;
            let row = turn(contender, &cluster, seconds, clients).await;
            println!("{}: {row:?}", contender.name());
            rows.push(row);
        }
    }
    let medians = rounds.map(|rows| medians_of(&rows));
    for (contender, row) in Contender::ALL.into_iter().zip(&medians) {
        report.row(contender.name(), row.clone());
    }
    let [ours, lit, bento] = medians;
    for (name, theirs, target) in [
        ("LitServe", lit, targets::DIGITS_BESIDE_LITSERVE),
        ("BentoML", bento, targets::DIGITS_BESIDE_BENTOML),
    ] {
        for (what, unit, target) in [
            ("per_s", "requests/s", target),
            ("p50_ms", "ms", targets::RESPONSE_TIME_BESIDE_PEERS),
            ("p99_ms", "ms", targets::RESPONSE_TIME_BESIDE_PEERS),
        ] {
            let what_in_words = format!("digits, {clients} clients, {what}, beside {name}");
            report.figure(what_in_words, unit, number(&ours, what), number(&theirs, what), target);
        }
    }
    report
}

/// Starts a program, measures it, and stops it.
async fn turn(who: Contender, cluster: &Cluster, seconds: u64, clients: usize) -> Row {
    if who == Contender::Akhar {
        let (stack, request) = warm_stack(cluster).await;
        check(who, &http::send(request.try_clone().expect("bytes")).await);
        warm(&request, clients).await;
        let meter = CpuMeter::start(&stack, cluster);
        let samples = for_seconds(&request, clients, seconds).await;
        let split = meter.per_request(n_good(&samples));
        let cpu: f64 = split.iter().filter(|(name, _)| *name != "client_cpu_ms").map(|(_, ms)| ms).sum();
        return [row_of(&samples, seconds), vec![("cpu_ms", cpu)], split].concat();
    }
    let (tree, request) = start(who).await;
    warm(&request, clients).await;
    let before = tree.cpu_ms();
    let samples = for_seconds(&request, clients, seconds).await;
    let cpu = (tree.cpu_ms() - before) / count(n_good(&samples));
    [row_of(&samples, seconds), vec![("cpu_ms", cpu)]].concat()
}

async fn warm(request: &RequestBuilder, clients: usize) {
    let mut n_sent = 0;
    while n_sent < WARM_UP {
        n_sent +=
            closed_loop(request, clients, Instant::now() + Duration::from_millis(500)).await.len().max(1);
    }
}

/// The command of a peer, the path of its operation, and the form's field for the picture.
fn program(who: Contender, port: u16) -> (Command, &'static str, &'static str) {
    let bin = root().join(".cache/peers/python/bin");
    if who == Contender::BentoMl {
        let mut command = Command::new(bin.join("bentoml"));
        let port = port.to_string();
        command.args(["serve", "bentoml_digits:Digits", "--host", "127.0.0.1", "--port", &port]);
        (command, "classify", "images")
    } else {
        let mut command = Command::new(bin.join("python"));
        command.arg("litserve_digits.py").env("PORT", port.to_string());
        (command, "predict", "file")
    }
}

/// Starts a peer. When this returns, the peer is ready and has recognised the picture correctly.
async fn start(who: Contender) -> (ProcessTree, RequestBuilder) {
    let port = free_port();
    let (mut command, path, field) = program(who, port);
    command.current_dir(root().join("bench/peers")).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("DIGITS_ONNX", models().join("weights/digits-pa.onnx"));
    command.env("BENTOML_DO_NOT_TRACK", "True").env("BENTOML_HOME", root().join(".cache/peers/bentoml"));
    let log = results().join(format!("{}.log", who.name()));
    let mut tree = ProcessTree::start(command, &log);
    let form = Form::default().file(field, &fixture_of(LABEL).bytes);
    let request = form.send_with(http::client().post(format!("http://127.0.0.1:{port}/{path}")));
    until(&format!("{} answers (see {})", who.name(), log.display()), async || {
        assert!(tree.is_running(), "{} ended: see {}", who.name(), log.display());
        measure(&request).await.is_good().then_some(())
    })
    .await;
    check(who, &http::send(request.try_clone().expect("bytes")).await);
    (tree, request)
}

/// Checks that the picture was recognised correctly. `BentoML` answers with a batch of one.
fn check(who: Contender, answer: &Answer) {
    let json = answer.json();
    let one = if let Value::Array(batch) = &json { &batch[0] } else { &json };
    assert_eq!(one["predictions"][0]["label"], LABEL, "{}: {json}", who.name());
}
