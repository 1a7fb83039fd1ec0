//! Transfer: one file of a model at the hub comes in; the complete file on disk and its SHA-256 come out.
//!
//! `<file>.etag` beside it holds the `ETag` of the download: while the hub's file still has it, an interrupted
//! transfer is resumed, in this run or the next.

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
use reqwest::{
    StatusCode,
    header::{CONTENT_RANGE, ETAG},
};

use super::{
    disk::ensure_space,
    error::{HubError, PullError, cause},
    hub::{Answer, Hub, text},
    progress::Progress,
};

/// Tries in a row that may fail before a byte comes.
const TRIES: u32 = 5;
/// Wait before the second of them; doubled each time.
const PAUSE: Duration = Duration::from_millis(250);

/// What the files of one pull have in common.
pub(super) struct Transfer<'a> {
    pub(super) hub: &'a Hub,
    pub(super) entry: &'a Entry,
    /// Where they are put.
    pub(super) folder: &'a Path,
    /// Whether the hub ever answered.
    pub(super) answered: bool,
}

/// Where one file and its tag lie.
struct LocalFile {
    file: PathBuf,
    tag: PathBuf,
}

/// How a try ended that did not fail.
enum Step {
    /// The file is whole; the hub may have said its SHA-256.
    Whole(Option<String>),
    /// What lay here was of another file, and is gone.
    Anew,
}

impl Transfer<'_> {
    /// Fetches what is missing of a file, and proves it where its SHA-256 is known; its SHA-256.
    pub(super) async fn fetch(&mut self, part: &Part, name: String) -> Result<String, PullError> {
        let place = LocalFile::of(self.folder, part)?;
        let mut progress = Progress::new(name);
        let told = self.fill(part, &place, &mut progress).await?;
        let found = sha256_of(&place.file).map_err(PullError::io(&place.file))?;
        let expected = match (&part.sha256, &told) {
            (Some(sha256), _) => Some((sha256, "the catalogue")),
            (None, Some(sha256)) => Some((sha256, "the hub")),
            (None, None) => None,
        };
        if let Some((expected, who)) = expected.filter(|(expected, _)| **expected != found) {
            place.clear()?;
            let (file, expected) = (part.path.clone(), expected.clone());
            return Err(PullError::Hash { file, found, expected, who });
        }
        Ok(found)
    }

    /// Tries until the file is whole; what the hub says its SHA-256 is.
    async fn fill(
        &mut self,
        part: &Part,
        place: &LocalFile,
        progress: &mut Progress,
    ) -> Result<Option<String>, PullError> {
        let (mut n_failed, mut most) = (0, place.len());
        loop {
            let failed = match self.attempt(part, place, progress).await {
                Ok(Step::Whole(told)) => return Ok(told),
                Ok(Step::Anew) => {
                    progress.say("it is another file than before, starting anew");
                    continue;
                }
                Err(PullError::Hub(error)) if error.passes(self.answered) => error,
                Err(error) => return Err(error),
            };
            n_failed = if place.len() > most { 1 } else { n_failed + 1 };
            most = most.max(place.len());
            if n_failed == TRIES {
                let (file, source) = (part.path.clone(), Box::new(failed));
                return Err(PullError::Broken { file, n: n_failed, source });
            }
            progress.say(&format!("{failed}; trying again"));
            tokio::time::sleep(PAUSE * 2_u32.pow(n_failed - 1)).await;
        }
    }

    async fn attempt(
        &mut self,
        part: &Part,
        place: &LocalFile,
        progress: &mut Progress,
    ) -> Result<Step, PullError> {
        let had = place.had()?;
        let rest = had.as_ref().map(|(n_bytes, tag)| (*n_bytes, tag.as_str()));
        let answer = self.hub.get(self.entry, part, rest).await?;
        self.answered = true;
        match (answer.response.status(), had) {
            (StatusCode::OK, _) => {
                let file = place.begin(text(answer.response.headers(), ETAG.as_str()))?;
                let total = answer.response.content_length();
                receive(answer, file, place, (0, total), progress).await
            }
            (StatusCode::PARTIAL_CONTENT, Some((n_bytes, tag))) => {
                let headers = answer.response.headers();
                let (from, total) = range(text(headers, CONTENT_RANGE.as_str()));
                let same = text(headers, ETAG.as_str()).is_none_or(|now| now == tag);
                if from != Some(n_bytes) || !same {
                    place.clear()?;
                    return Ok(Step::Anew);
                }
                let file = OpenOptions::new().append(true).open(&place.file);
                let file = file.map_err(PullError::io(&place.file))?;
                receive(answer, file, place, (n_bytes, total), progress).await
            }
            (StatusCode::RANGE_NOT_SATISFIABLE, Some((n_bytes, _))) => {
                let (_, total) = range(text(answer.response.headers(), CONTENT_RANGE.as_str()));
                if total == Some(n_bytes) {
                    progress.say("is here already");
                    return Ok(Step::Whole(answer.sha256));
                }
                place.clear()?;
                Ok(Step::Anew)
            }
            (status, _) => Err(HubError::Status { url: answer.response.url().to_string(), status }.into()),
        }
    }
}

