//! Reads what symphonia leaves out of WebM and Matroska files (RFC 9559): where a recording ends, whether it is cut off, and how
//! much of its last packet is no sound.

use std::ops::Range;

use super::reader::{Position, Reader};

const EBML: u32 = 0x1a45_dfa3;
const SEGMENT: u32 = 0x1853_8067;
const CLUSTER: u32 = 0x1f43_b675;
const BLOCK_GROUP: u32 = 0xa0;
const BLOCK: u32 = 0xa1;
const SIMPLE_BLOCK: u32 = 0xa3;
const DISCARD_PADDING: u32 = 0x75a2;
/// What a cluster can have, which is inside of one without a length.
const IN_CLUSTER: [u32; 6] = [BLOCK_GROUP, SIMPLE_BLOCK, 0xe7, 0xa7, 0xab, 0xec];

/// The structure of a recording.
pub(super) struct Structure {
    /// Where the recording ends, and another one may begin.
    pub(super) end: usize,
    /// Whether the file ends in the middle of a part.
    pub(super) is_cut: bool,
    /// The content of the last cluster.
    last_cluster: Range<usize>,
}

/// An element. Its content ends behind the file if that is cut off.
struct Element {
    id: u32,
    content: usize,
    /// `None` if its length is not known, as in what is recorded live.
    end: Option<usize>,
}

impl Element {
    /// The element at this place. `None` if there is none, or only a part of its header.
    fn at(file: &mut Reader, at: usize) -> Option<Self> {
        let head = file.head(at, 12);
        let n_id = head.first()?.leading_zeros() as usize + 1;
        let id = head.get(..n_id).filter(|_| n_id <= 4)?;
        let id = id.iter().fold(0, |id, byte| id << 8 | u32::from(*byte));
        let (n, n_bytes) = number(head.get(n_id..)?)?;
        let content = at + n_id + n_bytes;
        let is_open = n == (1 << (7 * n_bytes)) - 1;
        let end = (!is_open).then(|| content.saturating_add(usize::try_from(n).unwrap_or(usize::MAX)));
        Some(Self { id, content, end })
    }
}

/// A number of variable length, and how many bytes it takes.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let n_bytes = bytes.first()?.leading_zeros() as usize + 1;
    let bytes = bytes.get(..n_bytes).filter(|_| n_bytes <= 8)?;
    let n = bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    Some((n & !(1 << (7 * n_bytes)), n_bytes))
}

impl Structure {
    /// Reads the headers of the recording at the beginning of `file`.
    pub(super) fn read(file: &mut Reader) -> Self {
        let n_bytes = file.len();
        let mut structure = Self { end: n_bytes, is_cut: false, last_cluster: 0..0 };
        let mut at = Position::at(0);
        let mut segment_end = None;
        let mut is_in_cluster = false;
        while at.get() < segment_end.unwrap_or(n_bytes).min(n_bytes) {
            let Some(element) = Element::at(file, at.get()) else {
                structure.is_cut = true;
                break;
            };
            if element.id == EBML && at.get() > 0 {
                structure.end = at.get();
                return structure;
            }
            is_in_cluster &= IN_CLUSTER.contains(&element.id);
            let mut next = element.end.unwrap_or(element.content);
            match element.id {
                SEGMENT => {
                    segment_end = element.end;
                    next = element.content;
                }
                CLUSTER => {
                    structure.last_cluster = element.content..next.min(n_bytes);
                    is_in_cluster = element.end.is_none();
                }
                _ if is_in_cluster => structure.last_cluster.end = next.min(n_bytes),
                _ => (),
            }
            at.pass_to(next);
        }
        structure.is_cut |= segment_end.unwrap_or(at.get()).max(at.get()) > n_bytes;
        structure.end = segment_end.unwrap_or(n_bytes).min(n_bytes);
        structure
    }

    /// The part of the last packet of this track that is no sound, nanoseconds.
    pub(super) fn discarded_ns(&self, file: &mut Reader, track: u32) -> u64 {
        let mut discarded = 0;
        let mut at = Position::at(self.last_cluster.start);
        while at.get() < self.last_cluster.end {
            let Some(Element { id, content, end: Some(end) }) = Element::at(file, at.get()) else { break };
            match id {
                SIMPLE_BLOCK if is_of_track(file, content, track) => discarded = 0,
                BLOCK_GROUP => discarded = discarded_in_group(file, content..end, track).unwrap_or(discarded),
                _ => (),
            }
            at.pass_to(end);
        }
        discarded
    }
}

/// Whether the block whose content begins here is of this track.
fn is_of_track(file: &mut Reader, content: usize, track: u32) -> bool {
    number(file.head(content, 8)).is_some_and(|(number, _)| number == u64::from(track))
}

/// The discarded part of the block in a group, nanoseconds. `None` if it is of another track.
fn discarded_in_group(file: &mut Reader, group: Range<usize>, track: u32) -> Option<u64> {
    let mut is_of_track = false;
    let mut discarded = 0;
    let mut at = Position::at(group.start);
    while at.get() < group.end {
        let Some(Element { id, content, end: Some(end) }) = Element::at(file, at.get()) else { break };
        match id {
            BLOCK => is_of_track = self::is_of_track(file, content, track),
            DISCARD_PADDING => {
                let bytes = file.get(content..end.min(content.saturating_add(8)));
                let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
                let n = bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
                discarded = if is_negative { 0 } else { n };
            }
            _ => (),
        }
        at.pass_to(end);
    }
    is_of_track.then_some(discarded)
}
