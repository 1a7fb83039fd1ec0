//! Reads what symphonia leaves out of MPEG-4 files (ISO/IEC 14496-12): where a recording ends, whether it has its index, and which
//! part of a track is shown, by its edit list or by iTunes' tag.

use std::ops::Range;

use super::{
    reader::{Position, Reader},
    timeline::Edit,
};

/// The most entries of an edit list that are read.
const MAX_ENTRIES: usize = 10_000;

/// More frames than an encoder puts before the sound.
const MAX_BEFORE: u64 = 16_384;

/// The structure of a recording.
pub(super) struct Structure {
    /// Where the recording ends, and another one may begin.
    pub(super) end: usize,
    /// Where it would end if it was whole.
    pub(super) declared_end: u64,
    /// The content of the index, "moov".
    index: Option<Range<usize>>,
}

/// The part of a track that is shown, in the ticks of the track.
pub(super) struct Shown {
    pub(super) edits: Vec<Edit>,
    /// Where it ends: a packet that begins later is not shown, and one that begins earlier is shown whole, because the lengths in an
    /// edit list are rounded.
    pub(super) end: Option<u64>,
}

/// The atoms in a part of a file.
struct Atoms {
    at: Position,
    end: usize,
}

/// An atom. Its content ends behind the file if that is cut off.
struct Atom {
    kind: [u8; 4],
    start: usize,
    content: Range<usize>,
}

impl Atoms {
    fn within(range: Range<usize>) -> Self {
        Self { at: Position::at(range.start), end: range.end }
    }

    fn next(&mut self, file: &mut Reader) -> Option<Atom> {
        let start = self.at.get();
        if start >= self.end {
            return None;
        }
        let head = file.head(start, 16);
        let kind = *head.get(4..)?.first_chunk()?;
        let (n_head, n) = match u32::from_be_bytes(*head.first_chunk()?) {
            0 => (8, (self.end - start) as u64),
            1 => (16, u64::from_be_bytes(*head.get(8..)?.first_chunk()?)),
            n => (8, n.into()),
        };
        let n = usize::try_from(n).ok().filter(|n| *n >= n_head)?;
        let end = start.saturating_add(n);
        self.at.pass_to(end);
        Some(Atom { kind, start, content: start + n_head..end })
    }

    /// The content of the next atom of this kind.
    fn find(&mut self, file: &mut Reader, kind: [u8; 4]) -> Option<Range<usize>> {
        loop {
            let atom = self.next(file)?;
            if atom.kind == kind {
                return Some(atom.content.start..atom.content.end.min(self.end));
            }
        }
    }
}

/// The content of the atom at this path.
fn find(file: &mut Reader, within: Range<usize>, path: &[[u8; 4]]) -> Option<Range<usize>> {
    path.iter().try_fold(within, |within, kind| Atoms::within(within).find(file, *kind))
}

impl Structure {
    /// Reads the headers of the recording at the beginning of `file`.
    pub(super) fn read(file: &mut Reader) -> Self {
        let n_bytes = file.len();
        let mut structure = Self { end: n_bytes, declared_end: n_bytes as u64, index: None };
        let mut atoms = Atoms::within(0..n_bytes);
        while let Some(Atom { kind, start, content }) = atoms.next(file) {
            match &kind {
                b"ftyp" if start > 0 => {
                    structure.end = start;
                    structure.declared_end = start as u64;
                    break;
                }
                b"moov" if content.end <= n_bytes => structure.index = Some(content),
                _ => structure.declared_end = structure.declared_end.max(content.end as u64),
            }
        }
        structure
    }

    /// Whether it has the index, without which nothing can be found.
    pub(super) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// The part of a track that is shown. `None` if nothing says so.
    pub(super) fn shown(&self, file: &mut Reader, track: u32) -> Option<Shown> {
        let index = self.index.clone()?;
        let mut tracks = Atoms::within(index.clone());
        let track = loop {
            let content = tracks.find(file, *b"trak")?;
            let header = find(file, content.clone(), &[*b"tkhd"])?;
            let id_at = header.start + after_times(file, &header);
            if u32_at(file, id_at) == Some(track) {
                break content;
            }
        };
        let movie = timescale(file, index.clone(), &[*b"mvhd"])?;
        let media = timescale(file, track.clone(), &[*b"mdia", *b"mdhd"])?;
        let list = find(file, track, &[*b"edts", *b"elst"]);
        itunes(file, index).or_else(|| {
            let entries = list.map(|list| entries(file, list)).filter(|entries| !entries.is_empty())?;
            Some(shown(&entries, |ticks| scaled(ticks, media, movie)))
        })
    }
}

