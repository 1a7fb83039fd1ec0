//! `akhar serve`: the whole product in one process tree, with a private Postgres.

use std::{fs, path::Path};

use akhar_platform::database::PrivatePostgres;
use akhar_tests::{
    Answer, Cluster, Form, Process, Service, http::send, process::command, serve::environment,
    speech::recording, until,
};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection};
use tokio::{process::Command, task::JoinSet};

use crate::digit;

fn post(service: &Service, operation: &str, form: &Form) -> reqwest::RequestBuilder {
    let request = akhar_tests::http::client().post(format!("{}/v1/models/{operation}", service.base));
    form.send_with(request.bearer_auth(&service.key))
}

async fn recognise(service: &Service) -> Answer {
    send(post(service, digit().operation, &Form::upload(&digit().bytes))).await
}

/// Sends `n` recordings whose transcription takes several seconds each, and waits until all of them run.
async fn send_long_recordings(service: &Service, data: &Path, n: i64) -> JoinSet<Answer> {
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(120));
    let callers = (0..n).map(|_| send(post(service, "speech-recognition", &form))).collect();
    let options = PrivatePostgres::address(data).expect("its address");
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    until("the jobs run", async || {
        let n_running: i64 = sqlx::query_scalar("select count(*) from jobs where state = 'running'")
            .fetch_one(&mut db)
            .await
            .expect("a count");
        (n_running == n).then_some(())
    })
    .await;
    callers
}

/// An environment in which a stop may take a second.
async fn impatient(data: &Path) -> Vec<(String, String)> {
    let mut environment = environment(data).await;
    environment.push(("AKHAR_SHUTDOWN_S".to_owned(), "1".to_owned()));
    environment
}

/// The process id in the pid file of a service's Postgres.
fn postmaster_of(data: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data.join("postgres/cluster/postmaster.pid")).ok()?;
    Pid::from_raw(text.lines().next()?.parse().ok()?)
}

