//! `akhar transcribe --dry-run`: what a run would do is printed, and nothing is written or sent.

use std::{fs, io};

use super::{
    inputs::{Input, Inputs, Reader},
    source::{Encoded, is_of_decoder},
    spoken::SpokenLanguage,
    untranscribed::Untranscribed,
};
use crate::{failure::Failure, output};

/// The time that the bundled model needs for a second of speech, seconds on one core, by its card in `models/cards`.
/// The slower one if it is to be detected.
const fn real_time_factor(lang: SpokenLanguage) -> f64 {
    match lang {
        SpokenLanguage::Pa => 0.019,
        SpokenLanguage::En | SpokenLanguage::Auto => 0.044,
    }
}

/// Opens all recordings, and prints how many there are, how long they are, about how long a run would take, and which files
/// would fail or be skipped.
pub(super) fn report(inputs: &Inputs, lang: SpokenLanguage, has_ffmpeg: bool) -> Result<(), Failure> {
    let Inputs { recordings, skipped, failed } = inputs;
    let mut length_s = 0.0;
    let mut failing = failed.clone();
    for input in recordings {
        match length(input, has_ffmpeg) {
            Ok(seconds) => length_s += seconds,
            Err((code, reason)) => {
                let path = input.path.to_string_lossy().into_owned();
                failing.push(Untranscribed { path, code, reason });
            }
        }
    }
    let factor = real_time_factor(lang);
    output::line(format_args!(
        "{} recordings, {:.2} h of audio, about {:.1} min on one core: the bundled model's card says {factor} s for a second of \
         speech, without translation",
        recordings.len(),
        length_s / 3600.0,
        length_s * factor / 60.0,
    ))?;
    list("would fail", &failing)?;
    list("would be skipped", skipped)
}

/// The length of a recording in seconds, or why it cannot be transcribed.
fn length(input: &Input, has_ffmpeg: bool) -> Result<f64, (String, String)> {
    let unreadable = |error: io::Error| ("unreadable".to_owned(), error.to_string());
    let reader = Reader::of(&input.path, has_ffmpeg).map_err(unreadable)?;
    let foreign = || Encoded::Foreign(input.path.clone()).length_s();
    let length = match reader {
        Reader::Ffmpeg => foreign(),
        Reader::Server | Reader::Here => {
            let bytes = fs::read(&input.path).map_err(unreadable)?;
            match Encoded::Own(bytes.into()).length_s() {
                Err(error) if has_ffmpeg && is_of_decoder(error.code) => foreign().map_err(|_| error),
                length => length,
            }
        }
    };
    length.map_err(|error| (error.code.to_owned(), error.detail))
}

fn list(end: &str, files: &[Untranscribed]) -> Result<(), Failure> {
    output::line(format_args!("{} files {end}{}", files.len(), if files.is_empty() { "" } else { ":" }))?;
    for Untranscribed { path, code, reason } in files {
        output::line(format_args!("{path}: {reason} ({code})"))?;
    }
    Ok(())
}
