//! Downloads one file of a model and returns its SHA-256.
//!
//! `<file>.etag` beside the file holds the `ETag` of the download. An interrupted download is resumed, in this run or
//! a later one, if the hub's file still has this `ETag`.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use akhar_inference::{
    catalogue::{Entry, Part},
    sha256_of,
};
use akhar_platform::{
    http_client::cause,
    pace::{GRACE, LEAST_RATE, Pace},
};
use backon::{BackoffBuilder as _, ExponentialBuilder};
use reqwest::{
    StatusCode,
    header::{CONTENT_RANGE, ETAG},
};

use super::{
    disk::ensure_space,
    error::{HubError, PullError},
    hub::{Answer, Hub, text},
    progress::Progress,
};

/// The download of a file fails after this many attempts in a row that received next to nothing.
const MAX_ATTEMPTS: usize = 5;
/// What an attempt receives that is not next to nothing, bytes. One that is given up as too slow has got less, if the hub has less
/// than half the least rate.
const LEAST_PROGRESS: u64 = LEAST_RATE as u64 * GRACE.as_secs();
/// The pauses between these attempts.
const PAUSES: ExponentialBuilder =
    ExponentialBuilder::new().with_min_delay(Duration::from_millis(250)).with_max_times(MAX_ATTEMPTS - 1);

/// The download of one model's files.
pub(super) struct Transfer<'a> {
    pub(super) hub: &'a Hub,
    pub(super) entry: &'a Entry,
    /// The folder that the files are written to.
    pub(super) folder: &'a Path,
    /// Whether the hub has answered a request.
    pub(super) answered: bool,
}

/// The paths of a file and of its tag.
struct LocalFile {
    file: PathBuf,
    tag: PathBuf,
}

/// The result of an attempt that did not fail.
enum Step {
    /// The file is complete. Holds its SHA-256 if the hub sent it.
    Complete(Option<String>),
    /// The hub's file has changed, and the part on disk was deleted.
    Restart,
}

