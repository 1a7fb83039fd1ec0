//! Whether the store that `AKHAR_UPLOAD_STORE` names can be used.

use akhar_platform::config::Config;

use super::check::Check;
use crate::{failure::Failure, uploads};

/// What the causes of errors say of folders and buckets, and how to correct it.
const FIXES: [(&[&str], &str); 2] = [
    (
        &[
            "Permission denied",
            "Read-only file system",
            "AccessDenied",
            "Forbidden",
            "SignatureDoesNotMatch",
            "InvalidAccessKeyId",
        ],
        "let the user of the service read, write, list and delete there: the owner and the mode of the folder, or AWS_ACCESS_KEY_ID, \
         AWS_SECRET_ACCESS_KEY and the rights of that key",
    ),
    (
        &["NoSuchBucket", "No such file or directory", "NotFound", "not found", "Not a directory"],
        "make the folder or the bucket again, or correct AKHAR_UPLOAD_STORE; jobs whose uploads are gone fail",
    ),
];

/// Writes, reads, lists and deletes an object, as each process does when it starts.
pub(super) async fn check(config: &Config) -> Check {
    let place = &config.upload_store;
    match uploads::open(config).await {
        Ok(_) if place == "postgres" => Check::ok("uploads", "are kept in the database"),
        Ok(_) => Check::ok("uploads", format!("{place} can be written and read")),
        Err(error) => {
            let found = error.to_string();
            let fix = match &error {
                Failure::Uploads(error) if error.is_full() => {
                    "the store is full: free space in it, or make it larger"
                }
                _ => fix(&found),
            };
            Check::failed("uploads", found, fix)
        }
    }
}

fn fix(error: &str) -> &'static str {
    let known = FIXES.iter().find(|(causes, _)| causes.iter().any(|cause| error.contains(cause)));
    known.map_or(
        "check that the address answers from this machine, and AKHAR_UPLOAD_STORE and the AWS_ variables",
        |(_, fix)| *fix,
    )
}
