//! What is made from code is kept as files, for readers without a build.

use std::fs;

use akhar_tests::{process::command, root};

/// A file, and the arguments with which `akhar` prints it.
const MADE: [(&str, &[&str]); 6] = [
    (".env.example", &["reference", "environment"]),
    ("docs/src/reference/command-line.md", &["reference", "command-line"]),
    ("docs/src/reference/configuration.md", &["reference", "configuration"]),
    ("docs/src/reference/metrics.md", &["reference", "metrics"]),
    ("docs/openapi.json", &["openapi"]),
    ("docs/src/reference/problems.md", &["reference", "problems"]),
];

#[tokio::test]
async fn what_is_made_from_code_is_current() {
    let mut stale = Vec::new();
    for (file, arguments) in MADE {
        let printed = command(arguments, []).output().await.expect("it runs");
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        assert!(!printed.stdout.is_empty(), "akhar {arguments:?} prints nothing");
        if fs::read(root().join(file)).unwrap_or_default() != printed.stdout {
            stale.push(file);
        }
    }
    assert!(stale.is_empty(), "not current: {stale:?}; run `make reference` and commit what it writes");
}
