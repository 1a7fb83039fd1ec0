//! `akhar top`: what happens in the queues now.

use akhar_tests::{Process, Stack, terminal::Terminal, until};
use rustix::process::{Pid, Signal, kill_process};

/// The columns of a row of what was written last.
fn row<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
    let line =
        text.lines().rfind(|line| line.starts_with(first)).unwrap_or_else(|| panic!("{first}: {text}"));
    line.split_whitespace().collect()
}

#[tokio::test]
async fn top_shows_queues_and_workers() {
    let stack = Stack::start().await;
    stack.akhar(&["queues", "pause", "speech"]).await;
    let text = stack.akhar(&["top", "--once"]).await;
    assert_eq!(row(&text, "quick")[1..4], ["open", "0", "0"]);
    assert_eq!(row(&text, "speech")[1..5], ["paused", "0", "0", "-"]);
    assert_eq!(row(&text, "NAME")[..3], ["NAME", "STATE", "JOBS"]);
    assert!(text.lines().any(|line| line.contains("  works  ")), "{text}");
}

#[tokio::test]
async fn top_writes_plain_blocks_where_there_is_no_terminal() {
    let stack = Stack::with().workers(0).start().await;
    let mut top = Process::spawn("top", stack.command(&["top", "--every", "1"]));
    until("it looks again", async || {
        let n_blocks = top.lines().iter().filter(|line| line.starts_with("quick")).count();
        (n_blocks >= 2).then_some(())
    })
    .await;
    top.signal(Signal::INT);
    assert_eq!(top.ended().await.code(), Some(130));
    assert!(!top.lines().join("\n").contains('\x1b'));
}

#[tokio::test]
async fn top_replaces_its_page_on_a_terminal_and_restores_the_terminal() {
    let stack = Stack::with().workers(0).start().await;
    let (terminal, screen) = Terminal::open();
    let mut command = stack.command(&["top", "--every", "1"]);
    command.stdout(screen);
    let mut top = command.spawn().expect("it starts");
    drop(command); // it has the screen open
    until("it looks again", async || {
        let shown = terminal.shown();
        (shown.matches("\x1b[H\x1b[2J").count() >= 2 && shown.ends_with("database.")).then_some(())
    })
    .await;
    let id = top.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).expect("it runs");
    kill_process(id, Signal::INT).expect("it runs");
    assert_eq!(top.wait().await.expect("an end").code(), Some(130));
    until("the terminal is as before", async || {
        terminal.shown().ends_with("\x1b[?25h\x1b[?1049l").then_some(())
    })
    .await;
    let shown = terminal.shown();
    assert!(shown.starts_with("\x1b[?1049h\x1b[?25l") && shown.matches('\x1b').count() >= 8, "{shown:?}");
}
