//! Generates the reference page of the metrics, in Markdown, from their table.

use std::fmt::Write as _;

use super::{
    metric::Kind,
    table::{Description, TABLE},
};

/// The page of the reference, in Markdown.
pub fn markdown() -> String {
    let mut page = "# Metrics\n\n\
        This page lists every metric that `GET /metrics` exports, with its labels and the process that has it. \
        [Monitoring](../operate/monitoring.md) says how to turn metrics on and what to watch. A histogram has the series \
        `_bucket`, `_sum` and `_count` of its name. Durations are in seconds and sizes in bytes.\n\n\
        | Metric | Type | Labels | Process | Meaning |\n\
        |---|---|---|---|---|\n"
        .to_owned();
    for Description { name, kind, labels, processes, help, .. } in TABLE {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        // Writing to a String does not fail.
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} | {} | {} |",
            kind.name(),
            labels.join(", "),
            processes.name(),
            help.trim()
        );
    }
    page.push_str("\n## Buckets\n\n| Metric | Upper bounds |\n|---|---|\n");
    for row in TABLE {
        if let Kind::Histogram(buckets) = row.kind {
            let bounds: Vec<String> = buckets.iter().map(f64::to_string).collect();
            // Writing to a String does not fail.
            let _ = writeln!(page, "| `{}` | {} |", row.name, bounds.join(", "));
        }
    }
    page
}
