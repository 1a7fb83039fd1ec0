//! A recording that is decoded here comes in; its sound comes out, a second at a time.

use std::path::PathBuf;

use akhar_worker::{Recording, Undecodable};
use bytes::Bytes;

use super::{cut, ffmpeg::Ffmpeg};

/// What a recording is decoded of.
#[derive(Debug, Clone)]
pub(super) enum Encoded {
    /// The bytes of a file that Akhar decodes.
    Own(Bytes),
    /// The path of a file that ffmpeg decodes.
    Foreign(PathBuf),
}

impl Encoded {
    /// The number of its channels.
    pub(super) fn n_channels(self) -> Result<usize, Undecodable> {
        match self {
            Self::Own(bytes) => Recording::open(bytes, None).map(|recording| recording.n_channels()),
            Self::Foreign(path) => Ffmpeg::start(&path, Some(0))?.n_channels(),
        }
    }

    /// Its length, seconds. What ffmpeg decodes is decoded for that.
    pub(super) fn length_s(self) -> Result<f64, Undecodable> {
        let mut source = self.open(None)?;
        if let Some(length_s) = source.length_s() {
            return Ok(length_s);
        }
        let mut length_s = 0.0;
        while let Some(samples) = source.next_second()? {
            length_s += cut::seconds(samples.len());
        }
        Ok(length_s)
    }

    /// Opens it, or one of its channels.
    pub(super) fn open(self, channel: Option<usize>) -> Result<Source, Undecodable> {
        match self {
            Self::Own(bytes) => Recording::open(bytes, channel).map(|own| Source::Own(Box::new(own))),
            Self::Foreign(path) => Ffmpeg::start(&path, channel).map(Source::Ffmpeg),
        }
    }
}

/// A recording that is being decoded.
pub(super) enum Source {
    Own(Box<Recording>),
    Ffmpeg(Ffmpeg),
}

impl Source {
    /// Its length, seconds, if that is known beforehand.
    pub(super) fn length_s(&self) -> Option<f64> {
        match self {
            Self::Own(recording) => Some(recording.length_s()),
            Self::Ffmpeg(_) => None,
        }
    }

    pub(super) fn next_second(&mut self) -> Result<Option<Vec<f32>>, Undecodable> {
        match self {
            Self::Own(recording) => recording.next_second(),
            Self::Ffmpeg(ffmpeg) => ffmpeg.next_second(),
        }
    }

    /// What is unusual about the file. Complete at the end.
    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::Own(recording) => recording.warnings(),
            Self::Ffmpeg(ffmpeg) => ffmpeg.warnings(),
        }
    }
}

/// Whether an error with this code says that another decoder may read the recording.
pub(super) fn is_of_decoder(code: &str) -> bool {
    ["undecodable", "unsupported_codec", "unsupported_media_type"].contains(&code)
}
