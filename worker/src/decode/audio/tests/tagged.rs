//! Tags before and behind recordings of every format.

use akhar_requests::{MediaType, sniff};

use super::{decode, fixture, wav_file::wav};

/// An ID3v2.4 tag of `n` bytes, with a footer if it has room for one.
fn id3v2(n: usize, has_footer: bool) -> Vec<u8> {
    let size = [21, 14, 7, 0].map(|shift| u8::try_from(n >> shift & 0x7f).unwrap());
    let flags = if has_footer { 0x10 } else { 0 };
    let head = [b"\x04\0".as_slice(), &[flags], &size].concat();
    let footer = if has_footer { [b"3DI".as_slice(), &head].concat() } else { Vec::new() };
    [b"ID3".as_slice(), &head, &vec![0; n], &footer].concat()
}

#[test]
fn tags_before_and_behind_a_recording_change_nothing() {
    let id3v1 = [b"TAG".as_slice(), &[b' '; 125]].concat();
    let ape_v1 = [b"APETAGEX\xe8\x03\0\0\x20\0\0\0\0\0\0\0\0\0\0\0".as_slice(), &[0; 8]].concat();
    let lyrics = b"LYRICSBEGININD0000200000021LYRICS200".to_vec();
    let more = [b"TAG+".as_slice(), &[b' '; 223]].concat();
    for name in [
        "stereo-44k.flac",
        "mono-48k-opus.ogg",
        "stereo-44k-vorbis.ogg",
        "stereo-44k-aac.m4a",
        "mono-16k-aac-index-first.m4a",
        "live-opus.webm",
        "chirp.wav",
        "mono-22k-vbr.mp3",
        "mono-32k-untagged.mp3",
    ] {
        let bytes = fixture(name);
        let expected = decode(name, bytes.clone()).unwrap().samples;
        for (before, behind) in [
            (id3v2(300, false), Vec::new()),
            ([id3v2(70_000, true), id3v2(0, false)].concat(), id3v1.clone()),
            (Vec::new(), id3v1.clone()),
            (Vec::new(), [more.clone(), id3v1.clone()].concat()),
            (Vec::new(), [lyrics.clone(), id3v1.clone()].concat()),
            (Vec::new(), [ape_v1.clone(), id3v1.clone()].concat()),
        ] {
            let before_and_behind = (before.len(), behind.len());
            // A file with an ID3 tag is taken for an mp3 where not all of the tag is read.
            let named = if before.is_empty() { name } else { "mp3" };
            let decoded = decode(named, [before, bytes.clone(), behind].concat()).unwrap();
            assert!(decoded.samples == expected, "{name}, {before_and_behind:?}");
            assert_eq!(decoded.warnings, [""; 0], "{name}, {before_and_behind:?}");
        }
    }
}

#[test]
fn tags_between_recordings_are_no_sound() {
    let bytes = fixture("stereo-44k.flac");
    let alone = decode("flac", bytes.clone()).unwrap().samples;
    let id3v1 = [b"TAG".as_slice(), &[b' '; 125]].concat();
    let joined = decode("flac", [&bytes, id3v1.as_slice(), &id3v2(300, false), &bytes].concat()).unwrap();
    assert!(
        joined.warnings.len() == 1 && joined.warnings[0].contains("2 recordings"),
        "{:?}",
        joined.warnings
    );
    assert!(joined.samples == [alone.clone(), alone].concat());
}

#[test]
fn a_wav_with_long_lengths_may_be_named_bw64() {
    let mut bytes = wav((1, 1, 16_000, 16));
    let expected = decode("wav", bytes.clone()).unwrap().samples;
    bytes[..4].copy_from_slice(b"BW64");
    assert!(decode("wav", bytes).unwrap().samples == expected);
}

#[test]
fn frames_of_aac_decode_alone_and_behind_a_tag() {
    // The frames of an MPEG-4 file, each with a header: AAC LC, 16 kHz, one channel.
    let movie = fixture("mono-16k-aac-index-first.m4a");
    let find = |what: &[u8]| movie.windows(4).position(|bytes| bytes == what).unwrap();
    let number = |at: usize| u32::from_be_bytes(*movie[at..].first_chunk().unwrap()) as usize;
    let sizes = find(b"stsz") + 12;
    let mut at = find(b"mdat") + 4;
    let mut frames = Vec::new();
    for nth in 0..number(sizes) {
        let n = number(sizes + 4 + 4 * nth);
        let n_all = u16::try_from(n + 7).unwrap();
        frames.extend([0xff, 0xf1, 0x60, 0x40, (n_all >> 3) as u8, (n_all << 5) as u8 | 0x1f, 0xfc]);
        frames.extend(&movie[at..at + n]);
        at += n;
    }
    let expected = decode("m4a", movie).unwrap().samples;
    for bytes in [[id3v2(300, false), frames.clone()].concat(), frames] {
        assert_eq!(sniff::media_type(&bytes), Some(MediaType::Aac));
        for name in ["aac", "mp3"] {
            assert!(decode(name, bytes.clone()).unwrap().samples[1024..] == expected, "{name}");
        }
    }
}
