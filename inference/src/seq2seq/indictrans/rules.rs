//! Rewrites a text by an ordered list of patterns and replacements.

use regex::Regex;

/// Patterns with what replaces each match, in the order in which they are applied.
pub(super) struct Rules(Vec<(Regex, &'static str)>);

impl Rules {
    /// Compiles constant patterns. A replacement can name groups as `${1}`.
    pub(super) fn new(rules: &[(&str, &'static str)]) -> Self {
        #[expect(clippy::unwrap_used, reason = "the patterns are constants that the tests compile")]
        let compiled =
            |(pattern, replacement): &(&str, &'static str)| (Regex::new(pattern).unwrap(), *replacement);
        Self(rules.iter().map(compiled).collect())
    }

    /// The text after all rules.
    pub(super) fn apply(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
    }
}
