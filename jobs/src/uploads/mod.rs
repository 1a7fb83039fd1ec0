//! Uploads outside the database: in a folder, or in a bucket of a service that has the interface of Amazon S3.
//!
//! The api writes the object before it submits the job, or its caller does (`reserved`). The job's row names the object, its size
//! and its SHA-256. The object is deleted when the end of the job is on disk. Objects that no unfinished job names are found by listing
//! (`orphans`), so nothing stays for good, whatever process died when.

mod address;
mod background;
mod error;
mod limited;
mod location;
mod locations;
mod orphans;
mod presign;
mod reserved;
mod upload_store;

pub use error::{FetchError, UploadStoreError};
pub use location::{OPERATIONS, S3Access};
pub use orphans::{Orphans, OrphansError};
pub use reserved::Written;
pub use upload_store::UploadStore;
