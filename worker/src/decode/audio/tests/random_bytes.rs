//! Property tests: decoding random bytes or damaged files never panics.

use proptest::prelude::*;

use super::{decode, fixture};

/// Damaged copies of a file: some bytes are overwritten, and a part is removed from the middle or the end.
pub(super) fn damaged(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let n = bytes.len();
    let edit = (0..n, prop_oneof![any::<u8>(), Just(0xff), Just(0)]);
    let edits = prop::collection::vec(edit, 0..20);
    (edits, 0..n, 0..64_usize, prop::bool::ANY).prop_map(move |(edits, at, n_cut, ends)| {
        let mut bytes = bytes.clone();
        // Half of the edits are in the first 64 bytes, where the headers are.
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
    fn random_bytes_do_not_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        head in prop::sample::select(vec![b"".as_slice(), b"\xff\xfb\x90\x64", b"ID3\x03\0\0\0\0\x01\0", b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0"]),
        name in prop::sample::select(vec!["mp3", "wav"]),
    ) {
        let _ = decode(name, [head, &bytes].concat());
    }

    #[test]
    fn damaged_files_do_not_panic(
        (name, bytes) in prop::sample::select(NAMES.to_vec())
            .prop_flat_map(|name| (Just(name), damaged(fixture(name)))),
    ) {
        if let Ok(decoded) = decode(name, bytes.clone()) {
            // The number of samples is limited by the number of bytes.
            prop_assert!(decoded.samples.len() <= bytes.len() * 16 * 4 * 10);
        }
    }
}
