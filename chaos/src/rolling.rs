//! A rolling restart under load: two api and three worker processes are stopped by SIGTERM and started again, one after
//! another, behind `HAProxy` with the file of `deploy/`. No request may fail.

use std::time::Duration;

use akhar_tests::{
    Cluster, Form, Stack,
    figures::{count, line, response_times},
    http,
    images::fixture_of,
    load::{Load, Sample, n_good, statuses},
    load_balancer::Program,
    speech,
};
use rustix::process::Signal;
use tokio::time::{Instant, sleep};

const N_WORKERS: usize = 3;
/// Clients that send digits, and clients that send recordings.
const N_CLIENTS: [usize; 2] = [8, 2];
/// Seconds that an api goes on accepting requests after the signal. `HAProxy` checks each second, and believes two checks.
const DRAIN_S: u64 = 5;
/// The load before the first restart, between two, and after the last one.
const PAUSE: Duration = Duration::from_secs(3);

/// Restarts every process `rounds` times. Returns what failed.
pub(crate) async fn run(rounds: usize) -> Vec<String> {
    let cluster = Cluster::own();
    let started = Stack::with().on(&cluster).workers(N_WORKERS).set("AKHAR_DRAIN_S", DRAIN_S).start();
    let mut stack = started.await;
    let (mut second_api, second_base) = stack.start_api().await;
    let haproxy = Program::HaProxy.start(cluster.folder(), [&stack.base, &second_base]).await;
    let base = &haproxy.base;
    let client = http::client();
    let request = |operation: &str, form: &Form| {
        form.send_with(client.post(format!("{base}/v1/models/{operation}")).bearer_auth(&stack.key))
    };
    let digit = fixture_of("੫");
    let clip = speech::recording("pa-school.wav");
    let requests = [
        ("digits", request(digit.operation, &Form::upload(&digit.bytes))),
        ("recordings", request("speech-recognition", &Form::upload_and(&clip.bytes, "lang", clip.lang))),
    ];
    let started = Instant::now();
    let loads =
        requests.into_iter().zip(N_CLIENTS).map(|((name, request), n)| (name, Load::measure(&request, n)));
    let loads: Vec<_> = loads.collect();
    for _ in 0..rounds {
        for process in [&mut stack.api, &mut second_api].into_iter().chain(&mut stack.workers) {
            sleep(PAUSE).await;
            let status = process.restart(Signal::TERM).await;
            assert!(status.success(), "a process ended with {status}");
        }
    }
    sleep(PAUSE).await;
    let mut failures = Vec::new();
    for (name, load) in loads {
        failures.extend(failure(name, &load.stop().await));
    }
    println!("two apis and {N_WORKERS} workers, {rounds} rounds in {:.0} s", started.elapsed().as_secs_f64());
    failures
}

/// Prints the response times. Returns what failed.
fn failure(name: &str, samples: &[Sample]) -> Option<String> {
    let n_failed = samples.len() - n_good(samples);
    println!("{}", line(name, &[response_times(samples), vec![("failed", count(n_failed))]].concat()));
    (n_failed > 0).then(|| format!("{name}: statuses (0: no answer): {:?}", statuses(samples)))
}
