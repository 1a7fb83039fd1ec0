//! Writes the metrics in [the text format of
//! Prometheus](https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).

use std::fmt::{Display, Write as _};

use super::{
    metric::{Distribution, Value},
    table::TABLE,
};

/// All series, in the order of the table.
pub(super) fn text() -> String {
    let mut text = String::new();
    for row in TABLE {
        let series = row.metric.series();
        if series.is_empty() {
            continue;
        }
        let name = row.name;
        // Writing to a String does not fail.
        let _ = writeln!(text, "# HELP {name} {}", row.help.trim_ascii().replace('\\', "\\\\"));
        let _ = writeln!(text, "# TYPE {name} {}", row.kind.name());
        for (values, value) in series {
            let labels: Vec<String> =
                row.labels.iter().zip(&values).map(|(name, value)| label(name, value)).collect();
            let mut line = |suffix: &str, labels: &[String], value: &dyn Display| {
                let labels =
                    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                let _ = writeln!(text, "{name}{suffix}{labels} {value}");
            };
            match value {
                Value::Number(number) => line("", &labels, &number),
                Value::Distribution(Distribution { buckets, sum }) => {
                    let mut n = 0;
                    for bucket in buckets {
                        n += bucket.n;
                        let bound = if bucket.bound.is_finite() {
                            bucket.bound.to_string()
                        } else {
                            "+Inf".to_owned()
                        };
                        line("_bucket", &[&labels[..], &[label("le", &bound)]].concat(), &n);
                    }
                    line("_sum", &labels, &sum);
                    line("_count", &labels, &n);
                }
            }
        }
    }
    text
}

fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}
