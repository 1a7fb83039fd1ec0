//! What one check found.

use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// Nothing is wrong.
    Ok,
    /// The service works, but an operator should know this.
    Warning,
    /// The service does not start, or does not work.
    Failed,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// What was checked, in one or two words.
    pub(super) name: &'static str,
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// How to correct it. `None` if nothing is wrong.
    pub(super) fix: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), fix: None }
    }

    pub(super) fn warning(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, status: Status::Warning, found: found.into(), fix: Some(fix.into()) }
    }

    pub(super) fn failed(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, status: Status::Failed, found: found.into(), fix: Some(fix.into()) }
    }

    /// One line, and a second one with the correction if there is one.
    pub(super) fn text(&self) -> String {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "FAILED",
        };
        let line = format!("{status:<8}  {:<13}  {}\n", self.name, self.found);
        match &self.fix {
            Some(fix) => format!("{line}{:>25}fix: {fix}\n", ""),
            None => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_status_and_the_fix_is_below_the_finding() {
        let check = Check::failed("schema", "it is 2 migrations behind", "run `akhar migrate`");
        let text = "FAILED    schema         it is 2 migrations behind\n                         fix: run `akhar migrate`\n";
        assert_eq!(check.text(), text);
        assert_eq!(Check::ok("clock", "same").text(), "ok        clock          same\n");
    }
}
