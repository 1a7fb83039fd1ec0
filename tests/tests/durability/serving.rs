//! `akhar serve`: the whole product in one process tree, with a private Postgres.

use std::{fs, path::Path};

use akhar_tests::{
    Answer, Cluster, Form, Process, Service, http::send, process::command, serve::environment, until,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::digit;

async fn recognise(service: &Service) -> Answer {
    let (image, form) = (digit(), Form::upload(&digit().bytes));
    let request = akhar_tests::http::client().post(format!("{}/v1/models/{}", service.base, image.operation));
    send(request.bearer_auth(&service.key).header("content-type", form.content_type()).body(form.body()))
        .await
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
    let pasted = first.process.lines().join("\n");
    assert!(
        pasted.contains("curl") && pasted.contains("digit-5.png"),
        "no curl command to paste in:\n{pasted}"
    );
    let other = command(&["serve"], &environment(&data).await).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(!other.status.success() && said.contains("another akhar"), "a second one: {said}");
    first.process.signal(Signal::TERM);
    assert!(first.process.ended().await.success());
    until("all its processes ended", async || processes_of(&data).is_empty().then_some(())).await;

    let mut second = Service::start(&data).await;
    assert_eq!(second.key, first.key, "the demo key is kept");
    recognise(&second).await.predictions();
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
    service.process.signal(Signal::TERM);
    assert!(service.process.ended().await.success());
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
