//! `akhar translate`: lines in, lines out.

use std::{fs::File, process::Stdio};

use akhar_tests::{Cluster, Stack, process::command, serve::environment};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Child,
};

const PA_TO_EN: [&str; 4] = ["--from", "pa", "--to", "en"];

/// A file that takes nothing.
const FULL: &str = "/dev/full";

/// Starts the command with these streams.
async fn start(arguments: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
    let environment = environment(&Cluster::shared().folder().join("no-data")).await;
    let mut command = command(&[&["translate"], arguments].concat(), &environment);
    command.stdin(stdin).stdout(stdout).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Writes its input. A command that fails does not read all of it.
fn feed(child: &mut Child, input: &[u8]) {
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    tokio::spawn(async move { stdin.write_all(&input).await });
}

/// Runs the command. Returns whether it succeeded, and what it printed to stdout and to stderr.
async fn translate(arguments: &[&str], input: &[u8]) -> (bool, String, String) {
    let mut child = start(arguments, Stdio::piped(), Stdio::piped()).await;
    feed(&mut child, input);
    let ended = child.wait_with_output().await.expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (ended.status.success(), text(ended.stdout), text(ended.stderr))
}

/// Numbers and empty lines, which need no run of the model.
fn many_lines() -> String {
    (0..20_000).map(|n| if n % 7 == 0 { "\n".to_owned() } else { format!("{n}\n") }).collect()
}

#[tokio::test]
async fn each_line_becomes_a_line() {
    let lines = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\nਧੰਨਵਾਦ\r\n".repeat(20) + "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ";
    let (succeeded, out, log) = translate(&PA_TO_EN, lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 61, "{out}");
    for (nth, line) in lines.iter().enumerate() {
        assert_eq!(*line, lines[nth % 3], "line {nth}");
        assert_eq!(line.is_empty(), nth % 3 == 1, "line {nth}");
    }
    assert_eq!(lines[0], "Hello");
}

#[tokio::test]
async fn a_translation_into_panjabi_can_be_in_another_script() {
    let lines = b"The weather is very nice today.\n";
    for (script, line) in [("latin", "ajja mausama bahuta caṃgā hai."), ("shahmukhi", "اج موسم بہت چنگا ہے۔")]
    {
        let arguments = ["--from", "en", "--to", "pa", "--script", script];
        let (succeeded, out, log) = translate(&arguments, lines).await;
        assert!(succeeded, "{log}");
        assert_eq!(out, format!("{line}\n"));
    }
}

#[tokio::test]
async fn no_line_of_many_is_lost() {
    let lines = many_lines();
    let (succeeded, out, log) = translate(&PA_TO_EN, lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    assert!(out == lines, "{} lines", out.lines().count());
}

#[tokio::test]
async fn only_a_line_feed_ends_a_line() {
    let lines = "1\r2\n3\u{b}4\u{c}5\n6\u{85}7\n8\u{2028}9\u{2029}10\n11\u{0}12\n\r\n";
    let (succeeded, out, log) = translate(&PA_TO_EN, lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    assert!(out.matches('\n').count() == 6 && !out.contains('\r'), "{out:?}");
}

/// What it has read of many lines when it is stopped is more than fits into a pipe.
#[tokio::test]
async fn it_fails_if_it_does_not_write_every_line() {
    let lines = many_lines();
    // Nobody reads them, or not all of them, or the process is ended.
    for (n_read, signal) in [(0, None), (100, None), (100, Some(Signal::TERM)), (100, Some(Signal::KILL))] {
        let mut child = start(&PA_TO_EN, Stdio::piped(), Stdio::piped()).await;
        let mut out = BufReader::new(child.stdout.take().expect("piped")).lines();
        feed(&mut child, lines.as_bytes());
        for _ in 0..n_read {
            out.next_line().await.expect("a read").expect("a line");
        }
        if let Some(signal) = signal {
            let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)).expect("it runs");
            kill_process(id, signal).expect("a signal reaches it");
            assert!(!child.wait().await.expect("it ends").success(), "{signal:?}");
            continue;
        }
        drop(out);
        let ended = child.wait_with_output().await.expect("it ends");
        let log = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(1) && log.contains("standard output was closed after"), "{log}");
    }
    let file = |path: &str| File::options().read(true).write(path == FULL).open(path).expect("a file");
    let streams = [
        (Stdio::piped(), file(FULL).into(), "No space left"),
        (file("/").into(), Stdio::null(), "directory"),
    ];
    for (stdin, stdout, reason) in streams {
        let mut child = start(&PA_TO_EN, stdin, stdout).await;
        if child.stdin.is_some() {
            feed(&mut child, lines.as_bytes());
        }
        let ended = child.wait_with_output().await.expect("it ends");
        let log = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(1) && log.contains(reason), "{log}");
    }
    let damaged = [lines.as_bytes(), b"\xff\n", lines.as_bytes()].concat();
    let (succeeded, out, log) = translate(&PA_TO_EN, &damaged).await;
    assert!(!succeeded && log.contains("cannot read standard input"), "{log}");
    assert!(lines.starts_with(&out), "{} lines", out.lines().count());
}

