//! The upload of a job, and where its bytes are kept until the job ends.

use bytes::Bytes;

use crate::places::LARGE_UPLOAD_BYTES;

/// The upload of a job. Its bytes are in the job's row, or outside the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobUpload {
    /// The IANA name of its media type, which whoever runs the job reads.
    pub media_type: String,
    /// The bytes, or where they are.
    pub content: UploadContent,
}

/// The bytes of a job's upload, or where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadContent {
    /// The bytes are in the job's row.
    Row(Bytes),
    /// The bytes are in an object outside the database.
    Object(UploadObject),
}

/// An object that has the bytes of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadObject {
    /// Where it is, such as `s3://bucket/prefix/name`. Contains no credentials.
    pub url: String,
    /// Its size.
    pub n_bytes: u64,
    /// The SHA-256 of its bytes. `None` if the caller has written it: then it is read part by part.
    pub sha256: Option<[u8; 32]>,
}

impl JobUpload {
    /// Whether it has more than 1 MiB.
    pub(crate) fn is_large(&self) -> bool {
        let n_bytes = match &self.content {
            UploadContent::Row(bytes) => bytes.len() as u64,
            UploadContent::Object(object) => object.n_bytes,
        };
        n_bytes > LARGE_UPLOAD_BYTES
    }

    /// The object, if the caller has written it.
    pub fn of_caller(&self) -> Option<&UploadObject> {
        self.object().filter(|object| object.sha256.is_none())
    }

    /// The bytes, if they are in the job's row.
    pub(crate) fn row(&self) -> Option<&Bytes> {
        match &self.content {
            UploadContent::Row(bytes) => Some(bytes),
            UploadContent::Object(_) => None,
        }
    }

    /// The object, if the bytes are in one.
    pub(crate) const fn object(&self) -> Option<&UploadObject> {
        match &self.content {
            UploadContent::Row(_) => None,
            UploadContent::Object(object) => Some(object),
        }
    }
}
