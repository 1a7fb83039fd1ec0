//! Collects the results of a measurement, and writes them as a table to stdout and as JSON to a file, which
//! [`crate::summary`] reads.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use akhar_tests::root;
use serde_json::{Map, Value, json};

/// The results of one measurement.
#[derive(Debug)]
pub(crate) struct Report {
    name: &'static str,
    about: String,
    rows: Vec<(String, Vec<(&'static str, f64)>)>,
    figures: Vec<Figure>,
    charts: Vec<String>,
    failure: Option<String>,
}

/// One number in the first table of the summary.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The measured quantity.
    pub(crate) what: String,
    /// The unit of both numbers.
    pub(crate) unit: &'static str,
    /// Akhar's number.
    pub(crate) ours: f64,
    /// The number that it is compared with: that of another program, or of an empty table.
    pub(crate) other: Option<f64>,
    /// The goal, in words.
    pub(crate) reach: &'static str,
}

impl Report {
    /// A report without results. `about` describes the measurement.
    pub(crate) fn new(name: &'static str, about: String) -> Self {
        Self { name, about, rows: Vec::new(), figures: Vec::new(), charts: Vec::new(), failure: None }
    }

    /// Records that a check failed. The program exits with this error after all results are published.
    pub(crate) fn fail(&mut self, why: String) {
        self.failure = Some(why);
    }

    /// Adds a figure to the summary.
    pub(crate) fn figure(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Writes a chart to `bench/results/<name>.svg`. The summary shows it.
    pub(crate) fn chart(&mut self, name: &str, svg: &str) {
        let file = format!("{name}.svg");
        fs::write(results().join(&file), svg).expect("the chart is written");
        self.charts.push(file);
    }

    /// Adds a row to the table.
    pub(crate) fn row(&mut self, name: &str, numbers: Vec<(&'static str, f64)>) {
        self.rows.push((name.to_owned(), numbers));
    }

    /// Prints the table and writes `bench/results/<name>-<seconds since 1970>.json`. Returns the error if a
    /// check failed.
    #[must_use]
    pub(crate) fn publish(self) -> Option<String> {
        println!("\n{}: {}", self.name, self.about);
        for (name, numbers) in &self.rows {
            let numbers: Vec<String> = numbers.iter().map(|(n, v)| format!("{n} {}", short(*v))).collect();
            println!("  {name:<28} {}", numbers.join("  "));
        }
        for f in &self.figures {
            let beside = |o: f64| format!(" beside {} {}: {} ×", short(o), f.unit, short(f.ours / o));
            let other = f.other.map_or(String::new(), beside);
            println!("  {}: {} {}{other} (to reach: {})", f.what, short(f.ours), f.unit, f.reach);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = results().join(format!("{}-{now}.json", self.name));
        fs::write(&path, format!("{:#}\n", self.json(now))).expect("the results are written");
        println!("  -> {}", path.display());
        self.failure
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
        let figures: Vec<Value> = self
            .figures
            .iter()
            .map(|f| json!({"what": f.what, "unit": f.unit, "ours": f.ours, "other": f.other, "reach": f.reach}))
            .collect();
        let n_cores = std::thread::available_parallelism().map_or(0, usize::from);
        let mut columns: Vec<&str> = Vec::new();
        for (column, _) in self.rows.iter().flat_map(|(_, numbers)| numbers) {
            if !columns.contains(column) {
                columns.push(column);
            }
        }
        json!({
            "measurement": self.name, "about": self.about, "unix_s": now, "n_cores": n_cores,
            "commit": commit(), "columns": columns, "rows": rows, "figures": figures, "charts": self.charts,
        })
    }
}

/// The folder for results. It is created if it does not exist.
pub(crate) fn results() -> PathBuf {
    let folder = root().join("bench/results");
    fs::create_dir_all(&folder).expect("a folder for results");
    folder
}

/// Formats a number for tables.
pub(crate) fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else if value.abs() < 0.1 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

/// The commit of the repository, if there is one.
pub(crate) fn commit() -> Option<String> {
    let output =
        Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The number of durations, and their quantiles in ms.
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

/// The median. For an even number of values, it is the lower of the two middle ones.
pub(crate) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(rank(sorted.len(), 0.5)).copied().unwrap_or(f64::NAN)
}

/// The number with this name in a row; NaN if there is none.
pub(crate) fn number(row: &[(&'static str, f64)], name: &str) -> f64 {
    row.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, v)| *v)
}

/// The index of a quantile by the nearest-rank method.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is from 0 to n")]
fn rank(n: usize, q: f64) -> usize {
    ((count(n) * q).ceil() as usize).clamp(1, n.max(1)) - 1
}

/// A count as a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}
