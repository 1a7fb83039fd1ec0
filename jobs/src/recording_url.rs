//! The URL from which a worker fetches the recording of a job.

use std::fmt;

/// The URL from which a worker fetches the recording of a job. It was allowed when the job was submitted. Its query can be a
/// secret, so neither logs nor errors have it.
#[derive(Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct RecordingUrl(String);

impl RecordingUrl {
    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for RecordingUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for RecordingUrl {
    /// Leaves the query out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.split('?').next().unwrap_or_default();
        f.debug_tuple("RecordingUrl").field(&shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_is_not_shown() {
        let url = RecordingUrl("https://example.com/a.mp3?signature=secret".to_owned());
        assert_eq!(format!("{url:?}"), r#"RecordingUrl("https://example.com/a.mp3")"#);
    }
}
