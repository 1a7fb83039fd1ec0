//! Uploads that callers write to the bucket themselves, by presigned URLs, because they are larger than a request may be.
//!
//! An object is called after the id of the upload, and the account that may use it.

use std::{ops::Range, time::Duration};

use bytes::Bytes;

use super::{
    error::{FetchError, UploadStoreError},
    upload_store::UploadStore,
};
use crate::{UploadObject, store::ReservedUpload};

/// What a caller has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// Nothing.
    Nothing,
    /// An object of another size, bytes.
    OtherSize(u64),
    /// The upload.
    Upload {
        /// The object.
        object: UploadObject,
        /// Its first bytes, in which its type is found.
        start: Bytes,
    },
}

fn name(upload: &ReservedUpload) -> String {
    format!("{}.{}", upload.id, upload.account_id)
}

impl UploadStore {
    /// The URL to which the caller can write the upload with PUT for so long, with exactly its size. `None` if uploads are not
    /// kept in a bucket.
    pub async fn presign(
        &self,
        upload: &ReservedUpload,
        lifetime: Duration,
    ) -> Result<Option<String>, UploadStoreError> {
        let Some(location) = self.configured() else { return Ok(None) };
        location.presign(&name(upload), upload.n_bytes, lifetime).await
    }

    /// The address of the object that the caller may write. `None` if uploads are not kept in a bucket.
    pub fn reserved_object(&self, upload: &ReservedUpload) -> Option<String> {
        self.configured().map(|location| location.object_url(&name(upload)))
    }

    /// Looks for what the caller has written, and reads its first bytes, `n_start` of them if it has as many.
    pub async fn written(&self, upload: &ReservedUpload, n_start: u64) -> Result<Written, UploadStoreError> {
        let Some(location) = self.configured() else { return Ok(Written::Nothing) };
        let name = name(upload);
        let n_bytes = u64::from(upload.n_bytes);
        match location.size(&name).await? {
            None => return Ok(Written::Nothing),
            Some(other) if other != n_bytes => return Ok(Written::OtherSize(other)),
            Some(_) => (),
        }
        let object = UploadObject { url: location.object_url(&name), n_bytes, sha256: None };
        match location.read_part(&name, n_bytes, 0..n_bytes.min(n_start)).await {
            Ok(start) => Ok(Written::Upload { object, start }),
            Err(FetchError::Lost { .. }) => Ok(Written::Nothing), // it was deleted meanwhile
            Err(FetchError::Unavailable(error)) => Err(error),
        }
    }

    /// Reads a part of the upload of a claimed job that its caller has written, and checks the size of the whole.
    pub async fn read_part(&self, object: &UploadObject, part: Range<u64>) -> Result<Bytes, FetchError> {
        let (location, name) = self.resolve(&object.url)?;
        location.read_part(&name, object.n_bytes, part).await
    }
}
