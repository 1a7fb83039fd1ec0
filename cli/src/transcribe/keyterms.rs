//! Reads the file with the terms that recordings are likely to have.

use std::path::Path;

use akhar_platform::text;
use akhar_requests::key_term::{KeyTerm, MAX_TERMS};

use crate::failure::Failure;

/// The terms of a file, one on each line. Empty lines are left out.
pub(super) fn read(path: &Path) -> Result<Vec<String>, Failure> {
    let name = path.display();
    let text = text::read(path).map_err(Failure::io(format!("cannot read {name}")))?;
    let lines = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty());
    let wrong = |what: String| Failure::Command(format!("{name}: {what}"));
    let term = |(line, nth): (&str, usize)| match KeyTerm::parse(line) {
        Ok(term) => Ok(term.as_str().to_owned()),
        Err(error) => Err(wrong(format!("the term of line {nth} has {error}"))),
    };
    let terms = lines.map(term).collect::<Result<Vec<_>, _>>()?;
    if terms.len() > MAX_TERMS {
        return Err(wrong(format!("it has {} terms, expected at most {MAX_TERMS}", terms.len())));
    }
    Ok(terms)
}
