//! Divides an mp3 file into its frames, and finds where sound is missing between them.

mod header;
mod tag;

use std::ops::Range;

use symphonia::core::codecs::audio::well_known::CODEC_ID_MP3;

use super::{
    reader::{Position, Reader},
    sound::{Sound, Step, seconds, truncation_warning},
    tags,
    timeline::{Edit, Timeline},
};
use crate::decode::undecodable::Undecodable;
use header::{HEADER, Header};
use tag::Tag;

/// An iterator over the frames of an mp3 file.
#[derive(Debug, Clone)]
pub(super) struct Packets {
    at: Position,
    /// The first frame's header. Every further frame must belong to the same stream.
    first: Header,
    /// The number of frames so far. With `n_bytes`, it gives the amount of sound that a gap stands for.
    n_frames: u64,
    /// The bytes of the frames so far.
    n_bytes: u64,
    ending: FileEnd,
}

/// How the file ends.
#[derive(Debug, Clone, Copy, Default)]
struct FileEnd {
    /// The file ends in the middle of a frame.
    is_cut: bool,
    /// The number of bytes after the last frame that are neither sound nor metadata.
    n_garbage: usize,
    /// Where a stream of another rate begins, which is the beginning of another recording.
    other: Option<usize>,
}

impl Packets {
    pub(super) fn next(&mut self, file: &mut Reader) -> Option<Step> {
        while self.at.get() < file.len() {
            if let Some(n) = tags::length(file, self.at.get()) {
                self.at.pass_to(self.at.get() + n);
                continue;
            }
            let Some((frame, header)) = self.frame(file) else {
                return self.gap(file);
            };
            self.at.pass_to(frame.end);
            if Tag::read(file.get(frame.clone()), &header).is_some() {
                continue;
            }
            self.n_frames += 1;
            self.n_bytes += frame.len() as u64;
            let Header { n_samples: n_frames, n_channels, .. } = header;
            return Some(Step::Packet { bytes: frame, n_frames, n_channels });
        }
        None
    }

    /// The frame at the current position.
    ///
    /// A frame may have a broken header, and then a wrong length, if what follows it is not valid. Such a
    /// frame is accepted only if the next valid frame does not begin inside it.
    fn frame(&self, file: &mut Reader) -> Option<(Range<usize>, Header)> {
        let at = self.at.get();
        let header = header_at(file, at).filter(|h| h.is_same_stream(&self.first))?;
        let frame = at..at + header.n_bytes;
        if frame.end > file.len() {
            return None;
        }
        let is_followed = is_followed(file, frame.end, &self.first);
        let is_whole = is_followed || self.resync(file).is_none_or(|next| next >= frame.end);
        is_whole.then_some((frame, header))
    }

    /// The next position at which a frame of the stream begins that another one, metadata or the end of the
    /// file follows.
    fn resync(&self, file: &mut Reader) -> Option<usize> {
        (self.at.get() + 1..file.len()).find(|&at| {
            header_at(file, at).is_some_and(|header| {
                header.is_same_stream(&self.first) && is_followed(file, at + header.n_bytes, &self.first)
            })
        })
    }

    /// Skips bytes that are not a frame.
    fn gap(&mut self, file: &mut Reader) -> Option<Step> {
        let at = self.at.get();
        let n_rest = file.len() - at;
        let next = self.resync(file);
        let is_other =
            |file: &mut Reader, at| header_at(file, at).is_some_and(|h| !h.is_same_stream(&self.first));
        let mut places = at..next.unwrap_or(file.len());
        self.ending.other = places.find(|&at| is_other(file, at) && begins(file, at));
        if self.ending.other.is_some() {
            self.at.pass_to(file.len());
            return None;
        }
        let Some(next) = next else {
            let header = header_at(file, at).filter(|h| h.is_same_stream(&self.first));
            self.ending.is_cut = header.is_some_and(|h| h.n_bytes > n_rest);
            let is_padding = (at..file.len()).all(|at| file.head(at, 1) == [0]);
            self.ending.n_garbage = if self.ending.is_cut || is_padding { 0 } else { n_rest };
            self.at.pass_to(file.len());
            return None;
        };
        let n_bytes = (next - at) as u64;
        self.at.pass_to(next);
        // The gap begins where a frame should begin, so at least one frame is lost.
        let n_past = self.n_frames.max(1);
        let n_past_bytes = self.n_bytes.max(self.first.n_bytes as u64);
        let n_lost = ((n_bytes * n_past + n_past_bytes / 2) / n_past_bytes).max(1);
        Some(Step::Lost { n_frames: n_lost * self.first.n_samples as u64 })
    }
}

