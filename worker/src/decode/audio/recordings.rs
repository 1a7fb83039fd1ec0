//! Finds the recordings of a file: mostly one, but several files that were joined are still a file.

use super::{
    allowance::Allowance,
    kind::Kind,
    reader::Reader,
    sound::{AudioLimits, seconds, too_long},
    source::Recording,
    tags,
};
use crate::decode::{job_file::JobFile, undecodable::Undecodable};

/// The most recordings of a file that are read.
const MAX_RECORDINGS: usize = 1000;

/// The recordings of a file.
pub(super) struct Recordings {
    /// At least one.
    pub(super) all: Vec<Recording>,
    /// What is unusual about the file.
    pub(super) warnings: Vec<String>,
}

impl Recordings {
    /// Reads a file through. Fails if it exceeds the limits, or if its first recording cannot be decoded.
    pub(super) fn read(
        JobFile { media_type, content }: JobFile,
        limits: &AudioLimits,
        allowance: &Allowance,
    ) -> Result<Self, Undecodable> {
        let Some(declared) = Kind::of(media_type) else {
            let detail = format!("expected a recording, but the file is {}", media_type.name());
            return Err(Undecodable::new("undecodable", detail));
        };
        let mut file = Reader::new(content.clone(), allowance.clone());
        let mut recordings = Self { all: Vec::new(), warnings: Vec::new() };
        let mut at = 0;
        let mut expected = Some(declared);
        while at < content.len() || recordings.all.is_empty() {
            let start = tags::skip(&mut file, at);
            // The reader of MP3 finds the tags before it itself.
            let certain = Kind::at(&mut file, start).map(|kind| (kind, start));
            let Some((kind, start)) = certain.or_else(|| Some((expected?, at))) else { break };
            let rest = content.part(start..content.len());
            match Recording::read(kind, &rest, limits, allowance) {
                Ok((recording, end)) => {
                    recordings.add(recording);
                    at = start + end.max(1);
                }
                Err(error) if recordings.all.is_empty() => return Err(error),
                Err(error) => {
                    recordings.leave_out(start, rest.len(), &error.detail);
                    break;
                }
            }
            expected = (kind == Kind::Mp3).then_some(kind); // its first bytes are not certain
            if recordings.seconds() > f64::from(limits.max_seconds) {
                return Err(too_long(recordings.seconds(), limits));
            }
            if recordings.all.len() == MAX_RECORDINGS && at < content.len() {
                recordings.leave_out(at, content.len() - at, "a file may have no more recordings");
                break;
            }
        }
        let n = recordings.all.len();
        if n > 1 {
            recordings
                .warnings
                .push(format!("the file has {n} recordings, one behind the other: they were read as one"));
        }
        Ok(recordings)
    }

    /// The length of the sound, seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.all.iter().map(|recording| seconds(recording.sound.n_frames, recording.sound.rate)).sum()
    }

    fn add(&mut self, mut recording: Recording) {
        let warnings = recording.sound.warnings.drain(..);
        if self.all.is_empty() {
            self.warnings.extend(warnings);
        } else {
            let nth = self.all.len() + 1;
            self.warnings.extend(warnings.map(|warning| format!("recording {nth} of the file: {warning}")));
        }
        self.all.push(recording);
    }

    fn leave_out(&mut self, at: usize, n: usize, why: &str) {
        let nth = self.all.len() + 1;
        self.warnings.push(format!("the last {n} bytes of the file were left out, where its recording {nth} begins (byte {at}): {why}"));
    }
}