/// The processes whose environment names this folder: those of the service and of its Postgres.
fn processes_of(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("Linux").flatten();
    let names = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.windows(folder.as_os_str().len()).any(|w| w == folder.as_os_str().as_encoded_bytes())
    };
    let ours = entries.map(|e| e.path()).filter(|path| names(path));
    ours.map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_starts_from_nothing_and_keeps_its_data_after_a_stop_and_a_kill() {
    let data = Cluster::shared().folder().join("served");
    let mut first = Service::start(&data).await;
    recognise(&first).await.predictions();
    let pasted = until("it prints a request", async || {
        let printed = first.process.lines().join("\n");
        printed.contains(" -d '").then_some(printed)
    })
    .await;
    assert!(pasted.contains(&format!("Demo key: {}", first.key)), "{pasted}");
    // The tests run in a folder without the picture of the other request.
    let printed = pasted.find("curl").map(|at| &pasted[at..]).expect("a curl command to paste");
    let answer = Command::new("sh").args(["-c", printed]).output().await.expect("it runs");
    assert!(answer.stdout.starts_with(b"{\"points\":"), "{pasted}\n{answer:?}");
    let other = command(&["serve"], &environment(&data).await).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(!other.status.success() && said.contains("another akhar"), "a second one: {said}");
    first.process.signal(Signal::TERM);
    assert!(first.process.ended().await.success());
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;

    let mut second = Service::start(&data).await;
    assert_eq!(second.key, first.key, "the demo key is kept");
    recognise(&second).await.predictions();
    let printed = second.process.lines().join("\n") + &second.process.log().join("\n");
    assert!(!printed.contains(&second.key) && !printed.contains("#key="), "a key in a log: {printed}");
    second.process.kill().await;

    let mut third = Service::start(&data).await;
    recognise(&third).await.predictions();
    third.process.signal(Signal::INT);
    assert!(third.process.ended().await.success());
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_dies_is_started_again() {
    let data = Cluster::shared().folder().join("restarted");
    let mut service = Service::start(&data).await;
    let worker = worker_of(&service.process).expect("a child");
    kill_process(worker, Signal::KILL).expect("a signal reaches it");
    let another =
        until("another worker runs", async || worker_of(&service.process).filter(|other| *other != worker))
            .await;
    assert_ne!(worker, another);
    recognise(&service).await.predictions();
    let options = PrivatePostgres::address(&data).expect("its address");
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    until("only the new worker is in the list", async || {
        let names: Vec<String> =
            sqlx::query_scalar("select name from workers").fetch_all(&mut db).await.expect("names");
        let id = format!("-{}-", another.as_raw_nonzero());
        (names.len() == 1 && names[0].contains(&id)).then_some(())
    })
    .await;
    service.process.signal(Signal::TERM);
    assert!(service.process.ended().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_hangs_is_killed_and_another_runs_its_jobs() {
    let data = Cluster::shared().folder().join("hung");
    let service = Service::start(&data).await;
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(120));
    send(post(&service, "speech-recognition", &form).header("prefer", "respond-async")).await.job();
    let options = PrivatePostgres::address(&data).expect("its address");
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    until("the job runs", async || {
        let job = sqlx::query("select from jobs where state = 'running'");
        job.fetch_optional(&mut db).await.expect("an answer")
    })
    .await;
    let worker = worker_of(&service.process).expect("a child");
    kill_process(worker, Signal::STOP).expect("a signal reaches it");
    until("it is silent for most of the time that a worker may be", async || {
        let is_silent: bool =
            sqlx::query_scalar("select seen_at < clock_timestamp() - interval '20 s' from workers")
                .fetch_one(&mut db)
                .await
                .expect("one worker");
        is_silent.then_some(())
    })
    .await;
    let another =
        until("another worker runs", async || worker_of(&service.process).filter(|other| *other != worker))
            .await;
    let log = service.process.log().join("\n");
    assert!(log.contains("the worker sends no heartbeats although the database answers"), "{log}");
    assert!(!Path::new(&format!("/proc/{}", worker.as_raw_nonzero())).exists(), "the old one is gone");
    let id = format!("%-{}-%", another.as_raw_nonzero());
    until("the new worker runs the job", async || {
        let job = sqlx::query("select from jobs where attempt = 2 and worker like $1").bind(&id);
        job.fetch_optional(&mut db).await.expect("an answer")
    })
    .await;
    recognise(&service).await.predictions();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_postgres_that_dies_is_started_again() {
    let data = Cluster::shared().folder().join("revived");
    let mut service = Service::start(&data).await;
    recognise(&service).await.predictions();
    let killed = postmaster_of(&data).expect("a pid file");
    kill_process(killed, Signal::KILL).expect("a signal reaches it");
    until("another server runs", async || postmaster_of(&data).filter(|other| *other != killed)).await;
    until("requests are answered", async || (recognise(&service).await.status == 200).then_some(())).await;
    assert!(service.process.log().iter().any(|line| line.contains("Postgres server died")), "it is logged");
    service.process.signal(Signal::TERM);
    assert!(service.process.ended().await.success());
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_callers_whose_jobs_go_on_and_the_next_process_finishes_them() {
    let data = Cluster::shared().folder().join("interrupted");
    let environment = impatient(&data).await;
    let mut first = Service::start_with(&environment).await;
    let callers = send_long_recordings(&first, &data, 2).await;
    first.process.signal(Signal::TERM);
    let jobs: Vec<_> = callers.join_all().await.iter().map(Answer::job).collect();
    let status = first.process.ended().await;
    assert!(status.success(), "{status}: {:#?}", first.process.log());

    let second = Service::start_with(&environment).await;
    for job in jobs {
        let result = format!("{}/v1/jobs/{job}?wait=30", second.base);
        let document =
            async || send(akhar_tests::http::client().get(&result).bearer_auth(&second.key)).await.json();
        let mut ended = document().await;
        // A slow machine needs more than one wait for minutes of speech.
        while ended["state"] == "queued" || ended["state"] == "running" {
            ended = document().await;
        }
        assert_eq!(ended["state"], "succeeded", "{ended}");
        assert_eq!(ended["attempt"], 2, "the first attempt was given up: {ended}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_while_postgres_does_not_answer() {
    let data = Cluster::shared().folder().join("frozen");
    let mut service = Service::start_with(&impatient(&data).await).await;
    let _callers = send_long_recordings(&service, &data, 1).await;
    for process in postgres_processes_of(&data) {
        // One that worked in the background may have ended meanwhile.
        let _gone = kill_process(process, Signal::STOP);
    }
    service.process.signal(Signal::TERM);
    assert!(!service.process.ended().await.success(), "a request was unfinished");
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_a_killed_serve() {
    let data = Cluster::shared().folder().join("orphaned");
    let mut service = Service::start(&data).await;
    let _callers = send_long_recordings(&service, &data, 1).await;
    service.process.kill().await;
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;
}

/// The processes of a service's Postgres: those whose working folder is its cluster.
fn postgres_processes_of(data: &Path) -> Vec<Pid> {
    let cluster = data.join("postgres/cluster").canonicalize().expect("a cluster");
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let ours = processes.filter(|p| fs::read_link(p.path().join("cwd")).is_ok_and(|cwd| cwd == cluster));
    ours.filter_map(|p| Pid::from_raw(p.file_name().to_str()?.parse().ok()?)).collect()
}

/// The process id of a service's worker, which is a child of its first process.
fn worker_of(service: &Process) -> Option<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", service.id())).ok()?.flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children = children.collect::<Vec<_>>().join(" ");
    children.split_whitespace().filter_map(|id| id.parse().ok()).find_map(|id: i32| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        line.contains("worker").then(|| Pid::from_raw(id))?
    })
}
