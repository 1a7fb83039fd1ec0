//! The results of a measurement: printed as a table, and written as JSON to a file, which [`crate::summary`] reads.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

use akhar_tests::{
    figures::{Row, line, short},
    root,
};
use serde::{Deserialize, Serialize};

use crate::{machine::Machine, targets::Target};

/// The results of one measurement.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The measurement's name.
    pub(crate) name: String,
    /// What it measures.
    pub(crate) about: String,
    /// When it ended, seconds since 1970.
    pub(crate) unix_s: u64,
    /// Where it ran, and who else did.
    pub(crate) machine: Machine,
    /// The commit of the repository, if there is one.
    pub(crate) commit: Option<String>,
    /// The rows with their names.
    pub(crate) rows: Vec<(String, Cells)>,
    /// The numbers of the summary's first table.
    pub(crate) figures: Vec<Figure>,
}

/// The numbers of a row with the names of the columns. `None` stands for NaN.
pub(crate) type Cells = Vec<(String, Option<f64>)>;

/// One number in the first table of the summary.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// The measured quantity.
    pub(crate) what: String,
    /// The unit of both numbers.
    pub(crate) unit: String,
    /// Akhar's number.
    pub(crate) ours: Option<f64>,
    /// The number that it is compared with: that of another program, or of an empty table.
    pub(crate) other: Option<f64>,
    /// What Akhar's number should reach.
    pub(crate) target: Target,
}

impl Report {
    /// A report without results. `about` describes the measurement.
    pub(crate) fn new(machine: Machine, name: &str, about: String) -> Self {
        println!("\n{name}: {about}");
        println!("  {}", machine.description());
        let (rows, figures) = (Vec::new(), Vec::new());
        Self { name: name.to_owned(), about, unix_s: 0, machine, commit: commit(), rows, figures }
    }

    /// Adds a figure to the summary.
    pub(crate) fn figure(
        &mut self,
        what: impl Into<String>,
        unit: &str,
        ours: f64,
        other: impl Into<Option<f64>>,
        target: Target,
    ) {
        let (what, other, unit) = (what.into(), other.into(), unit.to_owned());
        let figure = Figure { what, unit, ours: Some(ours), other, target };
        let Figure { what, unit, .. } = &figure;
        let beside = |other: f64| format!(" beside {} {unit}: {} ×", short(other), short(ours / other));
        let compared = other.map_or(String::new(), beside);
        println!("  {what}: {} {unit}{compared} (target: {target}{})", short(ours), figure.verdict());
        self.figures.push(figure);
    }

    /// Adds a row to the table.
    pub(crate) fn row(&mut self, name: &str, row: Row) {
        println!("{}", line(name, &row));
        let finite = |value: f64| value.is_finite().then_some(value);
        let row = row.into_iter().map(|(column, value)| (column.to_owned(), finite(value)));
        self.rows.push((name.to_owned(), row.collect()));
    }

    /// Writes `bench/results/<name>-<seconds since 1970>.json`.
    pub(crate) fn publish(mut self) {
        self.machine.check_steal();
        println!("  {}", self.machine.line());
        self.unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = results().join(format!("{}-{}.json", self.name, self.unix_s));
        let text = serde_json::to_string_pretty(&self).expect("JSON");
        fs::write(&path, text).expect("the results are written");
        println!("  -> {}", path.display());
    }
}

impl Figure {
    /// Whether the target is reached, to be written after it.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.ours.and_then(|ours| self.target.is_reached(ours, self.other)) {
            Some(true) => ", reached",
            Some(false) => ", missed",
            None => "",
        }
    }
}

/// The folder for results. It is created if it does not exist.
pub(crate) fn results() -> PathBuf {
    let folder = root().join("bench/results");
    fs::create_dir_all(&folder).expect("a folder for results");
    folder
}

/// The commit of the repository, if there is one.
pub(crate) fn commit() -> Option<String> {
    let output =
        Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
