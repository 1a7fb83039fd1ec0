//! The table of a run, `summary.csv`: a line for each file, those to review first on top.

use std::{cmp::Ordering, path::Path};

use super::{journal::Entry, untranscribed::Untranscribed};

/// The name of the file.
pub(super) const FILE: &str = "summary.csv";
const HEAD: [&str; 6] = ["file", "status", "seconds", "words", "confidence", "warnings"];

/// How a file ended. The order is that of the lines: what to review first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Failed,
    Warned,
    Transcribed,
    Skipped,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Warned | Self::Transcribed => "transcribed",
            Self::Skipped => "skipped",
        }
    }
}

/// A line.
#[derive(Debug, Clone)]
pub(super) struct Row {
    file: String,
    status: Status,
    /// The journal's entry of a transcribed recording.
    entry: Option<Entry>,
    /// The warnings, or why there is no transcription.
    remarks: String,
}

impl Row {
    pub(super) fn transcribed(path: &Path, entry: Entry) -> Self {
        let status = if entry.warnings.is_empty() { Status::Transcribed } else { Status::Warned };
        let remarks = entry.warnings.join("; ");
        Self { file: path.to_string_lossy().into_owned(), status, entry: Some(entry), remarks }
    }

    pub(super) fn failed(file: &Untranscribed) -> Self {
        Self::untranscribed(file, Status::Failed)
    }

    pub(super) fn skipped(file: &Untranscribed) -> Self {
        Self::untranscribed(file, Status::Skipped)
    }

    fn untranscribed(Untranscribed { path, reason, .. }: &Untranscribed, status: Status) -> Self {
        Self { file: path.clone(), status, entry: None, remarks: reason.clone() }
    }

    fn confidence(&self) -> Option<f64> {
        self.entry.as_ref().and_then(|entry| entry.confidence)
    }

    /// Failed files first, then those with warnings, then the others with the lowest confidence first. Those without one, as
    /// those without words, are before them.
    fn order(&self, other: &Self) -> Ordering {
        let confidence = |row: &Self| row.confidence().unwrap_or(f64::NEG_INFINITY);
        self.status
            .cmp(&other.status)
            .then_with(|| confidence(self).total_cmp(&confidence(other)))
            .then_with(|| self.file.cmp(&other.file))
    }

    /// The line of the table.
    pub(super) fn line(&self) -> String {
        let of_entry = |cell: fn(&Entry) -> String| self.entry.as_ref().map(cell).unwrap_or_default();
        line([
            self.file.clone(),
            self.status.name().to_owned(),
            of_entry(|entry| format!("{:.3}", entry.duration_s)),
            of_entry(|entry| entry.n_words.to_string()),
            self.confidence().map(|confidence| format!("{confidence:.3}")).unwrap_or_default(),
            self.remarks.clone(),
        ])
    }
}

/// The table as comma-separated values (RFC 4180).
pub(super) fn csv(mut rows: Vec<Row>) -> String {
    rows.sort_by(Row::order);
    std::iter::once(line(HEAD.map(str::to_owned))).chain(rows.iter().map(Row::line)).collect()
}

fn line(cells: [String; 6]) -> String {
    cells.map(|cell| quoted(&cell)).join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_to_review_come_first_and_any_name_is_a_cell() {
        let entry = |confidence, warnings: &[&str]| Entry {
            name: String::new(),
            sha256: String::new(),
            duration_s: 2.5,
            n_words: 4,
            confidence,
            warnings: warnings.iter().map(|text| (*text).to_owned()).collect(),
        };
        let bad = |path: &str| Untranscribed {
            path: path.into(),
            code: "a".into(),
            reason: "it, is \"empty\"".into(),
        };
        let rows = vec![
            Row::skipped(&bad("e.pdf")),
            Row::transcribed(Path::new("unknown.mp3"), entry(None, &[])),
            Row::transcribed(Path::new("sure.mp3"), entry(Some(0.95), &[])),
            Row::transcribed(Path::new("unsure.mp3"), entry(Some(0.51), &[])),
            Row::transcribed(Path::new("warned.mp3"), entry(Some(0.99), &["too quiet", "cut off"])),
            Row::failed(&bad("d\n.mp3")),
        ];
        assert_eq!(
            csv(rows),
            "file,status,seconds,words,confidence,warnings\r\n\
             \"d\n.mp3\",failed,,,,\"it, is \"\"empty\"\"\"\r\n\
             warned.mp3,transcribed,2.500,4,0.990,too quiet; cut off\r\n\
             unknown.mp3,transcribed,2.500,4,,\r\n\
             unsure.mp3,transcribed,2.500,4,0.510,\r\n\
             sure.mp3,transcribed,2.500,4,0.950,\r\n\
             e.pdf,skipped,,,,\"it, is \"\"empty\"\"\"\r\n"
        );
    }
}
