//! Writes the results of a recording, and the lists of files without one, into the output folder. A file appears whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use akhar_client::{TranscriptionBody, subtitles};
use serde::Serialize;
use uuid::Uuid;

use super::{
    inputs::Input,
    join::Transcript,
    settings::{Format, Settings},
    untranscribed::Untranscribed,
};
use crate::failure::Failure;

/// The JSON document of a recording: the HTTP interface's, and what is known beside it.
#[derive(Debug, Serialize)]
struct Document<'a> {
    file: String,
    duration_s: f64,
    lang: &'a str,
    jobs: &'a [Uuid],
    warnings: &'a [String],
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
        settings.formats().all(|format| self.path(input, format).is_file())
    }

    /// Writes the results of a recording.
    pub(super) fn write(
        &self,
        input: &Input,
        settings: &Settings,
        transcript: &Transcript,
    ) -> Result<(), Failure> {
        for format in settings.formats() {
            let path = self.path(input, format);
            let text = contents(input, settings, transcript, format);
            let written = text.and_then(|text| replace(&path, text.as_bytes()));
            written.map_err(Failure::io(format!("cannot write {}", path.display())))?;
        }
        Ok(())
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

    fn path(&self, input: &Input, format: Format) -> PathBuf {
        let mut path = OsString::from(self.folder.join(&input.name));
        path.push(".");
        path.push(format.extension());
        path.into()
    }
}

/// The text of one result.
fn contents(
    input: &Input,
    settings: &Settings,
    transcript: &Transcript,
    format: Format,
) -> io::Result<String> {
    let segments = transcript.body.timestamps.as_deref().unwrap_or_default();
    Ok(match format {
        Format::Json => {
            let document = Document {
                file: input.path.to_string_lossy().into_owned(),
                duration_s: transcript.duration_s,
                lang: settings.lang(),
                jobs: &transcript.jobs,
                warnings: &transcript.warnings,
                body: &transcript.body,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        Format::Txt => {
            let texts = [Some(&*transcript.body.transcription), transcript.body.translation.as_deref()];
            let texts: Vec<&str> = texts.into_iter().flatten().collect();
            texts.join("\n") + "\n"
        }
        Format::Srt => subtitles::srt(segments),
        Format::Vtt => subtitles::vtt(segments),
    })
}

/// Replaces a file, whose folder is created if there is none. After a crash it has the old or the new contents.
fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut part = OsString::from(path);
    part.push(".part");
    let mut file = File::create(&part)?;
    file.write_all(contents)?;
    file.sync_data()?;
    fs::rename(&part, path)
}
