//! Results: rows of named numbers come in; a table on stdout and a JSON file go out.

use std::{
    fs,
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use akhar_tests::root;
use serde_json::{Map, Value, json};

/// One measurement's results.
#[derive(Debug)]
pub(crate) struct Report {
    name: &'static str,
    about: String,
    rows: Vec<(String, Vec<(&'static str, f64)>)>,
}

impl Report {
    /// None yet; `about` says what was done.
    pub(crate) fn new(name: &'static str, about: String) -> Self {
        Self { name, about, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, name: &str, numbers: Vec<(&'static str, f64)>) {
        self.rows.push((name.to_owned(), numbers));
    }

    /// Prints the table and writes `bench/results/<name>-<seconds since 1970>.json`.
    pub(crate) fn publish(&self) {
        println!("\n{}: {}", self.name, self.about);
        for (name, numbers) in &self.rows {
            let numbers: Vec<String> = numbers.iter().map(|(n, v)| format!("{n} {}", short(*v))).collect();
            println!("  {name:<28} {}", numbers.join("  "));
        }
        let folder = root().join("bench/results");
        fs::create_dir_all(&folder).expect("a folder for results");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = folder.join(format!("{}-{now}.json", self.name));
        fs::write(&path, format!("{:#}\n", self.json(now))).expect("the results are written");
        println!("  -> {}", path.display());
    }

    fn json(&self, now: u64) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(name, numbers)| {
                let mut row: Map<String, Value> =
                    numbers.iter().map(|(n, v)| ((*n).to_owned(), json!(v))).collect();
                row.insert("name".to_owned(), json!(name));
                Value::Object(row)
            })
            .collect();
        let n_cores = std::thread::available_parallelism().map_or(0, usize::from);
        json!({
            "measurement": self.name, "about": self.about, "unix_s": now, "n_cores": n_cores,
            "commit": commit(), "rows": rows,
        })
    }
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else if value.abs() < 0.1 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

fn commit() -> Option<String> {
    let output =
        Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Median, tail and worst of some durations, in ms.
pub(crate) fn quantiles(durations: &[Duration]) -> Vec<(&'static str, f64)> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let at = |q: f64| sorted.get(rank(sorted.len(), q)).map_or(f64::NAN, |d| d.as_secs_f64() * 1e3);
    vec![
        ("n", count(sorted.len())),
        ("p50_ms", at(0.5)),
        ("p90_ms", at(0.9)),
        ("p99_ms", at(0.99)),
        ("max_ms", at(1.0)),
    ]
}

/// The nearest-rank index of a quantile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
fn rank(n: usize, q: f64) -> usize {
    ((count(n) * q).ceil() as usize).clamp(1, n.max(1)) - 1
}

/// A count as a number of a row.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}
