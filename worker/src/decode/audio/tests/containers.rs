//! FLAC, Ogg, MPEG-4 and WebM files, as ffmpeg writes them.

use proptest::prelude::*;

use super::{
    AudioLimits, CHIRP_SECONDS, assert_chirp, chirp, decode, decode_within, delay_and_correlation, fixture,
    random_bytes::damaged,
};

#[test]
fn files_decode_without_delay_and_with_the_right_length() {
    for (name, min_correlation) in [
        ("stereo-44k.flac", 0.9999),
        ("mono-16k-flac.ogg", 0.9999),
        ("mono-48k-opus.ogg", 0.99),
        ("stereo-44k-vorbis.ogg", 0.99),
    ] {
        assert_eq!(assert_chirp(name, fixture(name), min_correlation), [""; 0], "{name}");
    }
}

#[test]
fn a_webm_file_decodes_without_delay_up_to_the_end_of_its_last_packet() {
    for name in ["stereo-48k-opus.webm", "live-opus.webm", "mono-32k-vorbis.webm"] {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        let expected = chirp(CHIRP_SECONDS, 16_000.0);
        let (lag, correlation) = delay_and_correlation(&decoded.samples, &expected);
        assert!(lag.abs() <= 16, "{name}: {lag} samples late");
        assert!(correlation > 0.99, "{name}: correlation {correlation}");
        let n_more = decoded.samples.len() as i64 - expected.len() as i64;
        assert!((-16..=480).contains(&n_more), "{name}: {n_more} samples too many");
    }
}

#[test]
fn aac_has_the_delay_of_its_encoder() {
    for (name, rate) in [("stereo-44k-aac.m4a", 44_100.0), ("mono-16k-aac-fragmented.mp4", 16_000.0)] {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        let delay = (1024.0 * 16_000.0 / rate) as usize;
        let (lag, correlation) =
            delay_and_correlation(&decoded.samples[delay..], &chirp(CHIRP_SECONDS, 16_000.0));
        assert!(lag.abs() <= 16, "{name}: {lag} samples late");
        assert!(correlation > 0.98, "{name}: correlation {correlation}");
    }
}

#[test]
fn a_codec_that_is_not_supported_is_named() {
    let undecodable = decode("mono-16k-mp3.mp4", fixture("mono-16k-mp3.mp4")).err().expect("an error");
    assert_eq!(undecodable.code, "unsupported_codec");
    assert!(undecodable.detail.contains("expected AAC, FLAC, Opus or Vorbis"), "{}", undecodable.detail);
}

#[test]
fn a_file_that_is_cut_off_decodes_up_to_its_end() {
    for name in ["stereo-44k.flac", "mono-48k-opus.ogg", "live-opus.webm"] {
        let bytes = fixture(name);
        let decoded = decode(name, bytes[..bytes.len() * 3 / 4].to_vec()).unwrap();
        let seconds = decoded.samples.len() as f64 / 16_000.0;
        assert!((0.3..0.75).contains(&seconds), "{name}: {seconds} s");
    }
}

#[test]
fn a_file_without_sound_is_refused() {
    for name in ["stereo-44k.flac", "mono-48k-opus.ogg", "live-opus.webm", "stereo-44k-aac.m4a"] {
        for n in [4, 30, 100] {
            let undecodable = decode(name, fixture(name)[..n].to_vec()).err().expect("an error");
            assert_eq!(undecodable.code, "undecodable", "{name}: {}", undecodable.detail);
        }
    }
}

#[test]
fn a_recording_that_is_too_long_is_refused() {
    let limits = AudioLimits { max_seconds: 0, ..AudioLimits::default() };
    for name in ["stereo-44k.flac", "live-opus.webm", "stereo-44k-aac.m4a"] {
        let undecodable = decode_within(&limits, name, fixture(name)).err().expect("an error");
        assert_eq!(undecodable.code, "too_long", "{name}: {}", undecodable.detail);
    }
}

const NAMES: [&str; 6] = [
    "stereo-44k.flac",
    "mono-48k-opus.ogg",
    "stereo-44k-vorbis.ogg",
    "live-opus.webm",
    "stereo-44k-aac.m4a",
    "mono-16k-aac-fragmented.mp4",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damaged_files_do_not_panic(
        (name, bytes) in prop::sample::select(NAMES.to_vec())
            .prop_flat_map(|name| (Just(name), damaged(fixture(name)))),
    ) {
        let limits = AudioLimits { max_seconds: 5, ..AudioLimits::default() };
        if let Ok(decoded) = decode_within(&limits, name, bytes) {
            prop_assert!(decoded.samples.len() <= 5 * 16_000);
        }
    }
}
