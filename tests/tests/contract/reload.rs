//! Limits that change while a process runs: SIGHUP, and what the log says.

use std::{fs, path::PathBuf};

use akhar_tests::{Answer, Form, Process, Stack, http::send, until};
use rustix::process::Signal;

use crate::operations;

/// A configuration file of a test.
struct Settings(PathBuf);

impl Settings {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("akhar-{name}-{}.toml", std::process::id()));
        fs::write(&path, text).expect("a file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }

    /// Writes the file, and waits until the process has read it and its log has this text.
    async fn change(&self, text: &str, process: &Process, expected: &str) {
        fs::write(&self.0, text).expect("a file");
        process.signal(Signal::HUP);
        until(&format!("the log has {expected:?}"), async || {
            process.log().iter().any(|line| line.contains(expected)).then_some(())
        })
        .await;
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

#[tokio::test]
async fn an_api_takes_over_limits_at_sighup() {
    let settings = Settings::new("api", "max_waiting = 5\nlog_filter = 'warn'\n");
    let stack = Stack::with().set_text("AKHAR_CONFIG", settings.path()).workers(0).start().await;
    let image = &operations()[0];
    let submit = async || -> Answer {
        let request = stack.post(image.operation, &Form::upload(&image.bytes));
        send(request.header("prefer", "respond-async")).await
    };
    // One account may have four of five places.
    for _ in 0..4 {
        submit().await.job();
    }
    assert_eq!(submit().await.problem(429).slug, "account-busy");

    settings.change("max_waiting = 0\n", &stack.api, "max_waiting is 0, expected at least 1").await;
    assert_eq!(submit().await.problem(429).slug, "account-busy", "a wrong file changes nothing");

    let more = "max_waiting = 10\nquick_wait_s = 1\nmax_connections = 100\n";
    let said = "log_filter: warn -> unset, max_waiting: 5 -> 10, quick_wait_s: 30 -> 1";
    settings.change(more, &stack.api, said).await;
    let log = stack.api.log().join("\n");
    assert!(log.contains("need a restart of this process, and stay as they are: max_connections"), "{log}");
    submit().await.job();
    let waits = stack.post(image.operation, &Form::upload(&image.bytes));
    assert_eq!(send(waits).await.status, 202, "it waits for a second");
}

#[tokio::test]
async fn a_worker_takes_over_limits_at_sighup() {
    let settings = Settings::new("worker", "");
    let stack = Stack::with().set_text("AKHAR_CONFIG", settings.path()).start().await;
    let said = "speech_timeout_s: 1800 -> 7";
    settings.change("speech_timeout_s = 7\nworker_concurrency = 2\n", &stack.workers[0], said).await;
    let log = stack.workers[0].log().join("\n");
    assert!(log.contains("stay as they are: worker_concurrency"), "{log}");
}
