//! Writes the newest result of each measurement to one Markdown page, `bench/results/summary.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use akhar_tests::figures::short;
use serde_json::Value;

use crate::report::{Figure, Report, commit, results};

/// The order of the measurements on the page. Measurements that are not listed follow these.
const ORDER: [&str; 5] = ["overhead", "load", "peers", "queue", "full-table"];

/// Writes the page and returns its path.
pub(crate) fn write() -> PathBuf {
    let mut reports = newest();
    reports.sort_by_key(|r| (ORDER.iter().position(|n| *n == r.name).unwrap_or(ORDER.len()), r.name.clone()));
    let mut page = "# Benchmarks\n\n".to_owned();
    let commit = commit().unwrap_or_else(|| "no commit".to_owned());
    line(&mut page, &format!("{commit}. Clients, service and peers share the cores.\n"));
    let machines: BTreeSet<String> = reports.iter().map(|report| report.machine.description()).collect();
    for machine in machines {
        line(&mut page, &format!("- {machine}"));
    }
    page.push_str("\n| what | unit | Akhar | other | ratio | target |\n|---|---|---:|---:|---:|---|\n");
    for figure in reports.iter().flat_map(|report| &report.figures) {
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

/// The newest result of each measurement. Files in an older format do not count.
fn newest() -> Vec<Report> {
    let mut found: BTreeMap<String, Report> = BTreeMap::new();
    for file in fs::read_dir(results()).expect("results").flatten() {
        let report = fs::read(file.path()).ok().and_then(|json| serde_json::from_slice::<Report>(&json).ok());
        let Some(report) = report else { continue };
        if found.get(&report.name).is_none_or(|other| other.unix_s < report.unix_s) {
            found.insert(report.name.clone(), report);
        }
    }
    found.into_values().collect()
}

fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), short)
}

fn figure_row(figure: &Figure) -> String {
    let Figure { what, unit, ours, other, target } = figure;
    let ratio = ours.zip(*other).map(|(ours, other)| ours / other);
    let [ours, other, ratio] = [*ours, *other, ratio].map(cell);
    format!("| {what} | {unit} | {ours} | {other} | {ratio} | {target}{} |", figure.verdict())
}

fn section(page: &mut String, report: &Report) {
    let commit = report.commit.as_deref().unwrap_or_default();
    line(page, &format!("\n## {}\n\n{} (commit {commit}).\n", report.name, report.about));
    line(page, &format!("{}.\n", report.machine.line()));
    let mut columns: Vec<&str> = Vec::new();
    for (column, _) in report.rows.iter().flat_map(|(_, row)| row) {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
    }
    line(page, &format!("| | {} |", columns.join(" | ")));
    line(page, &format!("|---|{}", "---:|".repeat(columns.len())));
    for (name, row) in &report.rows {
        let value = |column: &&str| row.iter().find(|(name, _)| name == column).and_then(|(_, value)| *value);
        let cells: Vec<String> = columns.iter().map(|column| cell(value(column))).collect();
        line(page, &format!("| {} | {} |", name.replace('|', "\\|"), cells.join(" | ")));
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
