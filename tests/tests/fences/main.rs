//! Checks the structure of the code: which files may name a library, which crates may use each other, and
//! that there are no cycles between a crate's files and folders.

mod architecture;
mod modules;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use akhar_jobs::Queue;
use akhar_requests::{MediaType, Operation, QUEUES};

use akhar_tests::root;
use serde_json::Value;

/// Libraries, and the files and folders that may name each of them.
const FENCES: [(&str, &[&str]); 4] = [
    ("apalis", &["jobs/src/backend/", "worker/src/attempts/"]),
    ("ort::", &["inference/src/runtime.rs"]),
    ("axum", &["api/"]),
    ("object_store", &["jobs/src/uploads/"]),
];

/// The crates whose files and folders must not have cycles: all that have more than one file.
const WITHOUT_CYCLES: [&str; 14] = [
    "accounts",
    "api",
    "bench",
    "chaos",
    "cli",
    "client",
    "inference",
    "jobs",
    "operators",
    "platform",
    "requests",
    "tests",
    "webhooks",
    "worker",
];

/// The crates of this workspace, and the crates of this workspace that each of them may use.
const ARROWS: [(&str, &[&str]); 12] = [
    (
        "akhar",
        &[
            "akhar-accounts",
            "akhar-api",
            "akhar-client",
            "akhar-worker",
            "akhar-jobs",
            "akhar-inference",
            "akhar-operators",
            "akhar-platform",
            "akhar-requests",
            "akhar-webhooks",
            "akhar-migrations",
        ],
    ),
    (
        "akhar-api",
        &[
            "akhar-accounts",
            "akhar-client",
            "akhar-jobs",
            "akhar-operators",
            "akhar-platform",
            "akhar-requests",
            "akhar-webhooks",
        ],
    ),
    (
        "akhar-worker",
        &[
            "akhar-jobs",
            "akhar-inference",
            "akhar-operators",
            "akhar-platform",
            "akhar-requests",
            "akhar-webhooks",
        ],
    ),
    (
        "akhar-operators",
        &[
            "akhar-accounts",
            "akhar-client",
            "akhar-jobs",
            "akhar-platform",
            "akhar-requests",
            "akhar-webhooks",
        ],
    ),
    ("akhar-accounts", &["akhar-platform"]),
    ("akhar-client", &[]),
    ("akhar-webhooks", &["akhar-jobs", "akhar-platform"]),
    ("akhar-requests", &["akhar-accounts", "akhar-jobs"]),
    ("akhar-jobs", &["akhar-platform"]),
    ("akhar-inference", &[]),
    ("akhar-platform", &[]),
    ("akhar-migrations", &["akhar-platform"]),
];

#[test]
fn a_library_is_named_only_in_its_allowed_files() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(root().join(&path)).expect("a source file");
        let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
        let code = code.join("\n");
        for (library, allowed) in FENCES {
            if !allowed.iter().any(|place| path.starts_with(place)) {
                let statements = code.split(';').filter(|statement| names(statement, library));
                wrong.extend(statements.map(|s| format!("{}: {}", path.display(), s.trim())));
            }
        }
    }
    assert!(wrong.is_empty(), "files name a library that is not allowed there:\n{}", wrong.join("\n"));
}

/// To the queue, what jobs ask for and what comes of them are bytes: it has no name of an operation, a queue, a language or a kind of file.
#[test]
fn the_queue_knows_no_operation() {
    let words = Operation::ALL.map(Operation::name).into_iter().chain(QUEUES.map(Queue::name));
    let types = ["Operation", "Language", "MediaType", "handwriting", "translation"];
    let words: Vec<&str> = words.chain(MediaType::ALL.map(MediaType::name)).chain(types).collect();
    let mut wrong = Vec::new();
    for path in sources().into_iter().filter(|path| path.starts_with("jobs")) {
        let text = fs::read_to_string(root().join(&path)).expect("a source file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        // A short name can be a part of another word.
        let has = |line: &str, word: &str| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            line.match_indices(word).any(|(at, _)| {
                !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
            })
        };
        wrong.extend(code.filter(|line| words.iter().any(|word| has(line, word))).map(str::to_owned));
    }
    assert!(wrong.is_empty(), "the queue knows an operation:\n{}", wrong.join("\n"));
}

/// Whether a statement uses the library, in a path or an import. Text in quotes (such as the name of a table
/// or a log target) does not count, and neither does the import of a module of this crate with the same name.
fn names(statement: &str, library: &str) -> bool {
    let statement = statement.trim_start();
    if statement.starts_with("use crate::") || statement.starts_with("pub use ort::{") {
        return false;
    }
    let outside_quotes: String = statement.split('"').step_by(2).collect();
    outside_quotes.match_indices(library).any(|(at, _)| {
        let before = outside_quotes[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The Rust files of the product's crates, as paths relative to the repository's root.
fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    for crate_folder in [
        "accounts",
        "api",
        "cli",
        "client",
        "inference",
        "jobs",
        "migrations",
        "operators",
        "platform",
        "requests",
        "webhooks",
        "worker",
    ] {
        walk(&root().join(crate_folder).join("src"), &mut files);
    }
    assert!(files.len() > 30, "found only {files:?}");
    files.into_iter().map(|f| f.strip_prefix(root()).expect("below the root").to_owned()).collect()
}

#[test]
fn files_and_folders_have_no_cycles() {
    let mut found = Vec::new();
    for name in WITHOUT_CYCLES {
        let source = root().join(name).join("src");
        let crate_root = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|r| r.exists());
        let files = modules::graph(&crate_root.expect("lib.rs or main.rs"));
        assert!(files.len() > 2, "{name}: found only {files:?}");
        let graph = modules::entries(&files);
        for cycle in modules::cycles(&graph) {
            let ties = files.iter().flat_map(|(file, used)| used.iter().map(move |used| (file, used)));
            let ties =
                ties.filter(|(file, used)| modules::ends(file, used).iter().all(|end| cycle.contains(end)));
            let ties: Vec<_> =
                ties.map(|(file, used)| format!("  {} uses {}", file.display(), used.display())).collect();
            found.push(format!("{name}/src:\n{}", ties.join("\n")));
        }
    }
    assert!(found.is_empty(), "{} cycles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn crates_use_only_the_crates_that_they_may_use() {
    let used = used_crates();
    for (name, allowed) in ARROWS {
        let Some(targets) = used.get(name) else { panic!("no crate {name} in {:?}", used.keys()) };
        let wrong: Vec<_> = targets.iter().filter(|t| !allowed.contains(&t.as_str())).collect();
        assert!(wrong.is_empty(), "{name} may not use {wrong:?}");
    }
}

/// For each crate of this workspace, the crates of this workspace that it depends on.
fn used_crates() -> BTreeMap<String, BTreeSet<String>> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ours = |package: &Value| -> BTreeSet<String> {
        let built_with = list(&package["dependencies"]).into_iter().filter(|d| d["kind"] != "dev");
        built_with.map(|d| text(&d["name"])).filter(|name| name.starts_with("akhar")).collect()
    };
    list(&metadata["packages"]).iter().map(|package| (text(&package["name"]), ours(package))).collect()
}
