//! Finds and deletes objects that no unfinished job and no caller needs: their job has ended and their deletion failed, a process
//! died between writing them and submitting their job, or a caller wrote them for no job.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use akhar_platform::database::Pool;

use super::{
    error::UploadStoreError,
    upload_store::{UploadStore, job_of},
};
use crate::{JobId, store};

/// The most objects that are listed at a time. The names begin with the ids of jobs, so a bucket lists the oldest first.
const MAX_LISTED: usize = 10_000;
/// The most objects in one statement.
const MAX_IN_STATEMENT: usize = 1000;

/// How long an object must be without a job before it is deleted. The api submits the job within seconds of writing the
/// object. The time is measured by this process from when it first found the object, so clocks of other machines do not
/// matter.
const GRACE: Duration = Duration::from_secs(60);

/// Why a pass did not finish.
#[derive(Debug, thiserror::Error)]
pub enum OrphansError {
    /// The store could not be listed, or objects could not be deleted.
    #[error(transparent)]
    Store(#[from] UploadStoreError),
    /// A statement failed.
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
}

/// The objects without a job that were found so far.
#[derive(Debug)]
pub struct Orphans {
    uploads: UploadStore,
    grace: Duration,
    /// When each object was first found without a job, by its name.
    found: HashMap<String, Instant>,
}

impl Orphans {
    /// Looks in the store that new uploads are written to.
    pub fn new(uploads: UploadStore) -> Self {
        Self::after(uploads, GRACE)
    }

    /// Deletes objects that have been without a job for `grace`.
    pub fn after(uploads: UploadStore, grace: Duration) -> Self {
        Self { uploads, grace, found: HashMap::new() }
    }

    /// Lists the store and deletes the objects that were found without a job in an earlier pass, `grace` ago or more,
    /// and still have none. Returns how many. Deletes none if the database is quiet. Objects that this program has not written are left alone.
    pub async fn pass(&mut self, db: &Pool) -> Result<usize, OrphansError> {
        let Some(location) = self.uploads.configured() else { return Ok(0) };
        if store::is_quiet(db).await? {
            return Ok(0); // the objects may be those of the database of which this one is a copy
        }
        let names = location.names(MAX_LISTED).await?;
        let objects: Vec<(JobId, String)> =
            names.into_iter().filter_map(|name| Some((job_of(&name)?, name))).collect();
        let mut without_job = Vec::new();
        for some in objects.chunks(MAX_IN_STATEMENT) {
            let urls: Vec<_> = some.iter().map(|(job, name)| (*job, location.object_url(name))).collect();
            let used = store::used_objects(db, &urls).await?;
            let unused = some.iter().zip(&urls).filter(|(_, (_, url))| !used.contains(url));
            without_job.extend(unused.map(|((_, name), _)| name.clone()));
        }
        let now = Instant::now();
        let mut earlier = std::mem::take(&mut self.found);
        let mut due = Vec::new();
        let mut found = HashMap::new();
        for name in without_job {
            match earlier.remove(&name) {
                Some(since) if now.duration_since(since) >= self.grace => due.push(name),
                since => {
                    found.insert(name, since.unwrap_or(now));
                }
            }
        }
        self.found = found;
        if !due.is_empty() {
            location.delete(&due).await?;
        }
        Ok(due.len())
    }
}