/// Whether something valid follows a frame that ends at `at`: another frame of the stream, metadata, or the
/// end of the file.
fn is_followed(file: &mut Reader, at: usize, first: &Header) -> bool {
    if at >= file.len() {
        return at == file.len();
    }
    header_at(file, at).is_some_and(|next| next.is_same_stream(first))
        || tags::length(file, at).is_some()
        || begins(file, at)
}

/// The header of a frame that begins at `at`.
fn header_at(file: &mut Reader, at: usize) -> Option<Header> {
    Header::read(file.head(at, HEADER))
}

/// Finds the first frame of an mp3 file, and counts the frames and samples of its first stream. Also returns where that ends.
pub(super) fn read(file: &mut Reader) -> Result<(Sound, Packets, usize), Undecodable> {
    let start = tags::skip(file, 0);
    let Some(at) = (start..file.len()).find(|&at| begins(file, at)) else {
        return Err(no_frame(file.head(start, HEADER)));
    };
    let first = header_at(file, at).ok_or_else(|| no_frame(&[]))?;
    let frame = file.head(at, first.n_bytes);
    let tag = if frame.len() == first.n_bytes { Tag::read(frame, &first) } else { None };
    let packets =
        Packets { at: Position::at(at), first, n_frames: 0, n_bytes: 0, ending: FileEnd::default() };
    let (n_samples, n_frames, ending) = count(packets.clone(), file);

    let mut warnings = Vec::new();
    let n_before = at - start;
    if n_before > 0 {
        warnings.push(format!("{n_before} bytes before the first frame are not sound and were skipped"));
    }
    let tag = tag.unwrap_or_default();
    let n_lead = u64::from(tag.lead).min(n_samples);
    let mut n_kept = n_samples - n_lead;
    let rate = first.rate;
    match tag.n_frames.map(u64::from) {
        Some(n) if n == n_frames => n_kept = n_kept.saturating_sub(u64::from(tag.rest)),
        Some(n) if n > n_frames => {
            let declared = n.saturating_mul(first.n_samples as u64);
            let declared = seconds(declared.saturating_sub(n_lead + u64::from(tag.rest)), rate);
            warnings.push(truncation_warning(seconds(n_kept, rate), declared));
        }
        _ if ending.is_cut => {
            let actual = seconds(n_kept, rate);
            warnings
                .push(format!("the file is cut off in the middle of a frame, after {actual:.3} s of sound"));
        }
        _ => {}
    }
    if ending.n_garbage > 0 {
        let n = ending.n_garbage;
        warnings.push(format!("{n} bytes after the last frame are not sound and were skipped"));
    }
    let n_channels = first.n_channels;
    let timeline = Timeline::new([Edit::Skip(n_lead), Edit::Keep(n_kept)]);
    let sound = Sound {
        codec: CODEC_ID_MP3,
        rate,
        n_channels,
        blocks: None,
        gain: 1.0,
        timeline,
        n_frames: n_kept,
        warnings,
    };
    Ok((sound, packets, ending.other.unwrap_or(file.len())))
}

/// The error of a file that begins with these bytes and has no frame that can be read.
fn no_frame(head: &[u8]) -> Undecodable {
    if header::is_free(head) {
        let detail = "the file is mp3 with a free bit rate, which is not supported: encode it with a constant or variable bit rate";
        return Undecodable::new("unsupported_codec", detail);
    }
    let detail = "the file is not a valid audio/mpeg: it has no frame of MPEG audio layer III (mp3)";
    Undecodable::new("undecodable", detail)
}

/// Whether a stream begins at `at`: three frames that belong together, or fewer if they fill the file.
fn begins(file: &mut Reader, at: usize) -> bool {
    let Some(first) = header_at(file, at) else { return false };
    let mut at = at;
    for n in 0..3 {
        if at > file.len() {
            return n > 1; // the file ends in the middle of the second frame or a later one
        }
        if n > 0 && (at == file.len() || tags::length(file, at).is_some()) {
            return true;
        }
        match header_at(file, at) {
            Some(header) if header.is_same_stream(&first) => at += header.n_bytes,
            _ => return false,
        }
    }
    true
}

/// Goes through the whole file. Returns its number of samples (of one channel) and frames, with those of
/// gaps, and how the file ends.
fn count(mut packets: Packets, file: &mut Reader) -> (u64, u64, FileEnd) {
    let mut n_samples = 0;
    while let Some(step) = packets.next(file) {
        n_samples += match step {
            Step::Packet { n_frames, .. } => n_frames as u64,
            Step::Lost { n_frames } => n_frames,
        };
    }
    (n_samples, n_samples / packets.first.n_samples as u64, packets.ending)
}
