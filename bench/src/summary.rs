//! Writes the newest result of each measurement to one Markdown page, `bench/results/summary.md`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::report::{commit, results, short};

/// The order of the measurements on the page. Measurements that are not listed follow these.
const ORDER: [&str; 8] =
    ["overhead", "load", "peers", "queue", "statements", "sweep-clients", "sweep-rows", "chaos"];

/// Writes the page and returns its path.
pub(crate) fn write() -> PathBuf {
    let mut reports: Vec<Value> = newest().into_values().collect();
    let name = |report: &Value| report["measurement"].as_str().unwrap_or_default().to_owned();
    reports.sort_by_key(|r| (ORDER.iter().position(|n| *n == name(r)).unwrap_or(ORDER.len()), name(r)));
    let mut page = "# Benchmarks\n\n".to_owned();
    let n_cores = std::thread::available_parallelism().map_or(0, usize::from);
    let commit = commit().unwrap_or_else(|| "no commit".to_owned());
    line(
        &mut page,
        &format!("{commit}, {n_cores} cores, {}. Clients, service and peers share the cores.", processor()),
    );
    page.push_str("\n| what | unit | Akhar | other | ratio | to reach |\n|---|---|---:|---:|---:|---|\n");
    for figure in reports.iter().filter_map(|r| r["figures"].as_array()).flatten() {
        line(&mut page, &figure_row(figure));
    }
    for report in &reports {
        section(&mut page, report);
    }
    parts(&mut page);
    let path = results().join("summary.md");
    fs::write(&path, page).expect("the summary is written");
    path
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("into memory");
}

/// The newest result of each measurement.
fn newest() -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    let files = fs::read_dir(results()).expect("results").flatten().map(|f| f.path());
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let report: Value =
            fs::read(&path).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
        let Some(name) = report["measurement"].as_str() else { continue };
        let is_newer = found.get(name).is_none_or(|f| f["unix_s"].as_u64() < report["unix_s"].as_u64());
        if is_newer {
            found.insert(name.to_owned(), report);
        }
    }
    found
}

fn figure_row(figure: &Value) -> String {
    let number = |name: &str| figure[name].as_f64();
    let cell = |value: Option<f64>| value.map_or(String::new(), short);
    let ratio = number("ours").zip(number("other")).map(|(ours, other)| ours / other);
    let text = |name: &str| figure[name].as_str().unwrap_or_default();
    format!(
        "| {} | {} | {} | {} | {} | {} |",
        text("what"),
        text("unit"),
        cell(number("ours")),
        cell(number("other")),
        cell(ratio),
        text("reach")
    )
}

fn section(page: &mut String, report: &Value) {
    let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
    line(page, &format!("\n## {}\n\n{} (commit {}).\n", text("measurement"), text("about"), text("commit")));
    let columns: Vec<&str> =
        report["columns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    line(page, &format!("| | {} |", columns.join(" | ")));
    line(page, &format!("|---|{}", "---:|".repeat(columns.len())));
    for row in report["rows"].as_array().into_iter().flatten() {
        let cells: Vec<String> =
            columns.iter().map(|c| row[*c].as_f64().map_or(String::new(), short)).collect();
        let name = row["name"].as_str().unwrap_or_default().replace('|', "\\|");
        line(page, &format!("| {name} | {} |", cells.join(" | ")));
    }
    for chart in report["charts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        line(page, &format!("\n![{chart}]({chart})"));
    }
}

/// Adds Criterion's medians to the page, if `cargo bench` has run.
fn parts(page: &mut String) {
    let exe = std::env::current_exe().expect("a process knows its own path");
    let Some(target) = exe.ancestors().nth(2) else { return };
    let mut medians = BTreeMap::new();
    collect(&target.join("criterion"), &mut medians);
    if medians.is_empty() {
        return;
    }
    page.push_str(
        "\n## parts\n\nEach alone on one core, Criterion's medians.\n\n| part | ms |\n|---|---:|\n",
    );
    for (name, ms) in medians {
        line(page, &format!("| {name} | {ms:.4} |"));
    }
}

fn collect(folder: &Path, medians: &mut BTreeMap<String, f64>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    for folder in entries.filter(|p| p.is_dir()) {
        let read = |file: &str| -> Option<Value> {
            serde_json::from_slice(&fs::read(folder.join("new").join(file)).ok()?).ok()
        };
        if let Some((name, estimates)) = read("benchmark.json").zip(read("estimates.json")) {
            let name = name["full_id"].as_str().unwrap_or_default().to_owned();
            let ns = estimates["median"]["point_estimate"].as_f64().unwrap_or(f64::NAN);
            medians.insert(name, ns / 1e6);
        } else {
            collect(&folder, medians);
        }
    }
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}
