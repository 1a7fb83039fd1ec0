//! ARCHITECTURE.md: the files, folders and tests that it names exist.

use std::{fs, path::Path};

use akhar_tests::root;

/// The text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text of all source files below a folder.
fn tests_text(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let text = entries.map(|path| {
        if path.is_dir() { tests_text(&path) } else { fs::read_to_string(path).expect("a source file") }
    });
    text.collect()
}

#[test]
fn every_file_and_test_that_the_architecture_names_exists() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let in_the_root = |name: &str| {
        let first = name.split('/').next().unwrap_or_default();
        name.contains('/') && !first.is_empty() && root().join(first).exists()
    };
    for path in quoted(&page).filter(|name| in_the_root(name)) {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
    let tests = tests_text(&root().join("tests/tests"));
    let (_, invariants) = page.split_once("\n## What must stay true\n").expect("the invariants");
    let rows = invariants.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() > 20, "found only {rows:?}");
    for row in rows {
        let guards: Vec<&str> = quoted(row.rsplit(" | ").next().unwrap_or_default()).collect();
        assert!(!guards.is_empty(), "no test is named for: {row}");
        for guard in guards.iter().filter(|guard| !guard.contains('/')) {
            assert!(tests.contains(&format!("fn {guard}(")), "there is no test {guard}");
        }
    }
}
