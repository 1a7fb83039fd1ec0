//! Parses the address of a store.

use std::path::PathBuf;

use object_store::path::Path;
use reqwest::Url;

use super::error::UploadStoreError;

/// The value of the setting with which uploads stay in the database.
const POSTGRES: &str = "postgres";

/// The address of a store outside the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The whole address, without a slash at its end.
    pub(super) url: String,
    pub(super) place: Place,
}

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A folder.
    Folder(PathBuf),
    /// A bucket, and the beginning of the names of its objects.
    Bucket { bucket: String, prefix: Path },
}

impl Address {
    /// Parses the setting. `None` if uploads stay in the database.
    pub(super) fn of_setting(setting: &str) -> Result<Option<Self>, UploadStoreError> {
        if setting == POSTGRES {
            return Ok(None);
        }
        Self::parse(setting).map(Some).ok_or_else(|| {
            // An address with a user name has probably a password.
            let is_secret = setting.contains('@');
            let shown =
                if is_secret { "an address with credentials".to_owned() } else { format!("{setting:?}") };
            UploadStoreError::Setting(shown)
        })
    }

    /// Parses an address. `None` if it names neither a folder nor a bucket.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let parsed = Url::parse(text).ok()?;
        let has_more = parsed.query().is_some() || parsed.fragment().is_some() || parsed.password().is_some();
        if has_more || !parsed.username().is_empty() {
            return None;
        }
        let place = match (parsed.scheme(), parsed.host_str()) {
            // A relative path such as in `file:uploads` is parsed as an absolute one.
            ("file", None) if text.starts_with("file:///") => Place::Folder(parsed.to_file_path().ok()?),
            ("s3", Some(bucket)) if !bucket.is_empty() => {
                let prefix = Path::from_url_path(parsed.path()).ok()?;
                Place::Bucket { bucket: bucket.to_owned(), prefix }
            }
            _ => return None,
        };
        Some(Self { url: parsed.as_str().trim_end_matches('/').to_owned(), place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(setting: &str) -> String {
        Address::of_setting(setting).unwrap_err().to_string()
    }

    #[test]
    fn a_folder_and_a_bucket_are_addresses() {
        assert_eq!(Address::of_setting("postgres").unwrap(), None);
        let folder = Address::parse("file:///srv/my%20uploads/").unwrap();
        assert_eq!(folder.url, "file:///srv/my%20uploads");
        assert_eq!(folder.place, Place::Folder("/srv/my uploads".into()));
        let bucket = Address::parse("s3://speech/akhar/prod").unwrap();
        assert_eq!(bucket.url, "s3://speech/akhar/prod");
        assert_eq!(
            bucket.place,
            Place::Bucket { bucket: "speech".to_owned(), prefix: Path::from("akhar/prod") }
        );
    }

    #[test]
    fn any_other_setting_is_refused_by_name() {
        for setting in
            ["", "Postgres", "gs://bucket/x", "file:uploads", "file://host/x", "s3://", "s3://b?x=1", "/srv"]
        {
            let error = refused(setting);
            assert!(error.starts_with(&format!("AKHAR_UPLOAD_STORE is {setting:?}, expected")), "{error}");
        }
    }

    #[test]
    fn an_address_with_credentials_is_refused_and_not_shown() {
        let error = refused("s3://id:hunter2@bucket/prefix");
        assert!(error.contains("AKHAR_UPLOAD_STORE") && !error.contains("hunter2"), "{error}");
    }
}
