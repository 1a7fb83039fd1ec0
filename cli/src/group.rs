//! The name of a group of jobs as an argument.

use akhar_jobs::GroupName;

/// The name, or what is expected instead.
pub(crate) fn name(text: &str) -> Result<GroupName, String> {
    GroupName::parse(text).ok_or_else(|| {
        "expected the name of a group: 1 to 128 letters, digits, '.', '_' and '-', the first a letter or digit".to_owned()
    })
}
