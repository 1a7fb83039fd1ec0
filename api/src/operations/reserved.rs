//! Finds the upload that a request names and its caller has written to the bucket.

use akhar_jobs::{JobUpload, UploadContent, store, uploads::Written};
use akhar_platform::database::retry_transient;
use akhar_requests::sniff::N_START;
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    input::field::File,
    problems::{Code, Problem, Violation},
};

/// The upload with this id. `None` if it has a job already. A violation if the caller has no such upload, or if what the caller
/// has written is not a recording of its size.
pub(super) async fn find(app: &App, caller: &Caller, id: Uuid) -> Result<Option<JobUpload>, Problem> {
    let refuse = |code, detail: String| {
        let detail = format!("{} {id} {detail}", File::UPLOAD);
        Err(Violation::new(File::UPLOAD, code, detail).into())
    };
    let find = |_| store::find_reserved_upload(&app.database.pool, id, caller.account_id);
    let Some((upload, job)) = retry_transient(find).await? else {
        return refuse(Code::NotFound, "does not exist, or has expired".to_owned());
    };
    if let Some(job) = job {
        return match app.lookups.find(job).await? {
            Some(_) => Ok(None),
            None => refuse(Code::NotFound, "was that of a job that is deleted".to_owned()),
        };
    }
    let (object, start) = match app.uploads.written(&upload, N_START as u64).await? {
        Written::Upload { object, start } => (object, start),
        Written::Nothing => {
            return refuse(Code::NotSent, "has no file yet: send it to the URL of the upload".to_owned());
        }
        Written::OtherSize(n_bytes) => {
            let detail = format!("has {n_bytes} bytes, expected {} as reserved", upload.n_bytes);
            return refuse(Code::OtherSize, detail);
        }
    };
    let media_type = File::recording_type(File::UPLOAD, &start)?;
    Ok(Some(JobUpload { media_type: media_type.name().to_owned(), content: UploadContent::Object(object) }))
}