/// An entry of an edit list: its length in the ticks of the movie, and where it begins in those of the track. `None`: nothing is
/// shown.
struct Entry {
    length: u64,
    start: Option<u64>,
}

fn entries(file: &mut Reader, list: Range<usize>) -> Vec<Entry> {
    let is_long = file.head(list.start, 1) == [1];
    let n = u32_at(file, list.start + 4).unwrap_or(0) as usize;
    let n_bytes = if is_long { 20 } else { 12 };
    let entry = |nth: usize| {
        let at = list.start + 8 + nth * n_bytes;
        let bytes = file.get(at..(at + n_bytes).min(list.end));
        let (length, start) = if is_long {
            let start = i64::from_be_bytes(*bytes.get(8..)?.first_chunk()?);
            (u64::from_be_bytes(*bytes.first_chunk()?), start)
        } else {
            let start = i32::from_be_bytes(*bytes.get(4..)?.first_chunk()?);
            (u32::from_be_bytes(*bytes.first_chunk()?).into(), start.into())
        };
        Some(Entry { length, start: u64::try_from(start).ok() })
    };
    (0..n.min(MAX_ENTRIES)).map_while(entry).collect()
}

/// What these entries show. If they go back in the track, all that follows is shown once. `in_track` changes ticks of the movie into
/// those of the track.
fn shown(entries: &[Entry], in_track: impl Fn(u64) -> u64) -> Shown {
    let mut shown = Shown { edits: Vec::new(), end: None };
    let mut position = 0;
    let last = entries.iter().rposition(|entry| entry.start.is_some());
    for (nth, entry) in entries.iter().enumerate() {
        let length = in_track(entry.length);
        let Some(start) = entry.start else {
            shown.edits.push(Edit::Silence(length));
            continue;
        };
        if start < position {
            break;
        }
        shown.edits.push(Edit::Skip(start - position));
        position = start.saturating_add(length);
        if last == Some(nth) {
            shown.end = Some(position).filter(|_| length > 0);
            break;
        }
        shown.edits.push(Edit::Keep(length));
    }
    shown.edits.push(Edit::Keep(u64::MAX));
    shown
}

/// A number of ticks at `from` ticks a second, at `to` ticks a second. Saturates.
fn scaled(ticks: u64, to: u32, from: u32) -> u64 {
    u64::try_from(u128::from(ticks) * u128::from(to) / u128::from(from)).unwrap_or(u64::MAX)
}

/// The part that iTunes' tag says is shown: of the numbers in hexadecimal digits after "iTunSMPB", the second counts the frames
/// before the sound. Those behind it are not counted here, as ffmpeg does not count them.
fn itunes(file: &mut Reader, index: Range<usize>) -> Option<Shown> {
    let meta = find(file, index, &[*b"udta", *b"meta"])?;
    let list = find(file, meta.start + 4..meta.end, &[*b"ilst"])?;
    let mut items = Atoms::within(list);
    loop {
        let item = items.find(file, *b"----")?;
        let name = find(file, item.clone(), &[*b"name"])?;
        if file.get(name.start + 4..name.end.min(name.start + 12)) != b"iTunSMPB" {
            continue;
        }
        let data = find(file, item, &[*b"data"])?;
        let text = str::from_utf8(file.get(data.start + 8..data.end.min(data.start + 40))).ok()?;
        let before = u64::from_str_radix(text.split_whitespace().nth(1)?, 16).ok()?;
        let edits = vec![Edit::Skip(before), Edit::Keep(u64::MAX)];
        return (1..MAX_BEFORE).contains(&before).then_some(Shown { edits, end: None });
    }
}

/// The ticks in a second of the header at this path.
fn timescale(file: &mut Reader, within: Range<usize>, path: &[[u8; 4]]) -> Option<u32> {
    let header = find(file, within, path)?;
    let at = header.start + after_times(file, &header);
    u32_at(file, at).filter(|n| *n > 0)
}

/// The bytes of a header before what follows its two times, which have 8 bytes each since version 1.
fn after_times(file: &mut Reader, header: &Range<usize>) -> usize {
    if file.head(header.start, 1) == [1] { 20 } else { 12 }
}

fn u32_at(file: &mut Reader, at: usize) -> Option<u32> {
    file.head(at, 4).first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}
