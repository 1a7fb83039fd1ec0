//! Damaged files: wrong lengths in headers, files that are cut off, broken frames, bytes that are not sound.

use super::{
    assert_chirp, chirp, decode, delay_and_correlation, fixture,
    wav_file::{Format, chunk, chunk_declaring, format, riff, samples},
};

#[test]
fn samples_that_are_not_finite_or_too_large_become_silence() {
    let data = [f32::NAN, f32::INFINITY, 1e30, 0.5].repeat(1000);
    let data: Vec<u8> = data.into_iter().flat_map(f32::to_le_bytes).collect();
    let decoded = decode("nan.wav", riff(&[format((3, 1, 16_000, 32)), chunk(b"data", &data)])).unwrap();
    assert_eq!(decoded.samples, [0.0, 0.0, 0.0, 0.5].repeat(1000));
    assert_eq!(
        decoded.warnings,
        ["3000 samples are not finite or far too large and were replaced by silence"]
    );
}

#[test]
fn a_file_without_a_finite_sample_is_not_decoded() {
    for sample in [f32::NAN, f32::NEG_INFINITY, 1e30] {
        let data: Vec<u8> = vec![sample; 40_000].into_iter().flat_map(f32::to_le_bytes).collect();
        let decoded = decode("nan.wav", riff(&[format((3, 2, 16_000, 32)), chunk(b"data", &data)]));
        let undecodable = decoded.err().expect("an error");
        assert!(undecodable.detail.contains("not finite"), "{}", undecodable.detail);
    }
}

#[test]
fn a_wav_with_wrong_lengths_in_its_headers_decodes() {
    const KIND: Format = (1, 1, 16_000, 16);
    let (format, data) = (format(KIND), samples(KIND));
    let list = chunk(b"LIST", b"INFOISFT\x05\0\0\0chirp\0");
    let n = u32::try_from(data.len()).unwrap();
    let unpadded = [b"note".as_slice(), &3_u32.to_le_bytes(), b"odd"].concat();
    let mut large = riff(&[
        chunk(b"ds64", &[[0; 8], u64::from(n).to_le_bytes(), [0; 8], [0; 8]].concat()),
        format.clone(),
        chunk_declaring(b"data", u32::MAX, &data),
        list.clone(),
    ]);
    large[..4].copy_from_slice(b"RF64");
    for (name, bytes) in [
        ("open length.wav", riff(&[format.clone(), chunk_declaring(b"data", u32::MAX, &data)])),
        ("length 0.wav", riff(&[format.clone(), chunk_declaring(b"data", 0, &data)])),
        (
            "length of sox when streaming.wav",
            riff(&[format.clone(), chunk_declaring(b"data", 0x7fff_f000, &data)]),
        ),
        ("length not updated.wav", riff(&[format.clone(), chunk_declaring(b"data", 100, &data)])),
        ("list before.wav", riff(&[list.clone(), format.clone(), list.clone(), chunk(b"data", &data)])),
        ("list after.wav", riff(&[format.clone(), chunk(b"data", &data), list.clone()])),
        ("odd chunk.wav", riff(&[chunk(b"note", b"odd"), format.clone(), chunk(b"data", &data)])),
        ("odd chunk without padding.wav", riff(&[unpadded, format.clone(), chunk(b"data", &data)])),
        ("data first.wav", riff(&[chunk(b"data", &data), format.clone()])),
        ("rf64.wav", large),
    ] {
        assert_eq!(assert_chirp(name, bytes, 0.9999), [""; 0], "{name}");
    }
    let garbage = riff(&[format.clone(), chunk(b"data", &data), vec![0xee; 98]]);
    let expected = ["98 bytes after the last sample are not sound and were skipped"];
    assert_eq!(assert_chirp("garbage.wav", garbage, 0.9999), expected);
    let long = decode("cut.wav", riff(&[format, chunk_declaring(b"data", 2 * n, &data)])).unwrap();
    assert_eq!(long.warnings, ["the file is cut off: it has 0.750 s of sound, but its header says 1.500 s"]);
    assert_eq!(long.samples.len(), 12_000);
}

#[test]
fn the_data_chunks_of_a_wav_are_one_sound() {
    const KIND: Format = (1, 1, 16_000, 16);
    let data = samples(KIND);
    let (start, end) = data.split_at(10_000);
    let list = chunk(b"LIST", b"INFOISFT\x05\0\0\0chirp\0");
    for (name, bytes) in [
        ("two.wav", riff(&[format(KIND), chunk(b"data", start), chunk(b"data", end)])),
        ("list between.wav", riff(&[format(KIND), chunk(b"data", start), list, chunk(b"data", end)])),
        (
            "empty ones.wav",
            riff(
                &[[format(KIND)].as_slice(), &vec![chunk(b"data", b""); 9], &[chunk(b"data", &data)]]
                    .concat(),
            ),
        ),
    ] {
        assert_eq!(assert_chirp(name, bytes, 0.9999), [""; 0], "{name}");
    }
    let n = u32::try_from(end.len()).unwrap();
    let cut = riff(&[format(KIND), chunk(b"data", start), chunk_declaring(b"data", n + 32_000, end)]);
    let decoded = decode("cut.wav", cut).unwrap();
    assert_eq!(decoded.samples.len(), 12_000);
    assert_eq!(
        decoded.warnings,
        ["the file is cut off: it has 0.750 s of sound, but its header says 1.750 s"]
    );
}

