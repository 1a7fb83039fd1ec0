//! ARCHITECTURE.md: its table of folders names every source file, and the files and tests that it names
//! exist.

use std::{collections::BTreeSet, fs, path::Path};

use akhar_tests::root;

use super::sources;

/// Files that their folder's row need not name.
const UNNAMED: [&str; 7] = ["lib", "main", "mod", "tests", "testing", "build", "documentation"];

/// A row of the table of folders: the folder, and what its description names in backticks.
struct Row {
    folder: String,
    names: BTreeSet<String>,
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

/// The text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of each row of the tables under a heading, without the tables' heads.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading));
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

fn folders(page: &str) -> Vec<Row> {
    let rows = rows(page, "Where things are").into_iter();
    rows.map(|cells| Row {
        folder: quoted(cells[0]).collect(),
        names: quoted(cells[1]).map(|name| name.trim_end_matches('/').to_owned()).collect(),
    })
    .collect()
}

/// Whether the row of the deepest folder names the file, or a folder that it is in.
fn is_named(file: &Path, rows: &[Row]) -> bool {
    let path = file.with_extension("");
    let rows = rows.iter().filter(|row| path.starts_with(&row.folder));
    let Some(row) = rows.max_by_key(|row| row.folder.len()) else { return false };
    let rest = path.strip_prefix(&row.folder).expect("it starts with the folder");
    let mut names = rest.iter().filter_map(|name| name.to_str());
    names.any(|name| row.names.contains(name) || UNNAMED.contains(&name) || name.ends_with("_tests"))
}

#[test]
fn the_map_names_every_source_file() {
    let rows = folders(&page());
    let missing: Vec<_> = sources().into_iter().filter(|file| !is_named(file, &rows)).collect();
    assert!(missing.is_empty(), "not in the table of folders of ARCHITECTURE.md: {missing:#?}");
}

#[test]
fn every_file_and_test_that_the_page_names_exists() {
    let page = page();
    let is_source = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "rs");
    let files = quoted(&page).filter(|name| name.contains('/') && is_source(name));
    let folders = folders(&page).into_iter().map(|row| row.folder);
    for path in files.map(str::to_owned).chain(folders) {
        assert!(root().join(&path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
    let tests: String = tests_text(&root().join("tests/tests"));
    for cells in rows(&page, "What must stay true") {
        let guards: Vec<&str> = quoted(cells[1]).collect();
        assert!(!guards.is_empty(), "no test is named for: {}", cells[0]);
        for guard in guards.iter().filter(|guard| !guard.contains('/')) {
            assert!(tests.contains(&format!("fn {guard}(")), "there is no test {guard}");
        }
    }
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
fn a_file_that_no_row_names_is_found() {
    let row = |folder: &str, names: &[&str]| Row {
        folder: folder.to_owned(),
        names: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let rows = [row("jobs/src/", &["job"]), row("jobs/src/store/", &["claim"])];
    for (file, named) in [
        ("jobs/src/job.rs", true),
        ("jobs/src/store/claim.rs", true),
        ("jobs/src/store/claim/sql.rs", true),
        ("jobs/src/store/job.rs", false),
        ("jobs/src/queue.rs", false),
        ("worker/src/job.rs", false),
    ] {
        assert_eq!(is_named(Path::new(file), &rows), named, "{file}");
    }
}
