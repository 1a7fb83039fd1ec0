//! Bytes nobody meant to be sound come in; an answer comes out, and no panic.

use proptest::prelude::*;

use super::tests::{decode, fixture};

/// The bytes of a file that some of its readers may trip over.
fn broken(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let n = bytes.len();
    let edit = (0..n, prop_oneof![any::<u8>(), Just(0xff), Just(0)]);
    let edits = prop::collection::vec(edit, 0..20);
    (edits, 0..n, 0..64_usize, prop::bool::ANY).prop_map(move |(edits, at, n_cut, ends)| {
        let mut bytes = bytes.clone();
        // Half of the edits hit the headers.
        for (n, (at, value)) in edits.into_iter().enumerate() {
            bytes[if n % 2 == 0 { at % 64 } else { at }] = value;
        }
        let end = (at + n_cut).min(bytes.len());
        bytes.drain(at..if ends { bytes.len() } else { end });
        bytes
    })
}

const NAMES: [&str; 8] = [
    "mono-8k.mp3",
    "mono-22k-vbr.mp3",
    "joint-44k-64kbps.mp3",
    "every-bit-rate-mpeg-2.mp3",
    "ima-adpcm-stereo.wav",
    "ms-adpcm.wav",
    "float.wav",
    "a-law.wav",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_an_answer(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        head in prop::sample::select(vec![b"".as_slice(), b"\xff\xfb\x90\x64", b"ID3\x03\0\0\0\0\x01\0", b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0"]),
        name in prop::sample::select(vec!["mp3", "wav"]),
    ) {
        let _ = decode(name, [head, &bytes].concat());
    }

    #[test]
    fn any_broken_file_is_an_answer(
        (name, bytes) in prop::sample::select(NAMES.to_vec())
            .prop_flat_map(|name| (Just(name), broken(fixture(name)))),
    ) {
        if let Ok(decoded) = decode(name, bytes.clone()) {
            // No more than its bytes can stand for.
            prop_assert!(decoded.samples.len() <= bytes.len() * 16 * 4 * 10);
        }
    }
}
