//! A rolling restart under load: two api and three worker processes are stopped by SIGTERM and started again, one after
//! another, behind `HAProxy`. No request may fail.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use akhar_tests::{
    Cluster, Form, Process, http, images::fixture_of, process::command, speech, stack::base_environment,
    until,
};
use reqwest::RequestBuilder;
use rustix::process::Signal;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

use crate::{
    clients::{Sample, closed_loop, statuses},
    report::{Figure, Report, count, quantiles},
};

const N_APIS: usize = 2;
const N_WORKERS: usize = 3;
/// Clients that send digits, and clients that send recordings.
const N_CLIENTS: [usize; 2] = [8, 2];
/// Seconds that an api goes on accepting requests after the signal. `HAProxy` checks each second, and believes two checks.
const DRAIN_S: &str = "5";
/// The load before the first restart, between two, and after the last one.
const PAUSE: Duration = Duration::from_secs(3);

/// A process that is started again with the same settings.
#[derive(Debug)]
struct Restarted {
    subcommand: &'static str,
    environment: Vec<(String, String)>,
    process: Process,
}

impl Restarted {
    async fn start(subcommand: &'static str, environment: Vec<(String, String)>) -> Self {
        let mut process = Process::start(subcommand, &environment);
        process.first_line().await;
        Self { subcommand, environment, process }
    }

    /// Stops the process with SIGTERM, waits for its end, and starts it again. Returns when it is ready.
    async fn restart(&mut self) {
        self.process.signal(Signal::TERM);
        let status = self.process.ended().await;
        assert!(status.success(), "{} ended with {status}", self.subcommand);
        self.process = Process::start(self.subcommand, &self.environment);
        self.process.first_line().await;
    }
}

/// Restarts every process `rounds` times.
pub(crate) async fn run(rounds: usize) -> Report {
    let cluster = Cluster::own();
    let environment = base_environment(&cluster.database().await);
    let with = |changed: &[(&str, String)]| -> Vec<(String, String)> {
        let is_changed = |name: &str| changed.iter().any(|(changed, _)| *changed == name);
        let kept = environment.iter().filter(|(name, _)| !is_changed(name)).cloned();
        kept.chain(changed.iter().map(|(name, value)| ((*name).to_owned(), value.clone()))).collect()
    };
    let key = command(&["keys", "create", "--name", "rolling"], &environment).output().await;
    let migrated = key.expect("akhar keys runs");
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let key = String::from_utf8(migrated.stdout).expect("UTF-8").trim().to_owned();
    let ports = free_ports();
    let (apis, balancer) = ports.split_at(N_APIS);
    let mut processes = Vec::new();
    for port in apis {
        let listen = format!("127.0.0.1:{port}");
        let settings = with(&[("AKHAR_LISTEN", listen), ("AKHAR_DRAIN_S", DRAIN_S.to_owned())]);
        processes.push(Restarted::start("api", settings).await);
    }
    for _ in 0..N_WORKERS {
        processes.push(Restarted::start("worker", environment.clone()).await);
    }
    let base = format!("http://127.0.0.1:{}", balancer[0]);
    let _haproxy = haproxy(cluster.folder(), balancer[0], apis);
    let client = http::client();
    let ready = client.get(format!("{base}/health/ready"));
    until("HAProxy answers", async || {
        let answer = ready.try_clone().expect("no body").send().await;
        answer.is_ok_and(|answer| answer.status() == 200).then_some(())
    })
    .await;
    let post = |operation: &str, form: &Form| {
        let request = client.post(format!("{base}/v1/models/{operation}")).bearer_auth(&key);
        request.header("content-type", form.content_type()).body(form.body())
    };
    let (digit, clip) = (fixture_of("੫"), speech::recording("pa-school.wav"));
    let digits = post(digit.operation, &Form::upload(&digit.bytes));
    let clips = post("speech-recognition", &Form::upload_and(&clip.bytes, "lang", clip.lang));
    let (seconds, [digits, clips]) = load_while(&mut processes, rounds, [digits, clips]).await;
    let about = format!(
        "{N_APIS} api and {N_WORKERS} worker processes behind HAProxy, {rounds} rounds, {seconds:.0} s"
    );
    report(about, &digits, &clips)
}

/// Sends requests while each process is restarted in turn. Returns the duration, and the measurements of both kinds.
async fn load_while(
    processes: &mut [Restarted],
    rounds: usize,
    requests: [RequestBuilder; 2],
) -> (f64, [Vec<Sample>; 2]) {
    // The load ends when the last restart is over, whose time is not known before: the clients run in slices.
    let started = Instant::now();
    let (done, is_done) = tokio::sync::watch::channel(false);
    let loads = requests.into_iter().zip(N_CLIENTS).map(|(request, n)| {
        let is_done = is_done.clone();
        tokio::spawn(async move {
            let mut samples = Vec::new();
            while !*is_done.borrow() {
                samples.extend(closed_loop(&request, n, Instant::now() + Duration::from_secs(1)).await);
            }
            samples
        })
    });
    let loads: Vec<_> = loads.collect();
    for _ in 0..rounds {
        for process in &mut *processes {
            sleep(PAUSE).await;
            process.restart().await;
        }
    }
    sleep(PAUSE).await;
    done.send_replace(true);
    let mut all = [Vec::new(), Vec::new()];
    for (samples, load) in all.iter_mut().zip(loads) {
        *samples = load.await.expect("no panic");
    }
    (started.elapsed().as_secs_f64(), all)
}

fn report(about: String, digits: &[Sample], clips: &[Sample]) -> Report {
    let mut report = Report::new("rolling", about);
    let mut n_failed = 0;
    for (name, samples) in [("digits", digits), ("recordings", clips)] {
        let mut row = quantiles(&samples.iter().map(|s| s.took).collect::<Vec<_>>());
        let failed = samples.iter().filter(|s| s.status != Some(200)).count();
        row.push(("failed", count(failed)));
        n_failed += failed;
        report.row(name, row);
    }
    let n = digits.len() + clips.len();
    let what = format!("failed requests of {n} during a rolling restart");
    report.figure(Figure { what, unit: "requests", ours: count(n_failed), other: None, reach: "0" });
    if n_failed > 0 {
        report.fail(format!("statuses (0: no answer): {:?}, {:?}", statuses(digits), statuses(clips)));
    }
    report
}

/// As many free ports as there are api processes, and one for `HAProxy`.
fn free_ports() -> Vec<u16> {
    let held: Vec<TcpListener> =
        (0..=N_APIS).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    held.iter().map(|listener| listener.local_addr().expect("an address").port()).collect()
}

/// Starts `HAProxy` in front of the api processes.
fn haproxy(folder: &Path, port: u16, apis: &[u16]) -> Child {
    let servers: Vec<String> = apis
        .iter()
        .enumerate()
        .map(|(n, api)| format!("    server api-{n} 127.0.0.1:{api} check\n"))
        .collect();
    let config = format!(
        "defaults
    mode http
    timeout connect 2s
    timeout client 310s
    timeout server 310s
frontend clients
    bind 127.0.0.1:{port}
    default_backend apis
backend apis
    balance leastconn
    option httpchk GET /health/ready
    option redispatch 1
    retries 3
    default-server inter 1s fall 2 rise 2
{}",
        servers.concat()
    );
    let path = folder.join("haproxy.cfg");
    fs::write(&path, config).expect("a file");
    let mut haproxy = Command::new("haproxy");
    haproxy.arg("-db").arg("-f").arg(&path).stdout(Stdio::null()).kill_on_drop(true);
    haproxy.spawn().expect("haproxy is installed (scripts/setup.sh rolling)")
}