/// Writes the answer's body to the end of the file, which has `at` of `total` bytes.
async fn receive(
    mut answer: Answer,
    mut file: File,
    place: &LocalFile,
    (at, total): (u64, Option<u64>),
    progress: &mut Progress,
) -> Result<Step, PullError> {
    ensure_space(&place.file, total.unwrap_or(0).saturating_sub(at))?;
    progress.begin(at, total);
    let mut got = at;
    loop {
        let chunk = answer.response.chunk().await;
        let Some(chunk) = chunk.map_err(|error| HubError::Connection(cause(&error)))? else { break };
        file.write_all(&chunk).map_err(PullError::io(&place.file))?;
        let n_bytes = chunk.len() as u64;
        got += n_bytes;
        progress.advance(n_bytes);
    }
    match total {
        Some(total) if got != total => Err(HubError::Short { got, total }.into()),
        _ => {
            file.sync_all().map_err(PullError::io(&place.file))?;
            Ok(Step::Whole(answer.sha256))
        }
    }
}

/// First byte and whole size of `bytes 5-9/10` or `bytes */10`.
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

    /// What lies here of the file, and its tag; nothing where there is no tag to go on under.
    fn had(&self) -> Result<Option<(u64, String)>, PullError> {
        match fs::read_to_string(&self.tag) {
            Ok(tag) => Ok(Some((self.len(), tag)).filter(|(n_bytes, tag)| *n_bytes > 0 && strong(tag))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(PullError::io(&self.tag)(error)),
        }
    }

    /// An empty file under this tag; one without, or with a weak one, cannot be gone on with.
    fn begin(&self, tag: Option<&str>) -> Result<File, PullError> {
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

/// Where the tag of a file stands while it is being pulled.
pub(super) fn tag_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".etag");
    name.into()
}

/// Only a tag that changes with every byte may go into `If-Range` (RFC 9110, 13.1.5).
fn strong(tag: &str) -> bool {
    tag.starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_nonsense_is_not() {
        assert_eq!(range(Some("bytes 5-9/10")), (Some(5), Some(10)));
        assert_eq!(range(Some("bytes 5-9/*")), (Some(5), None));
        assert_eq!(range(Some("bytes */10")), (None, Some(10)));
        for nonsense in [None, Some(""), Some("5-9/10"), Some("bytes x-y/z")] {
            assert_eq!(range(nonsense), (None, None), "{nonsense:?}");
        }
    }

    #[test]
    fn only_under_a_strong_tag_is_a_file_gone_on_with() {
        let folder = std::env::temp_dir().join(format!("akhar-transfer-{}", std::process::id()));
        let part = Part { role: "model".to_owned(), path: "onnx/m.onnx".to_owned(), sha256: None };
        let place = LocalFile::of(&folder, &part).unwrap();
        let had = |tag: Option<&str>, bytes: &[u8]| {
            place.begin(tag).unwrap().write_all(bytes).unwrap();
            place.had().unwrap()
        };
        assert_eq!(had(Some("\"a\""), b"123"), Some((3, "\"a\"".to_owned())));
        assert_eq!(had(Some("W/\"a\""), b"123"), None);
        assert_eq!(had(None, b"123"), None);
        assert_eq!(had(Some("\"a\""), b""), None);
        place.clear().unwrap();
        assert_eq!(place.had().unwrap(), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
