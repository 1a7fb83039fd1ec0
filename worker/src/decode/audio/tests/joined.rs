//! Files that consist of several recordings, one behind the other.

use super::{
    CHIRP_SECONDS, chirp, decode, delay_and_correlation, fixture,
    wav_file::{chunk_declaring, format, riff, samples, wav},
};

/// A WAV file of an open length, as programs write into a pipe.
fn streamed() -> Vec<u8> {
    let mut bytes =
        riff(&[format((1, 1, 16_000, 16)), chunk_declaring(b"data", u32::MAX, &samples((1, 1, 16_000, 16)))]);
    bytes[4..8].copy_from_slice(&[0xff; 4]);
    bytes
}

#[test]
fn recordings_that_were_joined_are_one_sound() {
    let of_files = |names: &[&str]| names.iter().map(|name| fixture(name)).collect::<Vec<_>>();
    let wav = |n_channels, rate, bits| wav((1, n_channels, rate, bits));
    for (name, files) in [
        ("wav", vec![wav(1, 16_000, 16), wav(2, 48_000, 24), wav(1, 8_000, 8)]),
        ("wav", vec![streamed(), wav(1, 16_000, 16), streamed()]),
        ("mp3", of_files(&["mono-22k-vbr.mp3", "joint-44k-64kbps.mp3", "mono-22k-vbr.mp3"])),
        ("mp3", of_files(&["stereo-48k-128kbps-crc.mp3", "id3-picture.mp3"])),
        ("flac", of_files(&["stereo-44k.flac", "stereo-44k.flac"])),
        ("ogg", of_files(&["mono-48k-opus.ogg", "stereo-44k-vorbis.ogg", "mono-16k-flac.ogg"])),
        ("webm", of_files(&["stereo-48k-opus.webm", "live-opus.webm", "live-opus.webm"])),
        ("m4a", of_files(&["stereo-44k-aac.m4a", "mono-48k-opus.mp4", "mono-16k-aac-index-first.m4a"])),
    ] {
        let joined = decode(name, files.concat()).unwrap();
        let n = files.len();
        let expected = format!("the file has {n} recordings, one behind the other: they were read as one");
        assert_eq!(joined.warnings, [expected], "{name}");
        let mut at = 0;
        for (nth, file) in files.into_iter().enumerate() {
            let alone = decode(name, file).unwrap().samples;
            assert!(joined.samples[at..].starts_with(&alone), "recording {nth} of {name}");
            at += alone.len();
        }
        assert_eq!(joined.samples.len(), at, "{name}");
    }
}

#[test]
fn a_further_recording_that_cannot_be_read_is_left_out_with_a_warning() {
    let first = fixture("stereo-44k-aac.m4a");
    let cut = &fixture("stereo-44k-aac.m4a")[..5000];
    let joined = decode("m4a", [&first, cut].concat()).unwrap();
    assert!(joined.samples == decode("m4a", first.clone()).unwrap().samples);
    let expected = format!(
        "the last 5000 bytes of the file were left out, where its recording 2 begins (byte {})",
        first.len()
    );
    assert!(joined.warnings.len() == 1 && joined.warnings[0].starts_with(&expected), "{:?}", joined.warnings);
}

#[test]
fn what_is_unusual_about_a_further_recording_names_it() {
    let bytes = fixture("mono-22k-vbr.mp3");
    let first = decode("mp3", fixture("mono-8k.mp3")).unwrap().samples;
    let joined = decode("mp3", [&fixture("mono-8k.mp3"), &bytes[..bytes.len() / 2]].concat()).unwrap();
    assert!(
        joined.warnings[0].starts_with("recording 2 of the file: the file is cut off"),
        "{:?}",
        joined.warnings
    );
    let (lag, correlation) =
        delay_and_correlation(&joined.samples[first.len()..], &chirp(CHIRP_SECONDS / 3.0, 16_000.0));
    assert!(lag.abs() <= 16 && correlation > 0.95, "{lag} samples late, correlation {correlation}");
}