impl Transfer<'_> {
    /// Downloads the missing part of a file, checks the file's SHA-256 if it is known, and returns it.
    pub(super) async fn fetch(&mut self, part: &Part, name: String) -> Result<String, PullError> {
        let local = LocalFile::of(self.folder, part)?;
        let mut progress = Progress::new(name);
        let hub_sha256 = self.download(part, &local, &mut progress).await?;
        let found = sha256_of(&local.file).map_err(PullError::io(&local.file))?;
        let expected = match (&part.sha256, &hub_sha256) {
            (Some(sha256), _) => Some((sha256, "the catalogue")),
            (None, Some(sha256)) => Some((sha256, "the hub")),
            (None, None) => None,
        };
        if let Some((expected, who)) = expected.filter(|(expected, _)| **expected != found) {
            local.clear()?;
            let file = part.path.clone();
            let expected = expected.clone();
            return Err(PullError::Hash { file, found, expected, who });
        }
        Ok(found)
    }

    /// Downloads until the file is complete. Returns its SHA-256 if the hub sent it.
    async fn download(
        &mut self,
        part: &Part,
        local: &LocalFile,
        progress: &mut Progress,
    ) -> Result<Option<String>, PullError> {
        let mut pauses = PAUSES.build();
        let mut most = local.len();
        loop {
            let failed = match self.attempt(part, local, progress).await {
                Ok(Step::Complete(hub_sha256)) => return Ok(hub_sha256),
                Ok(Step::Restart) => {
                    progress.print("the hub's file has changed, starting again from the beginning");
                    continue;
                }
                Err(PullError::Hub(error)) if error.is_transient(self.answered) => error,
                Err(error) => return Err(error),
            };
            if local.len() >= most + LEAST_PROGRESS {
                most = local.len();
                pauses = PAUSES.build();
            }
            let Some(pause) = pauses.next() else {
                let source = Box::new(failed);
                return Err(PullError::GivenUp { file: part.path.clone(), n: MAX_ATTEMPTS, source });
            };
            progress.print(&format!("{failed}; trying again"));
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(
        &mut self,
        part: &Part,
        local: &LocalFile,
        progress: &mut Progress,
    ) -> Result<Step, PullError> {
        let present = local.resumable()?;
        let rest = present.as_ref().map(|(n_bytes, tag)| (*n_bytes, tag.as_str()));
        let answer = self.hub.get(self.entry, part, rest).await?;
        self.answered = true;
        match (answer.response.status(), present) {
            (StatusCode::OK, _) => {
                let file = local.create(text(answer.response.headers(), ETAG.as_str()))?;
                let total = answer.response.content_length();
                receive(answer, file, local, (0, total), progress).await
            }
            (StatusCode::PARTIAL_CONTENT, Some((n_bytes, tag))) => {
                let headers = answer.response.headers();
                let (from, total) = range(text(headers, CONTENT_RANGE.as_str()));
                let same = text(headers, ETAG.as_str()).is_none_or(|now| now == tag);
                if from != Some(n_bytes) || !same {
                    local.clear()?;
                    return Ok(Step::Restart);
                }
                let file = OpenOptions::new().append(true).open(&local.file);
                let file = file.map_err(PullError::io(&local.file))?;
                receive(answer, file, local, (n_bytes, total), progress).await
            }
            (StatusCode::RANGE_NOT_SATISFIABLE, Some((n_bytes, _))) => {
                let (_, total) = range(text(answer.response.headers(), CONTENT_RANGE.as_str()));
                if total == Some(n_bytes) {
                    progress.print("is complete already");
                    return Ok(Step::Complete(answer.sha256));
                }
                local.clear()?;
                Ok(Step::Restart)
            }
            (status, _) => Err(HubError::Status { url: answer.response.url().to_string(), status }.into()),
        }
    }
}

/// Appends the body of the response to the file, which has `at` of `total` bytes.
async fn receive(
    mut answer: Answer,
    mut file: File,
    local: &LocalFile,
    (at, total): (u64, Option<u64>),
    progress: &mut Progress,
) -> Result<Step, PullError> {
    ensure_space(&local.file, total.unwrap_or(0).saturating_sub(at))?;
    progress.begin(at, total);
    let mut got = at;
    let pace = Pace::start();
    loop {
        let chunk = pace.next(got - at, answer.response.chunk()).await;
        let chunk = chunk.ok_or_else(|| HubError::Connection(Pace::failure()))?;
        let Some(chunk) = chunk.map_err(|error| HubError::Connection(cause(&error)))? else { break };
        file.write_all(&chunk).map_err(PullError::io(&local.file))?;
        let n_bytes = chunk.len() as u64;
        got += n_bytes;
        progress.advance(n_bytes);
    }
    match total {
        Some(total) if got != total => Err(HubError::Short { got, total }.into()),
        _ => {
            file.sync_all().map_err(PullError::io(&local.file))?;
            Ok(Step::Complete(answer.sha256))
        }
    }
}

/// The first byte and the whole size in a `Content-Range` such as `bytes 5-9/10` or `bytes */10`.
fn range(header: Option<&str>) -> (Option<u64>, Option<u64>) {
    let parts = header.and_then(|h| h.strip_prefix("bytes ")).and_then(|h| h.split_once('/'));
    let from = parts.and_then(|(range, _)| range.split_once('-')).and_then(|(from, _)| from.parse().ok());
    (from, parts.and_then(|(_, total)| total.parse().ok()))
}

impl LocalFile {
    fn of(folder: &Path, part: &Part) -> Result<Self, PullError> {
        let file = folder.join(&part.path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(PullError::io(parent))?;
        }
        Ok(Self { tag: tag_path(&file), file })
    }

    fn len(&self) -> u64 {
        fs::metadata(&self.file).map_or(0, |m| m.len())
    }

    /// The number of bytes on disk, and their tag. `None` if the download cannot be resumed.
    fn resumable(&self) -> Result<Option<(u64, String)>, PullError> {
        match fs::read_to_string(&self.tag) {
            Ok(tag) => Ok(Some((self.len(), tag)).filter(|(n_bytes, tag)| *n_bytes > 0 && is_strong(tag))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(PullError::io(&self.tag)(error)),
        }
    }

    /// Creates the empty file and its tag. A download without a tag, or with a weak one, cannot be resumed.
    fn create(&self, tag: Option<&str>) -> Result<File, PullError> {
        let file = File::create(&self.file).map_err(PullError::io(&self.file))?;
        fs::write(&self.tag, tag.unwrap_or_default()).map_err(PullError::io(&self.tag))?;
        Ok(file)
    }

    fn clear(&self) -> Result<(), PullError> {
        for path in [&self.file, &self.tag] {
            fs::remove_file(path).map_err(PullError::io(path))?;
        }
        Ok(())
    }
}

/// The path of a file's tag while the file is downloaded.
pub(super) fn tag_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".etag");
    name.into()
}

/// Whether the tag is a strong one. Only a strong tag may be sent in `If-Range` (RFC 9110, 13.1.5).
fn is_strong(tag: &str) -> bool {
    tag.starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_parsed() {
        assert_eq!(range(Some("bytes 5-9/10")), (Some(5), Some(10)));
        assert_eq!(range(Some("bytes 5-9/*")), (Some(5), None));
        assert_eq!(range(Some("bytes */10")), (None, Some(10)));
        for nonsense in [None, Some(""), Some("5-9/10"), Some("bytes x-y/z")] {
            assert_eq!(range(nonsense), (None, None), "{nonsense:?}");
        }
    }

    #[test]
    fn a_download_is_resumed_only_with_a_strong_tag() {
        let folder = std::env::temp_dir().join(format!("akhar-transfer-{}", std::process::id()));
        let part = Part { role: "model".to_owned(), path: "onnx/m.onnx".to_owned(), sha256: None };
        let local = LocalFile::of(&folder, &part).unwrap();
        let resumable = |tag: Option<&str>, bytes: &[u8]| {
            local.create(tag).unwrap().write_all(bytes).unwrap();
            local.resumable().unwrap()
        };
        assert_eq!(resumable(Some("\"a\""), b"123"), Some((3, "\"a\"".to_owned())));
        assert_eq!(resumable(Some("W/\"a\""), b"123"), None);
        assert_eq!(resumable(None, b"123"), None);
        assert_eq!(resumable(Some("\"a\""), b""), None);
        local.clear().unwrap();
        assert_eq!(local.resumable().unwrap(), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