#[test]
fn a_file_that_is_cut_off_decodes_up_to_the_cut() {
    for name in ["ms-adpcm.wav", "ima-adpcm-stereo.wav", "extensible-24bit.wav", "mono-22k-vbr.mp3"] {
        let mut bytes = fixture(name);
        bytes.truncate(bytes.len() / 2);
        let decoded = decode(name, bytes).unwrap();
        let seconds = decoded.samples.len() as f64 / 16_000.0;
        assert!((0.25..0.5).contains(&seconds), "{name}: {seconds} s");
        let (lag, correlation) = delay_and_correlation(&decoded.samples, &chirp(seconds - 0.05, 16_000.0));
        assert!(
            lag.abs() <= 16 && correlation > 0.95,
            "{name}: {lag} samples late, correlation {correlation}"
        );
        let expected = format!("the file is cut off: it has {seconds:.2}");
        assert!(decoded.warnings[0].starts_with(&expected[..expected.len() - 1]), "{:?}", decoded.warnings);
    }
    let mut bytes = fixture("mono-32k-untagged.mp3");
    bytes.truncate(2000);
    let decoded = decode("mp3", bytes).unwrap();
    assert!(
        decoded.warnings[0].starts_with("the file is cut off in the middle of a frame, after 0."),
        "{:?}",
        decoded.warnings
    );
}

#[test]
fn broken_frames_become_silence_of_the_same_length() {
    let whole = fixture("stereo-44k-320kbps.mp3"); // frames of 1044 and 1045 bytes
    let expected = decode("mp3", whole.clone()).unwrap().samples;
    let frame = whole.windows(4).enumerate().skip(10_000).find(|(_, w)| w[..2] == [0xff, 0xfb]).unwrap().0;
    for (what, edit) in [
        ("a header", 0..4),
        ("what follows a header", 4..36),
        ("a frame", 0..1044),
        ("two frames and a half", 0..2600),
    ] {
        let mut bytes = whole.clone();
        bytes[frame + edit.start..frame + edit.end].fill(0xaa);
        let decoded = decode("mp3", bytes).unwrap();
        assert_eq!(decoded.samples.len(), expected.len(), "{what}");
        assert!(!decoded.warnings.is_empty(), "{what}");
        // The last 0.1 s is unchanged, so the silence has the length of the broken frames.
        let end = expected.len() - 1600..expected.len();
        let (lag, correlation) = delay_and_correlation(&decoded.samples[end.clone()], &expected[end]);
        assert!(lag == 0 && correlation > 0.999, "{what}: {lag} samples late, correlation {correlation}");
    }
    let mut bytes = fixture("ms-adpcm.wav");
    let at = bytes.len() - 256 * 3;
    bytes[at] = 99; // the index of a predictor that does not exist
    let decoded = decode("wav", bytes).unwrap();
    assert_eq!(decoded.samples.len(), 12_000);
    assert!(decoded.warnings[0].contains("could not be decoded"), "{:?}", decoded.warnings);
}

#[test]
fn bytes_before_and_after_the_frames_of_an_mp3_are_skipped() {
    let whole = fixture("mono-22k-vbr.mp3");
    let garbage = b"\xff\xfb\x90\x64HTTP/1.1 200 OK\r\n\xff\xf3".repeat(20);
    let warnings = assert_chirp("mp3", [garbage.clone(), whole.clone()].concat(), 0.99);
    assert_eq!(warnings, ["460 bytes before the first frame are not sound and were skipped"]);
    let warnings = assert_chirp("mp3", [whole.clone(), garbage].concat(), 0.99);
    assert_eq!(warnings, ["460 bytes after the last frame are not sound and were skipped"]);
    let ape = [b"APETAGEX\xd0\x07\0\0\x20\0\0\0".as_slice(), &[0; 48]].concat();
    assert_eq!(assert_chirp("mp3", [whole.clone(), ape].concat(), 0.99), [""; 0]);
    assert_eq!(assert_chirp("mp3", [whole, vec![0; 1000]].concat(), 0.99), [""; 0]);
}

#[test]
fn a_fraunhofer_tag_is_not_decoded_as_sound() {
    let whole = fixture("mono-32k-untagged.mp3");
    let expected = decode("mp3", whole.clone()).unwrap().samples;
    let mut tag = whole[..144].to_vec();
    tag[4..].fill(0);
    tag[36..42].copy_from_slice(b"VBRI\0\x01");
    tag[53] = 23; // frames
    let decoded = decode("mp3", [tag, whole].concat()).unwrap();
    assert_eq!(decoded.samples.len(), expected.len());
}

#[test]
fn an_adpcm_block_whose_samples_overflow_does_not_panic() {
    let mut bytes = fixture("ms-adpcm.wav");
    let n = bytes.len();
    bytes[n - 1000..].fill(0x88); // every code multiplies the step size by three
    assert_eq!(decode("wav", bytes).unwrap().samples.len(), 12_000);
}
