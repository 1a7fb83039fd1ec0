//! `akhar translate`: lines in, lines out.

use std::process::Stdio;

use akhar_tests::{Cluster, process::command, serve::environment};
use tokio::io::AsyncWriteExt as _;

/// Runs the command. Returns whether it succeeded, and what it printed to stdout and to stderr.
async fn translate(arguments: &[&str], input: &[u8]) -> (bool, String, String) {
    let environment = environment(&Cluster::shared().folder().join("no-data")).await;
    let mut command = command(&[&["translate"], arguments].concat(), &environment);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    // A command that refuses its arguments reads nothing.
    tokio::spawn(async move { stdin.write_all(&input).await });
    let ended = child.wait_with_output().await.expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (ended.status.success(), text(ended.stdout), text(ended.stderr))
}

#[tokio::test]
async fn each_line_becomes_a_line() {
    let lines = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\nਧੰਨਵਾਦ\r\n".repeat(20) + "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ";
    let (succeeded, out, log) = translate(&["--from", "pa", "--to", "en"], lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 61, "{out}");
    for (nth, line) in lines.iter().enumerate() {
        assert_eq!(*line, lines[nth % 3], "line {nth}");
        assert_eq!(line.is_empty(), nth % 3 == 1, "line {nth}");
    }
    assert_eq!(lines[0], "Hello");
}

/// Numbers and empty lines need no run of the model.
#[tokio::test]
async fn no_line_of_many_is_lost() {
    let lines: String =
        (0..20_000).map(|n| if n % 7 == 0 { "\n".to_owned() } else { format!("{n}\n") }).collect();
    let (succeeded, out, log) = translate(&["--from", "pa", "--to", "en"], lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    assert!(out == lines, "{} lines", out.lines().count());
}

#[tokio::test]
async fn it_fails_if_nobody_reads_all_lines() {
    let environment = environment(&Cluster::shared().folder().join("no-data")).await;
    let mut command = command(&["translate", "--from", "pa", "--to", "en"], &environment);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    drop(child.stdout.take());
    child.stdin.take().expect("piped").write_all(b"1\n").await.expect("it reads");
    let ended = child.wait_with_output().await.expect("it ends");
    let log = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && log.contains("closed after 0 lines"), "{log}");
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
    let (succeeded, out, log) = translate(&["--from", "pa", "--to", "en"], lines.as_bytes()).await;
    assert!(succeeded && log.is_empty(), "{log}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "Five four three two");
    assert!(lines[1].contains("nine eight seven six five"), "{out}");
    let line = "My phone number is nine eight seven six five.\n";
    let (succeeded, out, log) = translate(&["--from", "en", "--to", "pa"], line.as_bytes()).await;
    assert!(succeeded && log.is_empty() && out.contains("ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ"), "{log}{out}");
}

#[tokio::test]
async fn wrong_input_is_refused_with_a_reason() {
    let (succeeded, out, log) = translate(&["--from", "pa", "--to", "pa"], b"").await;
    assert!(!succeeded && out.is_empty() && log.contains("--from and --to are both pa"), "{log}");
    let (succeeded, _, log) = translate(&["--from", "pa", "--to", "fr"], b"").await;
    assert!(!succeeded && log.contains("--to") && log.contains("fr"), "{log}");
    let (succeeded, _, log) = translate(&["--from", "pa", "--to", "en"], b"\xff\xfe\n").await;
    assert!(!succeeded && log.contains("cannot read standard input"), "{log}");
}
