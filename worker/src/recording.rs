//! Decodes a recording as a job does: for a program that cuts a long one into pieces before it sends them.

use akhar_requests::MediaType;
use bytes::Bytes;

use crate::decode::{
    audio::{Audio, AudioLimits, Channels, certain_type},
    job_file::{Content, JobFile},
    undecodable::Undecodable,
};

/// The longest recording that is decoded, seconds: a day.
const MAX_SECONDS: u32 = 24 * 60 * 60;

/// An opened recording, which gives its sound as 16 kHz mono.
pub struct Recording(Audio);

impl Recording {
    /// Samples in a second.
    pub const RATE: u32 = 16_000;

    /// Opens a file of at most a day, of any format that jobs may have. The limits on channels and rates are those of the HTTP interface.
    /// `channel`: the one to take, from 0, instead of mixing them.
    pub fn open(bytes: Bytes, channel: Option<usize>) -> Result<Self, Undecodable> {
        let certain = certain_type(&bytes);
        let media_type = certain.unwrap_or(MediaType::Mp3);
        let limits = AudioLimits { max_seconds: MAX_SECONDS, ..AudioLimits::default() };
        let file = JobFile { media_type, content: Content::Memory(bytes) };
        let channels = channel.map_or(Channels::Mixed, Channels::One);
        Audio::open(file, &limits, channels).map(Self).map_err(|error| {
            if certain.is_some() || error.code != "undecodable" {
                return error;
            }
            let expected = MediaType::formats(MediaType::RECORDINGS);
            Undecodable { detail: format!("expected {expected}, found none of them in the file"), ..error }
        })
    }

    /// The number of channels of the file.
    pub fn n_channels(&self) -> usize {
        self.0.n_channels()
    }

    /// The length of the file by its headers and packets, seconds.
    pub fn length_s(&self) -> f64 {
        self.0.length_s()
    }

    /// The next second of sound, with samples from -1 to 1. The last one may be shorter. `None` at the end.
    pub fn next_second(&mut self) -> Result<Option<Vec<f32>>, Undecodable> {
        Ok(self.0.next()?.and_then(|mut tracks| tracks.pop()))
    }

    /// What is unusual about the file, such as frames that are broken. Complete at the end.
    pub fn warnings(&self) -> &[String] {
        self.0.warnings()
    }
}
