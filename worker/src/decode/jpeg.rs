//! Reads the markers of a JPEG (ITU-T T.81, annex B): whether the decoder reads such a file, and whether it has its end.
//!
//! The decoder reads some valid files wrongly without an error, so only files are accepted of which it is known that they
//! are read rightly. A test compares it with libjpeg-turbo.

use super::undecodable::Undecodable;

/// Reads the markers. If the end marker is missing, returns files with one, and with bits before it that belong to no
/// picture. If more is missing than the marker, the decoder takes these bits for the rest of the picture, and the files'
/// pictures differ.
///
/// # Errors
/// The file is valid, but of a kind that the decoder does not read or reads wrongly; or it ends before its last scan.
pub(super) fn completed(jpeg: &[u8]) -> Result<Option<[Vec<u8>; 4]>, Undecodable> {
    let mut rest = jpeg.get(2..).unwrap_or_default();
    let mut frame: Option<Frame> = None;
    let mut interval = 0;
    let mut n_restarts = 0;
    while let Some((marker, after)) = next_marker(rest) {
        match marker {
            END_OF_IMAGE => return Ok(None),
            RESTART_0..=RESTART_7 => n_restarts += 1,
            _ => {}
        }
        // These have no segment.
        if matches!(marker, 0x01 | RESTART_0..=RESTART_7 | START_OF_IMAGE) {
            rest = after;
            continue;
        }
        let length = after.first_chunk().map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
        let segment = after.get(2..length).unwrap_or_default();
        match (marker, &mut frame) {
            (0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf, None) => {
                frame = Some(Frame::read(marker, segment)?);
            }
            (START_OF_SCAN, Some(frame)) => {
                frame.add_scan(segment)?;
                n_restarts = 0;
            }
            (RESTART_INTERVAL, _) => {
                interval = segment.first_chunk().map_or(0, |n| usize::from(u16::from_be_bytes(*n)));
            }
            _ => {}
        }
        rest = after.get(length..).unwrap_or_default();
    }
    match frame {
        Some(frame) if frame.is_complete(interval, n_restarts) => {}
        Some(_) => return Err(cut_off()),
        // The decoder says what is wrong.
        None => return Ok(None),
    }
    let data = jpeg.strip_suffix(&[0xff]).unwrap_or(jpeg);
    Ok(Some(BITS.map(|bits| [data, &bits.repeat(64), &[0xff, END_OF_IMAGE]].concat())))
}

/// The error of a file that ends before its picture does.
pub(super) fn cut_off() -> Undecodable {
    let detail =
        "the image/jpeg is incomplete: the file ends in the middle of the picture; send the complete file";
    Undecodable::new("undecodable", detail)
}

/// Bits for a decoder that needs more than there are. Any code begins otherwise in one of them. A byte of ones in a scan
/// is followed by a zero.
const BITS: [[u8; 2]; 4] = [[0x00, 0x00], [0x55, 0x55], [0xaa, 0xaa], [0xff, 0x00]];
const RESTART_0: u8 = 0xd0;
const RESTART_7: u8 = 0xd7;
const START_OF_IMAGE: u8 = 0xd8;
const END_OF_IMAGE: u8 = 0xd9;
const START_OF_SCAN: u8 = 0xda;
const RESTART_INTERVAL: u8 = 0xdd;

/// The code of the next marker, and the bytes after it. Skips the data of a scan.
fn next_marker(mut bytes: &[u8]) -> Option<(u8, &[u8])> {
    loop {
        let at = bytes.iter().position(|&byte| byte == 0xff)?;
        bytes = &bytes[at + 1..];
        match *bytes.first()? {
            0 | 0xff => {}
            marker => return Some((marker, &bytes[1..])),
        }
    }
}

/// What the header of a frame says, and what its scans have.
struct Frame {
    is_progressive: bool,
    /// The units (MCUs) of a scan of all components.
    n_units: usize,
    /// For each component: its identifier, and the coefficients of which all bits were in a scan, one bit for each.
    components: Vec<(u8, u64)>,
}

impl Frame {
    fn read(marker: u8, segment: &[u8]) -> Result<Self, Undecodable> {
        let [precision, h1, h0, w1, w0, _, components @ ..] = segment else { return Err(cut_off()) };
        let components = components.as_chunks::<3>().0;
        match marker {
            0xc0..=0xc2 if *precision == 8 => {}
            0xc0..=0xc2 => return Err(unsupported(&format!("has {precision} bits for each value"))),
            0xc9 | 0xca => return Err(unsupported("has arithmetic coding")),
            0xc3 | 0xcb => return Err(unsupported("is lossless")),
            _ => return Err(unsupported("is hierarchical")),
        }
        let factors = |[_, factors, _]: &[u8; 3]| [factors >> 4, factors & 15];
        let finest = components.first().map_or([1, 1], factors);
        let divides = |component| {
            let factors = factors(component).into_iter().zip(finest);
            factors.into_iter().all(|(factor, finest)| factor > 0 && finest % factor == 0)
        };
        if !finest.iter().all(|factor| [1, 2, 4].contains(factor)) || !components.iter().all(divides) {
            return Err(unsupported("has colours in a resolution that is rare"));
        }
        // The factors of a single component have no effect.
        let [across, down] = if components.len() > 1 { finest } else { [1, 1] };
        let units = |side: [u8; 2], factor: u8| {
            usize::from(u16::from_be_bytes(side)).div_ceil(8 * usize::from(factor))
        };
        Ok(Self {
            is_progressive: marker == 0xc2,
            n_units: units([*w1, *w0], across) * units([*h1, *h0], down),
            components: components.iter().map(|[identifier, ..]| (*identifier, 0)).collect(),
        })
    }

    fn add_scan(&mut self, segment: &[u8]) -> Result<(), Undecodable> {
        let [n, rest @ ..] = segment else { return Err(cut_off()) };
        let Some((selected, &[first, last, bits])) =
            rest.split_at_checked(2 * usize::from(*n)).and_then(|(selected, spectrum)| {
                Some((selected.as_chunks::<2>().0, spectrum.first_chunk::<3>()?))
            })
        else {
            return Err(cut_off());
        };
        if !self.is_progressive && selected.len() < self.components.len() {
            return Err(unsupported("has its colours one after another, without being progressive"));
        }
        let is_exact = bits % 16 == 0;
        let coefficients = (first..=last.min(63)).fold(0, |bits, at| bits | 1 << at);
        for (identifier, complete) in &mut self.components {
            if is_exact && selected.iter().any(|[selected, _]| selected == identifier) {
                *complete |= coefficients;
            }
        }
        Ok(())
    }

    /// Whether the scans have every bit of every coefficient, and the last one the beginnings of all its intervals. How
    /// many those are is not known of a progressive file.
    fn is_complete(&self, interval: usize, n_restarts: usize) -> bool {
        let has_intervals =
            interval == 0 || !self.is_progressive && n_restarts + 1 == self.n_units.div_ceil(interval);
        has_intervals && self.components.iter().all(|(_, complete)| *complete == u64::MAX)
    }
}

fn unsupported(what: &str) -> Undecodable {
    let detail =
        format!("the image/jpeg {what}, which is not supported: save it as an ordinary JPEG or as PNG");
    Undecodable::new("unsupported_codec", detail)
}

#[cfg(test)]
#[path = "jpeg_tests.rs"]
mod tests;