#[tokio::test]
async fn a_translation_has_its_confidence() {
    let lines = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n123\nਖਗਘਙ ਠਝਢ ਞਙਘ ਫਛਥ ਢਠਝ\n";
    let (succeeded, out, log) =
        translate(&["--from", "pa", "--to", "en", "--confidence"], lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    let lines: Vec<(&str, &str)> = out.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!((lines.len(), lines[0].1, lines[1], lines[2]), (4, "Hello", ("", ""), ("", "123")), "{out}");
    let [likely, unlikely] = [0, 3].map(|nth: usize| lines[nth].0.parse::<f64>().expect("a probability"));
    assert!(0.0 <= unlikely && unlikely + 0.2 < likely && likely <= 1.0, "{out}");
}

#[tokio::test]
async fn numbers_in_words_keep_their_values() {
    let lines = "ਪੰਜ ਚਾਰ ਤਿੰਨ ਦੋ\nਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ ਹੈ\n";
    let (succeeded, out, log) = translate(&PA_TO_EN, lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "Five four three two");
    assert!(lines[1].contains("nine eight seven six five"), "{out}");
    let line = "My phone number is nine eight seven six five.\n";
    let (succeeded, out, log) = translate(&["--from", "en", "--to", "pa"], line.as_bytes()).await;
    assert!(succeeded && log.is_empty() && out.contains("ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ"), "{log}{out}");
    // The likeliest translation of this name is a number.
    let line = "He also acted in Soul of Sand in three.\n";
    let (succeeded, out, log) = translate(&["--from", "en", "--to", "pa"], line.as_bytes()).await;
    assert!(succeeded && log.is_empty() && out.contains("ਤਿੰਨ") && !out.contains("ਸੋਲਾਂ"), "{log}{out}");
}

/// Runs the command with a server. Returns whether it succeeded, and what it printed to stdout and to stderr.
async fn translate_on(stack: &Stack, key: &str, more: &[&str], input: &str) -> (bool, String, String) {
    let arguments = [&["translate", "--url", &stack.base], more].concat();
    let mut command = stack.command(&arguments);
    // The server has the models, and the command needs none.
    command.env("AKHAR_KEY", key).env("AKHAR_MODELS_DIR", "/nowhere");
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().expect("it starts");
    feed(&mut child, input.as_bytes());
    let ended = child.wait_with_output().await.expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (ended.status.success(), text(ended.stdout), text(ended.stderr))
}

#[tokio::test]
async fn a_server_translates_the_lines() {
    let stack = Stack::start().await;
    let lines = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n123\r\n".repeat(20) + "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ";
    let (succeeded, out, log) = translate_on(&stack, &stack.key, &PA_TO_EN, &lines).await;
    assert!(succeeded && log.is_empty(), "{log}");
    assert_eq!(out, "Hello\n\n123\n".repeat(20) + "Hello\n");
    stack.jobs_are(41, "succeeded").await;
    let more = ["--from", "en", "--to", "pa", "--script", "shahmukhi", "--confidence"];
    let (succeeded, out, log) =
        translate_on(&stack, &stack.key, &more, "The weather is very nice today.\n").await;
    let (confidence, text) = out.split_once('\t').expect("a tab");
    assert!(succeeded && confidence.parse::<f64>().is_ok_and(|c| 0.0 < c && c <= 1.0), "{out}{log}");
    assert_eq!(text, "اج موسم بہت چنگا ہے۔\n");
    let (succeeded, _, log) = translate_on(&stack, "", &PA_TO_EN, "ਕ\n").await;
    assert!(!succeeded && log.contains("set AKHAR_KEY"), "{log}");
    let (succeeded, _, log) = translate_on(&stack, "ak_wrong", &PA_TO_EN, "ਕ\n").await;
    assert!(!succeeded && log.contains("refuses requests (401)"), "{log}");
    let (succeeded, _, log) = translate_on(&stack, &stack.key, &PA_TO_EN, &"ਕ".repeat(5_001)).await;
    assert!(!succeeded && log.contains("refuses requests (422): text has 5001 characters"), "{log}");
}

#[tokio::test]
async fn wrong_input_is_refused_with_a_reason() {
    let (succeeded, out, log) = translate(&["--from", "pa", "--to", "pa"], b"").await;
    assert!(!succeeded && out.is_empty() && log.contains("--from and --to are both pa"), "{log}");
    let (succeeded, _, log) = translate(&["--from", "pa", "--to", "fr"], b"").await;
    assert!(!succeeded && log.contains("--to") && log.contains("fr"), "{log}");
    let (succeeded, _, log) = translate(&PA_TO_EN, b"\xff\xfe\n").await;
    assert!(!succeeded && log.contains("cannot read standard input"), "{log}");
}
