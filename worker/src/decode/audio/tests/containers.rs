//! FLAC, Ogg, MPEG-4 and WebM files, as ffmpeg writes them.

use proptest::prelude::*;

use super::{
    AudioLimits, CHIRP_SECONDS, assert_chirp, chirp, decode, decode_within, delay_and_correlation, fixture,
    level, random_bytes::damaged,
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
fn a_webm_file_decodes_without_delay_and_without_what_pads_its_last_packet() {
    for (name, n_padding) in
        [("stereo-48k-opus.webm", 0), ("live-opus.webm", 0), ("mono-32k-vorbis.webm", 480)]
    {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        let expected = chirp(CHIRP_SECONDS, 16_000.0);
        let (lag, correlation) = delay_and_correlation(&decoded.samples, &expected);
        assert!(lag.abs() <= 16, "{name}: {lag} samples late");
        assert!(correlation > 0.99, "{name}: correlation {correlation}");
        let n_more = decoded.samples.len() as i64 - expected.len() as i64;
        assert!((0..=n_padding).contains(&n_more), "{name}: {n_more} samples too many");
    }
}

#[test]
fn an_mpeg_4_file_decodes_from_the_place_on_that_it_names() {
    // AAC's last packet is shown to its end, and Opus's too: 20 ms. The frames are those that ffmpeg gives.
    for (name, n) in [
        ("stereo-44k-aac.m4a", 33_792 * 16_000 / 44_100),
        ("mono-16k-aac-index-first.m4a", 12_288),
        ("mono-48k-opus.mp4", 12_056),
        ("mono-48k-opus-without-edits.mp4", 12_056),
    ] {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        assert_eq!(decoded.samples.len(), n, "{name}");
        let (lag, correlation) = delay_and_correlation(&decoded.samples, &chirp(CHIRP_SECONDS, 16_000.0));
        assert!(lag.abs() <= 1, "{name}: {lag} samples late");
        assert!(correlation > 0.98, "{name}: correlation {correlation}");
    }
}

#[test]
fn an_edit_list_of_several_entries_shows_parts_of_the_track_and_silence() {
    // The index comes again at the end, so that the places of the frames stay: 16 kHz, and 1000 ticks a second in the list.
    let mut movie = fixture("mono-16k-aac-index-first.m4a");
    let whole = decode("m4a", movie.clone()).unwrap().samples;
    let at = |bytes: &[u8], name: &[u8]| bytes.windows(4).position(|four| four == name).unwrap();
    let first = at(&movie, b"moov");
    let size = u32::from_be_bytes(*movie[first - 4..].first_chunk().unwrap()) as usize;
    let mut index = movie[first - 4..first - 4 + size].to_vec();
    movie[first..first + 4].copy_from_slice(b"free");
    let entries = [(250, 1024), (100, -1), (250, 1024 + 8000)];
    let entries: Vec<u8> = entries
        .iter()
        .flat_map(|(length, start): &(i32, i32)| {
            [length.to_be_bytes(), start.to_be_bytes(), [0, 1, 0, 0]].concat()
        })
        .collect();
    let list = at(&index, b"elst");
    index[list + 8..list + 12].copy_from_slice(&3_u32.to_be_bytes());
    index.splice(list + 12..list + 24, entries);
    for name in [&b"moov"[..], b"trak", b"edts", b"elst"] {
        let size_at = at(&index, name) - 4;
        let size = u32::from_be_bytes(*index[size_at..].first_chunk().unwrap()) + 24;
        index[size_at..size_at + 4].copy_from_slice(&size.to_be_bytes());
    }
    let decoded = decode("m4a", [movie, index].concat()).unwrap();
    assert_eq!(decoded.warnings, [""; 0]);
    assert!(decoded.samples == [&whole[..4_000], &[0.0; 1_600], &whole[8_000..]].concat());
}

#[test]
fn aac_without_an_edit_list_has_the_delay_of_its_encoder() {
    let name = "mono-16k-aac-fragmented.mp4";
    let decoded = decode(name, fixture(name)).unwrap();
    assert_eq!(decoded.warnings, [""; 0], "{name}");
    let (lag, correlation) = delay_and_correlation(&decoded.samples[1024..], &chirp(CHIRP_SECONDS, 16_000.0));
    assert!(lag == 0 && correlation > 0.98, "{name}: {lag} samples late, correlation {correlation}");
}

#[test]
fn itunes_tag_says_where_the_sound_begins() {
    let whole = fixture("mono-16k-aac-index-first.m4a");
    let text = b" 00000000 00000840 00000100 0000000000002580 00000000 00000000 00000000 00000000";
    let atom = |kind: &[u8; 4], content: &[u8]| {
        [&u32::try_from(8 + content.len()).unwrap().to_be_bytes(), kind.as_slice(), content].concat()
    };
    let name = [
        atom(b"mean", b"\0\0\0\0com.apple.iTunes"),
        atom(b"name", b"\0\0\0\0iTunSMPB"),
        atom(b"data", &[b"\0\0\0\x01\0\0\0\0".as_slice(), text].concat()),
    ];
    let list = atom(b"ilst", &atom(b"----", &name.concat()));
    let tags = atom(b"udta", &atom(b"meta", &[b"\0\0\0\0".as_slice(), &list].concat()));
    // The tags are the last part of the index, which is before the sound.
    let find = |what: &[u8; 4]| whole.windows(4).position(|bytes| bytes == what).unwrap() - 4;
    let (index, old_tags, sound, offset) = (find(b"moov"), find(b"udta"), find(b"mdat"), find(b"stco") + 16);
    let mut tagged = [&whole[..old_tags], &tags, &whole[sound..]].concat();
    let n = u32::try_from(old_tags + tags.len() - index).unwrap();
    tagged[index..index + 4].copy_from_slice(&n.to_be_bytes());
    let first = u32::try_from(old_tags + tags.len() + 8).unwrap();
    tagged[offset..offset + 4].copy_from_slice(&first.to_be_bytes());
    let decoded = decode("itunes.m4a", tagged).unwrap();
    let expected = decode("m4a", whole).unwrap().samples;
    assert_eq!(decoded.warnings, [""; 0]);
    assert!(decoded.samples == expected[0x840 - 1024..]);
}

#[test]
fn a_sound_that_begins_later_than_its_picture_is_late() {
    for name in ["late-aac.mp4", "late-opus.webm"] {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        let (silence, sound) = decoded.samples.split_at(8_000);
        assert!(level(&silence[..7_900]) < 0.001, "{name}");
        let (lag, correlation) = delay_and_correlation(sound, &chirp(CHIRP_SECONDS, 16_000.0));
        // The times of WebM are rounded to milliseconds.
        assert!(
            lag.abs() <= 32 && correlation > 0.97,
            "{name}: {lag} samples late, correlation {correlation}"
        );
        assert!(sound.len().abs_diff(12_000) < 300, "{name}: {} samples", sound.len());
    }
}

#[test]
fn sound_that_cannot_be_decoded_rightly_is_refused() {
    let mut of_family_255 = fixture("mono-48k-opus.ogg");
    let head = of_family_255.windows(8).position(|bytes| bytes == b"OpusHead").unwrap();
    of_family_255[head + 18] = 255;
    let speex =
        [b"OggS\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x50Speex   1.2.1".as_slice(), &[0; 67]];
    for (name, bytes, codec) in [
        ("four-22k-vorbis.ogg", fixture("four-22k-vorbis.ogg"), "Vorbis with 4 channels"),
        ("ogg", of_family_255, "Opus with the channel mapping family 255"),
        ("ogg", speex.concat(), "Speex"),
    ] {
        let undecodable = decode(name, bytes).err().expect("an error");
        assert_eq!(undecodable.code, "unsupported_codec", "{codec}");
        assert!(undecodable.detail.contains(codec), "{}", undecodable.detail);
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
    for name in [
        "stereo-44k.flac",
        "mono-48k-opus.ogg",
        "live-opus.webm",
        "stereo-48k-opus.webm",
        "mono-32k-vorbis.webm",
        "late-opus.webm",
        "mono-16k-aac-index-first.m4a",
        "mono-16k-aac-fragmented.mp4",
    ] {
        let bytes = fixture(name);
        let whole = decode(name, bytes.clone()).unwrap().samples;
        // The headers of Vorbis are most of the file.
        let shares = if name == "mono-32k-vorbis.webm" { vec![] } else { vec![bytes.len() * 3 / 4] };
        for n in shares.into_iter().chain([bytes.len() - 200]) {
            let decoded = decode(name, bytes[..n].to_vec()).unwrap();
            let samples = decoded.samples;
            assert!(samples.len() > whole.len() * 2 / 5 && samples.len() <= whole.len(), "{name}, {n} bytes");
            // Resampling takes what follows into account.
            let n_same = samples.len() - 600;
            assert!(
                samples[..n_same].iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-4),
                "{name}, {n} bytes"
            );
            let seconds = samples.len() as f64 / 16_000.0;
            let expected = format!("the file is cut off or damaged after {seconds:.2}");
            let [warning] = &decoded.warnings[..] else {
                panic!("{name}, {n} bytes: {:?}", decoded.warnings)
            };
            assert!(warning.starts_with(&expected[..expected.len() - 1]), "{name}: {warning}, {seconds}");
        }
    }
}

#[test]
fn a_file_whose_index_is_gone_says_so() {
    let bytes = fixture("stereo-44k-aac.m4a");
    let refused = decode("m4a", bytes[..bytes.len() - 200].to_vec()).err().expect("an error");
    assert_eq!(refused.code, "undecodable");
    assert!(refused.detail.contains("its index (\"moov\")"), "{}", refused.detail);
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

const NAMES: [&str; 9] = [
    "stereo-44k.flac",
    "mono-48k-opus.ogg",
    "stereo-44k-vorbis.ogg",
    "live-opus.webm",
    "stereo-44k-aac.m4a",
    "mono-16k-aac-fragmented.mp4",
    "mono-48k-opus.mp4",
    "late-aac.mp4",
    "late-opus.webm",
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
