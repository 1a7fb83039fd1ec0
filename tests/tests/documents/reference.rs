//! What is made from code is kept as files, for readers without a build.

use std::{collections::BTreeSet, fs};

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

/// Akhar does not start with a variable of this kind that is no setting.
#[test]
fn pages_and_examples_name_only_settings_that_there_are() {
    let names = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
        parts.filter(|part| part.len() > 6 && part.starts_with("AKHAR_")).map(str::to_owned).collect()
    };
    let known = names(&fs::read_to_string(root().join(".env.example")).expect("the settings"));
    let mut folders = ["docs/src", "examples", "client/python"].map(|folder| root().join(folder)).to_vec();
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                wrong.extend(
                    names(&text).difference(&known).map(|name| format!("{}: {name}", path.display())),
                );
            }
        }
    }
    assert!(known.len() > 20 && wrong.is_empty(), "{wrong:?}");
}

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
