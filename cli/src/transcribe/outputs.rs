//! Writes the results of a recording, the lists of files without one and the table of all, into the output folder. A file appears whole or not at all.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use akhar_client::{ProbablyWrongBody, SegmentBody, TranscriptionBody, paragraphs, subtitles};
use serde::Serialize;
use uuid::Uuid;

use super::{
    inputs::Input,
    join::Transcript,
    settings::{Format, ResultFile, Settings, sha256},
    summary::{self, Row},
    untranscribed::{FAILURES, Untranscribed},
};
use crate::failure::Failure;

/// The most bytes of a file's name on the usual file systems (`NAME_MAX`).
pub(super) const MAX_NAME_BYTES: usize = 255;

/// The JSON document of a recording: the HTTP interface's, and what is known beside it.
#[derive(Debug, Serialize)]
struct Document<'a> {
    file: String,
    duration_s: f64,
    lang: &'a str,
    jobs: &'a [Uuid],
    warnings: Vec<String>,
    probably_wrong: &'a [ProbablyWrongBody],
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(flatten)]
    body: &'a TranscriptionBody,
}

/// The output folder.
#[derive(Debug)]
pub(super) struct Outputs {
    folder: PathBuf,
}

impl Outputs {
    /// Creates the folder if there is none.
    pub(super) fn create(folder: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&folder)
            .map_err(Failure::io(format!("cannot create the output folder {}", folder.display())))?;
        Ok(Self { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether all results of a recording exist.
    pub(super) fn exist(&self, input: &Input, settings: &Settings) -> bool {
        settings.files().all(|file| self.path(input, &file).is_file())
    }

    /// Writes the results of a recording. An error names the file.
    pub(super) fn write(
        &self,
        input: &Input,
        settings: &Settings,
        transcript: &Transcript,
    ) -> Result<(), (PathBuf, io::Error)> {
        for file in settings.files() {
            let path = self.path(input, &file);
            let text = contents(input, settings, transcript, &file);
            text.and_then(|text| replace(&path, text.as_bytes())).map_err(|error| (path, error))?;
        }
        Ok(())
    }

    /// The length in bytes of the longest name that a result of the recording would have, if it is longer than
    /// [`MAX_NAME_BYTES`].
    pub(super) fn too_long_name(&self, input: &Input, settings: &Settings) -> Option<usize> {
        let names = settings.files().map(|file| self.path(input, &file).file_name().map_or(0, OsStr::len));
        names.max().filter(|n_bytes| *n_bytes > MAX_NAME_BYTES)
    }

    /// Begins the table of a run and its list of failures, which grow as recordings end.
    pub(super) fn begin_lists(&self, rows: Vec<Row>) -> Result<(), Failure> {
        self.write_list(FAILURES, &[])?;
        self.write_summary(rows)
    }

    /// Adds a recording that has ended to the table.
    pub(super) fn add_row(&self, row: &Row) -> Result<(), Failure> {
        self.append(summary::FILE, &row.line())
    }

    /// Adds a recording to the list of failures.
    pub(super) fn add_failure(&self, failure: &Untranscribed) -> Result<(), Failure> {
        let line =
            serde_json::to_string(failure).map_err(|error| Failure::io("cannot write JSON")(error.into()))?;
        self.append(FAILURES, &(line + "\n"))
    }

    fn append(&self, name: &str, line: &str) -> Result<(), Failure> {
        let path = self.folder.join(name);
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        opened
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(Failure::io(format!("cannot write {}", path.display())))
    }

    /// Writes a list of files. If there are none, removes that of an earlier run.
    pub(super) fn write_list(&self, name: &str, files: &[Untranscribed]) -> Result<(), Failure> {
        let path = self.folder.join(name);
        let written = if files.is_empty() {
            fs::remove_file(&path)
                .or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
        } else {
            let lines: Result<Vec<String>, _> = files.iter().map(serde_json::to_string).collect();
            lines
                .map_err(io::Error::from)
                .and_then(|lines| replace(&path, (lines.join("\n") + "\n").as_bytes()))
        };
        written.map_err(Failure::io(format!("cannot write {}", path.display())))
    }

    /// Writes the table of a run.
    pub(super) fn write_summary(&self, rows: Vec<Row>) -> Result<(), Failure> {
        let path = self.folder.join(summary::FILE);
        replace(&path, summary::csv(rows).as_bytes())
            .map_err(Failure::io(format!("cannot write {}", path.display())))
    }

    fn path(&self, input: &Input, file: &ResultFile) -> PathBuf {
        let mut path = OsString::from(self.folder.join(&input.name));
        for part in file.translation_lang.into_iter().chain([file.format.extension()]) {
            path.push(".");
            path.push(part);
        }
        path.into()
    }
}

/// The text of one result.
fn contents(
    input: &Input,
    settings: &Settings,
    transcript: &Transcript,
    file: &ResultFile,
) -> io::Result<String> {
    let TranscriptionBody { transcription, translation, timestamps, .. } = &transcript.body;
    let is_translation = file.translation_lang.is_some();
    let text = if is_translation { translation.as_deref().unwrap_or_default() } else { transcription };
    let cues = || -> Vec<SegmentBody> {
        let segments = timestamps.iter().flatten().cloned();
        segments
            .map(|segment| if is_translation { translated(segment) } else { untranslated(segment) })
            .collect()
    };
    Ok(match file.format {
        Format::Json => {
            let document = Document {
                file: input.path.to_string_lossy().into_owned(),
                duration_s: transcript.duration_s,
                lang: transcript.language.as_deref().unwrap_or(settings.lang().name()),
                jobs: &transcript.jobs,
                warnings: transcript.warnings.sentences(),
                probably_wrong: &transcript.warnings.probably_wrong,
                confidence: transcript.confidence,
                body: &shown(&transcript.body, settings),
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        Format::Txt => format!(
            "{}\n",
            timestamps
                .as_ref()
                .map_or_else(|| text.to_owned(), |_| paragraphs(&cues(), |cue| &cue.transcription))
        ),
        Format::Srt => subtitles::srt(&cues(), settings.layout()),
        Format::Vtt => subtitles::vtt(&cues(), settings.layout()),
    })
}

/// The body with segments and words only if they are asked for: subtitles and paragraphs need them too.
fn shown<'a>(body: &'a TranscriptionBody, settings: &Settings) -> Cow<'a, TranscriptionBody> {
    if settings.shows_words() {
        return Cow::Borrowed(body);
    }
    let mut body = body.clone();
    body.timestamps = body.timestamps.filter(|_| settings.shows_segments());
    for segment in body.timestamps.iter_mut().flatten() {
        segment.words = None;
    }
    Cow::Owned(body)
}

/// A segment with the text of its translation alone.
fn translated(segment: SegmentBody) -> SegmentBody {
    let text = segment.translation.unwrap_or_default();
    SegmentBody { transcription: text, translation: None, words: None, ..segment }
}

/// A segment without its translation.
fn untranslated(segment: SegmentBody) -> SegmentBody {
    SegmentBody { translation: None, ..segment }
}

/// Replaces a file, whose folder is created if there is none. After a crash it has the old or the new contents. The new ones are
/// first in a hidden file with a short name of its own.
fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default();
    let part = path.with_file_name(format!(".{:.16}.part", sha256(name.as_encoded_bytes())));
    let mut file = File::create(&part)?;
    file.write_all(contents)?;
    file.sync_data()?;
    fs::rename(&part, path)
}
