//! Files of every container whose parts are copied, moved, cut off and given other lengths: decoding them ends.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Audio, AudioLimits, Channels, Counted, Pace, Undecodable, fixture, most_steps, upload};

const NAMES: [&str; 15] = [
    "ima-adpcm-stereo.wav",
    "extensible-24bit.wav",
    "float.wav",
    "mono-22k-vbr.mp3",
    "id3-picture.mp3",
    "stereo-44k.flac",
    "mono-16k-flac.ogg",
    "mono-48k-opus.ogg",
    "stereo-44k-vorbis.ogg",
    "stereo-44k-aac.m4a",
    "mono-16k-aac-fragmented.mp4",
    "live-opus.webm",
    "mono-48k-opus.mp4",
    "late-aac.mp4",
    "late-opus.webm",
];

/// Lengths that parsers get wrong.
const LENGTHS: [u32; 9] = [0, 1, 2, 8, 64, 0x7fff_ffff, 0x8000_0000, u32::MAX - 7, u32::MAX];

/// A change of a file. Places are parts of its length.
#[derive(Debug, Clone)]
enum Change {
    Length { at: f64, length: u32, is_little_endian: bool },
    Byte { at: f64, byte: u8 },
    Copy { from: f64, n: usize, to: f64 },
    Swap { from: f64, n: usize, to: f64 },
    Cut { at: f64 },
}

/// A place in the file; half of them are at its start, where the headers are.
fn place() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0, 0.0..0.02]
}

fn change() -> impl Strategy<Value = Change> {
    let length = prop_oneof![prop::sample::select(LENGTHS.to_vec()), 0..40_000_u32];
    let n = prop_oneof![1..64_usize, 1..4096_usize];
    prop_oneof![
        4 => (place(), length, any::<bool>())
            .prop_map(|(at, length, is_little_endian)| Change::Length { at, length, is_little_endian }),
        2 => (place(), any::<u8>()).prop_map(|(at, byte)| Change::Byte { at, byte }),
        2 => (place(), n.clone(), place()).prop_map(|(from, n, to)| Change::Copy { from, n, to }),
        2 => (place(), n, place()).prop_map(|(from, n, to)| Change::Swap { from, n, to }),
        1 => (0.0..1.0).prop_map(|at| Change::Cut { at }),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let n_bytes = bytes.len();
        let place = |at: f64| (at * n_bytes as f64) as usize;
        let part = |at: f64, n: usize| place(at)..(place(at) + n).min(n_bytes);
        match *change {
            Change::Length { at, length, is_little_endian } => {
                let length = if is_little_endian { length.to_le_bytes() } else { length.to_be_bytes() };
                let part = part(at, 4);
                bytes[part.clone()].copy_from_slice(&length[..part.len()]);
            }
            Change::Byte { at, byte } => bytes[part(at, 1)].fill(byte),
            Change::Copy { from, n, to } => {
                let copy = bytes[part(from, n)].to_vec();
                bytes.splice(place(to)..place(to), copy);
            }
            Change::Swap { from, n, to } => {
                let moved: Vec<u8> = bytes.drain(part(from, n)).collect();
                let to = place(to).min(bytes.len());
                bytes.splice(to..to, moved);
            }
            Change::Cut { at } => bytes.truncate(place(at)),
        }
    }
    bytes
}

fn decode(name: &str, bytes: Vec<u8>, pace: &Arc<dyn Pace>) -> Result<usize, Undecodable> {
    let limits = AudioLimits { max_seconds: 5, ..AudioLimits::default() };
    let mut audio = Audio::open_at(pace, upload(name, bytes).into(), &limits, Channels::Mixed)?;
    let mut n = 0;
    while let Some(piece) = audio.next()? {
        n += piece[0].len();
    }
    Ok(n)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_container_is_decoded_in_a_number_of_steps_that_is_linear_in_its_length(
        name in prop::sample::select(NAMES.to_vec()),
        changes in prop::collection::vec(change(), 1..8),
    ) {
        let bytes = changed(fixture(name), &changes);
        let most = most_steps(bytes.len());
        let pace = Arc::new(Counted::default());
        let decoded = decode(name, bytes, &(pace.clone() as Arc<dyn Pace>));
        prop_assert!(pace.n_steps() <= most);
        match decoded {
            Ok(n) => prop_assert!(n <= 5 * 16_000 + 1),
            Err(error) => prop_assert!(!error.detail.contains("has no end"), "a parser that goes round"),
        }
    }
}
