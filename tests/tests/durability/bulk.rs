//! `akhar transcribe` that is killed, interrupted and resumed, and with a service of its own.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use akhar_tests::{
    Cluster, Process, Stack,
    bulk::Folders,
    process::{command, run},
    serve::environment,
    until,
};
use rustix::process::Signal;
use tokio::process::Command;

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
    let mut environment = environment(&shared.join("bulk-embedded-data")).await;
    environment.push(("AKHAR_KEY".to_owned(), "ak_of_a_server_elsewhere".to_owned()));
    let folders = Folders::new(shared, "bulk-embedded");
    folders.add_clips(2);
    let (code, out, log) = run(folders.command_with(&environment, &["--format", "txt"])).await;
    // A run of more than ten seconds says how far it is.
    let is_progress = |line: &str| line.contains(" of 2 files, ");
    assert!(code == Some(0) && log.lines().all(is_progress), "{out}{log}");
    folders.add_clips(3);
    assert!(!shared.join("bulk-embedded-data").exists(), "the database is a temporary one");
    let (code, out, log) = run(folders.command_with(&environment, &["--format", "txt", "--resume"])).await;
    assert_eq!(code, Some(0), "{log}");
    assert!(out.contains("1 of 3 recordings transcribed, 2 by an earlier run"), "{out}");
}

/// A folder in which a command runs, an empty home folder with what the command needs among its data, and a folder for
/// temporary files.
struct Elsewhere {
    working: PathBuf,
    temporary: PathBuf,
    environment: Vec<(String, String)>,
}

impl Elsewhere {
    async fn new(name: &str) -> Self {
        let folder = Cluster::shared().folder().join(name);
        let [home, working, temporary] = ["home", "working", "temporary"].map(|name| folder.join(name));
        let data = home.join(".local/share/akhar");
        for folder in [&data, &working, &temporary] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let mut environment = environment(&folder.join("data")).await;
        let targets = [("AKHAR_MODELS_DIR", "models"), ("AKHAR_ORT_DYLIB", "libonnxruntime.so")];
        for (name, link) in targets {
            let target = environment.iter().find(|(other, _)| other == name).expect("a setting");
            symlink(&target.1, data.join(link)).expect("a link");
        }
        environment.retain(|(name, _)| {
            !targets.iter().any(|(target, _)| target == name) && name != "AKHAR_DATA_DIR"
        });
        let of_folder = [("HOME", &home), ("TMPDIR", &temporary)];
        environment
            .extend(of_folder.map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned())));
        Self { working, temporary, environment }
    }

    fn add_clips(&self, n: usize) {
        let recordings = self.working.join("clips");
        Folders { results: recordings.clone(), programs: recordings.clone(), recordings }.add_clips(n);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments, &self.environment);
        command.current_dir(&self.working).env_remove("XDG_DATA_HOME").env_remove("XDG_DATA_DIRS");
        command
    }

    /// The names of what is in the working folder. No folder of the command may be left among the temporary files, where ONNX
    /// Runtime keeps a file of its own.
    fn left(&self) -> Vec<String> {
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).expect("a folder");
            let names =
                entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
            names.collect::<Vec<_>>()
        };
        let temporary = names(&self.temporary);
        assert!(!temporary.iter().any(|name| name.starts_with("akhar")), "{temporary:?}");
        let mut left = names(&self.working);
        left.sort();
        left
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_any_folder_finds_what_it_needs_and_leaves_its_results_alone() {
    let elsewhere = Elsewhere::new("bulk-elsewhere").await;
    elsewhere.add_clips(2);
    let mut broken = elsewhere.command(&["transcribe", "clips"]);
    broken.env("AKHAR_MODELS_DIR", "/no/models");
    let (code, out, log) = run(broken).await;
    assert!(code == Some(1) && log.contains("/no/models"), "{out}{log}");
    assert_eq!(elsewhere.left(), ["clips"], "nothing is created before the checks");

    let (code, out, log) = run(elsewhere.command(&["transcribe", "clips"])).await;
    // A run of more than ten seconds says how far it is.
    let is_progress = |line: &str| line.contains(" of 2 files, ");
    assert!(code == Some(0) && log.lines().all(is_progress), "{out}{log}");
    assert_eq!(elsewhere.left(), ["clips", "transcripts"]);

    let (code, out, log) = run(elsewhere.command(&["translate", "--from", "pa", "--to", "en"])).await;
    // A run of more than ten seconds says how far it is.
    let is_progress = |line: &str| line.contains(" of 2 files, ");
    assert!(code == Some(0) && log.lines().all(is_progress), "{out}{log}");
    assert_eq!(elsewhere.left(), ["clips", "transcripts"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_leaves_no_database_behind() {
    let elsewhere = Elsewhere::new("bulk-interrupted").await;
    elsewhere.add_clips(400);
    let mut interrupted = Process::spawn("transcribe", elsewhere.command(&["transcribe", "clips"]));
    let first = elsewhere.working.join("transcripts/0.json");
    until("a recording is done", async || first.exists().then_some(())).await;
    interrupted.signal(Signal::INT);
    assert_eq!(interrupted.ended().await.code(), Some(130), "{:?}", interrupted.log());
    assert_eq!(elsewhere.left(), ["clips", "transcripts"]);
}
