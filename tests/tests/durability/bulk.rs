//! `akhar transcribe` that is killed, interrupted and resumed, and with a service of its own.

use akhar_tests::{Cluster, Process, Stack, bulk::Folders, process::run, serve::environment, until};
use rustix::process::Signal;

#[tokio::test]
async fn a_run_that_is_killed_and_interrupted_continues_and_repeats_nothing() {
    const N: usize = 40;
    let mut stack = Stack::with().workers(0).start().await;
    let folders = Folders::new(stack.folder(), "bulk-killed");
    folders.add_clips(N);
    let start = |name| Process::spawn(name, folders.command(&stack, &["--resume"]));
    let mut killed = start("transcribe");
    stack.jobs_are(4, "queued").await; // as many as it sends at first
    killed.kill().await;

    let mut interrupted = start("transcribe, resumed");
    stack.add_worker().await;
    until("some recordings are done", async || (folders.n_done() >= 3).then_some(())).await;
    interrupted.signal(Signal::INT);
    assert_eq!(interrupted.ended().await.code(), Some(130));
    let n_done = folders.n_done();
    assert!(n_done < N, "it was interrupted too late");

    let (code, out, log) = run(folders.command(&stack, &["--resume"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let n_left = N - n_done;
    assert!(
        out.contains(&format!("{n_left} of {N} recordings transcribed, {n_done} by an earlier run")),
        "{out}"
    );
    for nth in 0..N {
        assert!(folders.json(&format!("{nth}.json"))["transcription"].is_string());
    }
    let (n_jobs, n_attempts): (i64, i64) = sqlx::query_as("select count(*), sum(attempt) from jobs")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!((n_jobs, n_attempts), (40, 40), "each recording has one job, which ran once");
}

#[tokio::test]
async fn a_run_survives_a_killed_worker_and_a_killed_api() {
    let mut stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-crashes");
    folders.add_clips(20);
    let mut process = Process::spawn("transcribe", folders.command(&stack, &[]));
    until("some recordings are done", async || (folders.n_done() >= 3).then_some(())).await;
    stack.workers[0].kill().await;
    stack.restart_api().await;
    stack.add_worker().await;
    assert!(process.ended().await.success(), "{:?}", process.log());
    assert_eq!(folders.n_done(), 20);
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_server_starts_its_own_and_stops_it() {
    let shared = Cluster::shared().folder();
    let environment = environment(&shared.join("bulk-embedded-data")).await;
    let folders = Folders::new(shared, "bulk-embedded");
    folders.add_clips(2);
    let (code, out, log) = run(folders.command_with(&environment, &["--format", "txt"])).await;
    assert_eq!((code, log.as_str()), (Some(0), ""), "{out}");
    folders.add_clips(3);
    let (code, out, log) = run(folders.command_with(&environment, &["--format", "txt", "--resume"])).await;
    assert_eq!(code, Some(0), "{log}");
    assert!(out.contains("1 of 3 recordings transcribed, 2 by an earlier run"), "{out}");
}
