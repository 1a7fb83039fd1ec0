//! Every kind of file against the signal it was made from, and every way a file can be broken.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "signals of known size"
)]

use std::{f64::consts::TAU, path::Path};

use super::*;

/// Of the fixtures: training/fixtures/audio.py.
const CHIRP_SECONDS: f64 = 0.75;

pub(super) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/audio");
    std::fs::read(folder.join(name)).unwrap()
}

fn upload(name: &str, bytes: Vec<u8>) -> Upload {
    let media_type = if name.ends_with("mp3") { MediaType::Mp3 } else { MediaType::Wav };
    Upload { media_type, bytes: bytes.into() }
}

pub(super) struct Decoded {
    pub(super) samples: Vec<f32>,
    warnings: Vec<String>,
}

pub(super) fn decode(name: &str, bytes: Vec<u8>) -> Result<Decoded, Undecodable> {
    let mut audio = Audio::open(upload(name, bytes), &AudioLimits::default())?;
    let mut samples = Vec::new();
    while let Some(piece) = audio.next()? {
        assert!((1..=PIECE).contains(&piece.len()));
        samples.extend(piece);
        assert!((audio.seconds() - samples.len() as f64 / 16_000.0).abs() < 1e-5);
    }
    assert!(audio.next()?.is_none());
    assert!(samples.iter().all(|x| x.is_finite()));
    Ok(Decoded { samples, warnings: audio.warnings().to_vec() })
}

fn code_of(name: &str, bytes: Vec<u8>) -> &'static str {
    decode(name, bytes).err().map_or("decoded", |e| e.code)
}

/// The fixtures' signal; of length `seconds`.
fn chirp(seconds: f64, rate: f64) -> Vec<f32> {
    let n = (seconds * rate).round() as usize;
    let sample = |n: usize| {
        let t = n as f64 / rate;
        let phase = TAU * (150.0 * t + 1550.0 * t * t / 2.0 / CHIRP_SECONDS);
        (0.5 * (0.6 + 0.4 * (TAU * 4.0 * t).sin()) * phase.sin()) as f32
    };
    (0..n).map(sample).collect()
}

/// How late `decoded` is after `meant`, in samples of at most 100, and how well they agree there.
fn agreement(decoded: &[f32], meant: &[f32]) -> (i64, f64) {
    let at = |lag: i64| {
        let (mut hm, mut hh, mut mm) = (0.0, 1e-12, 1e-12);
        for (n, &m) in meant.iter().enumerate().step_by(4) {
            let Some(&h) = usize::try_from(n as i64 + lag).ok().and_then(|n| decoded.get(n)) else {
                continue;
            };
            let (h, m) = (f64::from(h), f64::from(m));
            (hm, hh, mm) = (hm + h * m, hh + h * h, mm + m * m);
        }
        hm / (hh * mm).sqrt()
    };
    let lags = (-100..=100).map(|lag| (lag, at(lag)));
    lags.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

/// Level of what is there, root mean square.
fn level(samples: &[f32]) -> f64 {
    let sum: f64 = samples.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    (sum / samples.len() as f64).sqrt()
}

/// That the file holds the chirp: in time to 1 ms, of the right length to 3 ms and about as loud (LAME takes 5 % off).
#[track_caller]
fn assert_chirp(name: &str, bytes: Vec<u8>, min_correlation: f64) -> Vec<String> {
    let decoded = decode(name, bytes).unwrap();
    let meant = chirp(CHIRP_SECONDS, 16_000.0);
    let (lag, correlation) = agreement(&decoded.samples, &meant);
    assert!(lag.abs() <= 16, "{name}: {lag} samples late");
    assert!(correlation > min_correlation, "{name}: {correlation}");
    let n_more = decoded.samples.len() as i64 - meant.len() as i64;
    assert!(n_more.abs() <= 48, "{name}: {n_more} samples too many");
    let ratio = level(&decoded.samples) / level(&meant);
    assert!((0.94..=1.05).contains(&ratio), "{name}: {ratio} times as loud");
    decoded.warnings
}

/// Little-endian PCM of 16 bits, one channel, after a header of 44 bytes.
fn plain(wav: &[u8]) -> Vec<f32> {
    let (samples, _) = wav[44..].as_chunks();
    samples.iter().map(|&s| f32::from(i16::from_le_bytes(s)) / 32_768.0).collect()
}

#[test]
fn every_mp3_is_heard_in_time_and_length() {
    for name in [
        "mono-22k-vbr.mp3",
        "joint-44k-64kbps.mp3",
        "stereo-48k-128kbps-crc.mp3",
        "stereo-44k-320kbps.mp3",
        "id3-picture.mp3",
    ] {
        assert_eq!(assert_chirp(name, fixture(name), 0.99), [""; 0], "{name}");
    }
}

#[test]
fn an_mp3_without_a_tag_is_heard_as_players_play_it() {
    // LAME is 576 samples late and decoders 529, and nothing in these files says so.
    let late = |rate: f64| (1105.0 * 16_000.0 / rate) as usize;
    for (name, rate, seconds) in [
        ("mono-8k.mp3", 8_000.0, CHIRP_SECONDS),
        ("mono-11k-16kbps.mp3", 11_025.0, CHIRP_SECONDS),
        ("mono-16k-24kbps.mp3", 16_000.0, CHIRP_SECONDS),
        ("mono-32k-untagged.mp3", 32_000.0, CHIRP_SECONDS),
        ("every-bit-rate-mpeg-1.mp3", 44_100.0, 1.0),
        ("every-bit-rate-mpeg-2.mp3", 24_000.0, 0.9),
    ] {
        let decoded = decode(name, fixture(name)).unwrap();
        assert_eq!(decoded.warnings, [""; 0], "{name}");
        let (lag, correlation) = agreement(&decoded.samples[late(rate)..], &chirp(seconds, 16_000.0));
        assert!(lag.abs() <= 16, "{name}: {lag} samples late");
        assert!(correlation > 0.97, "{name}: {correlation}");
    }
}

#[test]
fn speech_is_the_same_from_mp3_and_wav() {
    let meant = plain(&fixture("greeting.wav"));
    assert_eq!(decode("greeting.wav", fixture("greeting.wav")).unwrap().samples, meant);
    let decoded = decode("greeting.mp3", fixture("greeting.mp3")).unwrap().samples;
    let (lag, correlation) = agreement(&decoded, &meant);
    assert!(lag.abs() <= 16 && correlation > 0.97, "{lag} samples late, {correlation}");
    assert!(decoded.len().abs_diff(meant.len()) <= 48);
}

#[test]
fn every_codec_in_a_wav_is_heard_in_time_and_length() {
    for (name, min_correlation) in [
        ("chirp.wav", 0.9999),
        ("a-law.wav", 0.99),
        ("mu-law.wav", 0.99),
        ("ima-adpcm.wav", 0.99),
        ("ms-adpcm.wav", 0.99),
        ("float.wav", 0.99),
        ("extensible-24bit.wav", 0.999),
    ] {
        assert_eq!(assert_chirp(name, fixture(name), min_correlation), [""; 0], "{name}");
    }
    for (name, block) in [("ima-adpcm-stereo.wav", 505 * 16_000 / 11_025), ("ms-adpcm-stereo.wav", 2 * 500)] {
        let decoded = decode(name, fixture(name)).unwrap().samples;
        let (lag, correlation) = agreement(&decoded, &chirp(CHIRP_SECONDS, 16_000.0));
        assert!(lag.abs() <= 16 && correlation > 0.98, "{name}: {lag} samples late, {correlation}");
        // These do not say how much of the last block is sound.
        assert!((12_000..12_000 + block).contains(&decoded.len()), "{name}: {} samples", decoded.len());
    }
}

/// A wav file's format: tag, channels, rate, bits.
type Kind = (u16, u16, u32, u16);

fn chunk(id: &[u8], n_said: u32, body: &[u8]) -> Vec<u8> {
    let filling: &[u8] = if body.len() % 2 == 1 { &[0] } else { &[] };
    [id, &n_said.to_le_bytes(), body, filling].concat()
}

fn whole(id: &[u8], body: &[u8]) -> Vec<u8> {
    chunk(id, u32::try_from(body.len()).unwrap(), body)
}

fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let body = [b"WAVE".to_vec(), chunks.concat()].concat();
    whole(b"RIFF", &body)
}

fn format((tag, n_channels, rate, bits): Kind) -> Vec<u8> {
    let block = n_channels * bits / 8;
    let mut body = [tag.to_le_bytes(), n_channels.to_le_bytes()].concat();
    body.extend([rate, rate * u32::from(block)].map(u32::to_le_bytes).concat());
    body.extend([block, bits].map(u16::to_le_bytes).concat());
    whole(b"fmt ", &body)
}

/// The chirp's samples in the format.
fn samples((tag, n_channels, rate, bits): Kind) -> Vec<u8> {
    let mut data = Vec::new();
    for x in chirp(CHIRP_SECONDS, f64::from(rate)) {
        let x = f64::from(x);
        for channel in 0..n_channels {
            // Of two channels next to each other the mean is the chirp.
            let x = if channel + 1 == n_channels && channel % 2 == 0 {
                x
            } else {
                x * if channel % 2 == 0 { 1.5 } else { 0.5 }
            };
            match (tag, bits) {
                (1, 8) => data.push((x * 127.0 + 128.0) as u8),
                (1, _) => {
                    let full = (x * 2_147_483_647.0) as i32;
                    data.extend(&full.to_le_bytes()[4 - usize::from(bits) / 8..]);
                }
                (3, 32) => data.extend((x as f32).to_le_bytes()),
                _ => data.extend(x.to_le_bytes()),
            }
        }
    }
    data
}

fn wav(kind: Kind) -> Vec<u8> {
    riff(&[format(kind), whole(b"data", &samples(kind))])
}

#[test]
fn every_depth_and_number_of_channels_of_a_wav_is_heard() {
    for (tag, bits) in [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)] {
        for n_channels in [1, 2, 3, 8] {
            let name = format!("{bits} bits of kind {tag}, {n_channels} channels.wav");
            assert_chirp(&name, wav((tag, n_channels, 16_000, bits)), 0.999);
        }
    }
}

#[test]
fn every_rate_is_heard_in_time_and_length() {
    for rate in [4_000, 8_000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] {
        assert_chirp(&format!("{rate}.wav"), wav((1, 1, rate, 16)), 0.995);
    }
    // A filter of odd length is half a sample of the file off.
    for rate in [6_001, 15_999, 191_999] {
        assert_chirp(&format!("{rate}.wav"), wav((1, 1, rate, 16)), 0.98);
    }
    assert_chirp("176400.wav", wav((1, 1, 176_400, 16)), 0.995);
    assert_chirp("192000.wav", wav((3, 2, 192_000, 32)), 0.995);
}

#[test]
fn what_16_khz_cannot_hold_does_not_fold_back() {
    let tone: Vec<u8> = (0..48_000)
        .flat_map(|n| ((TAU * 11_000.0 * f64::from(n) / 48_000.0).sin() as f32).to_le_bytes())
        .collect();
    let decoded = decode("tone.wav", riff(&[format((3, 1, 48_000, 32)), whole(b"data", &tone)])).unwrap();
    assert!(level(&decoded.samples[500..15_500]) < 1e-3, "{}", level(&decoded.samples));
}

#[test]
fn samples_that_are_no_numbers_are_silence() {
    let data = [f32::NAN, f32::INFINITY, 1e30, 0.5].repeat(1000);
    let data: Vec<u8> = data.into_iter().flat_map(f32::to_le_bytes).collect();
    let decoded = decode("nan.wav", riff(&[format((3, 1, 16_000, 32)), whole(b"data", &data)])).unwrap();
    assert_eq!(decoded.samples, [0.0, 0.0, 0.0, 0.5].repeat(1000));
    assert_eq!(decoded.warnings, ["3000 samples are no usable numbers and became silence"]);
}

#[test]
fn a_wav_is_heard_whatever_its_lengths_say() {
    const KIND: Kind = (1, 1, 16_000, 16);
    let (format, data) = (format(KIND), samples(KIND));
    let list = whole(b"LIST", b"INFOISFT\x05\0\0\0chirp\0");
    let n = u32::try_from(data.len()).unwrap();
    let unfilled = [b"note".as_slice(), &3_u32.to_le_bytes(), b"odd"].concat();
    let mut large = riff(&[
        whole(b"ds64", &[[0; 8], u64::from(n).to_le_bytes(), [0; 8], [0; 8]].concat()),
        format.clone(),
        chunk(b"data", u32::MAX, &data),
        list.clone(),
    ]);
    large[..4].copy_from_slice(b"RF64");
    for (name, bytes) in [
        ("left open.wav", riff(&[format.clone(), chunk(b"data", u32::MAX, &data)])),
        ("nought.wav", riff(&[format.clone(), chunk(b"data", 0, &data)])),
        ("sox's.wav", riff(&[format.clone(), chunk(b"data", 0x7fff_f000, &data)])),
        ("stale.wav", riff(&[format.clone(), chunk(b"data", 100, &data)])),
        ("list before.wav", riff(&[list.clone(), format.clone(), list.clone(), whole(b"data", &data)])),
        ("list after.wav", riff(&[format.clone(), whole(b"data", &data), list.clone()])),
        ("odd chunk.wav", riff(&[whole(b"note", b"odd"), format.clone(), whole(b"data", &data)])),
        ("odd chunk, unfilled.wav", riff(&[unfilled, format.clone(), whole(b"data", &data)])),
        ("data first.wav", riff(&[whole(b"data", &data), format.clone()])),
        ("rf64.wav", large),
    ] {
        assert_eq!(assert_chirp(name, bytes, 0.9999), [""; 0], "{name}");
    }
    let garbage = riff(&[format.clone(), whole(b"data", &data), vec![0xee; 98]]);
    let expected = ["98 bytes after the last sample are no sound and were skipped"];
    assert_eq!(assert_chirp("garbage.wav", garbage, 0.9999), expected);
    let long = decode("cut.wav", riff(&[format, chunk(b"data", 2 * n, &data)])).unwrap();
    assert_eq!(long.warnings, ["the file ends after 0.750 s of the 1.500 s its header tells of"]);
    assert_eq!(long.samples.len(), 12_000);
}

#[test]
fn a_file_cut_off_is_heard_up_to_there() {
    for name in ["ms-adpcm.wav", "ima-adpcm-stereo.wav", "extensible-24bit.wav", "mono-22k-vbr.mp3"] {
        let mut bytes = fixture(name);
        bytes.truncate(bytes.len() / 2);
        let decoded = decode(name, bytes).unwrap();
        let seconds = decoded.samples.len() as f64 / 16_000.0;
        assert!((0.25..0.5).contains(&seconds), "{name}: {seconds} s");
        let (lag, correlation) = agreement(&decoded.samples, &chirp(seconds - 0.05, 16_000.0));
        assert!(lag.abs() <= 16 && correlation > 0.95, "{name}: {lag}, {correlation}");
        let expected = format!("the file ends after {seconds:.2}");
        assert!(decoded.warnings[0].starts_with(&expected[..expected.len() - 1]), "{:?}", decoded.warnings);
    }
    let mut bytes = fixture("mono-32k-untagged.mp3");
    bytes.truncate(2000);
    let decoded = decode("mp3", bytes).unwrap();
    assert!(
        decoded.warnings[0].starts_with("the file ends within a frame, after 0."),
        "{:?}",
        decoded.warnings
    );
}

#[test]
fn broken_frames_become_silence_of_their_length() {
    let whole = fixture("stereo-44k-320kbps.mp3"); // frames of 1044 and 1045 bytes
    let meant = decode("mp3", whole.clone()).unwrap().samples;
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
        assert_eq!(decoded.samples.len(), meant.len(), "{what}");
        assert!(!decoded.warnings.is_empty(), "{what}");
        // 0.1 s at the end is what it was: in time.
        let end = meant.len() - 1600..meant.len();
        let (lag, correlation) = agreement(&decoded.samples[end.clone()], &meant[end]);
        assert!(lag == 0 && correlation > 0.999, "{what}: {lag}, {correlation}");
    }
    let mut bytes = fixture("ms-adpcm.wav");
    let at = bytes.len() - 256 * 3;
    bytes[at] = 99; // a predictor there is not
    let decoded = decode("wav", bytes).unwrap();
    assert_eq!(decoded.samples.len(), 12_000);
    assert!(decoded.warnings[0].contains("could not be decoded"), "{:?}", decoded.warnings);
}

#[test]
fn what_lies_around_an_mp3_is_skipped() {
    let whole = fixture("mono-22k-vbr.mp3");
    let garbage = b"\xff\xfb\x90\x64HTTP/1.1 200 OK\r\n\xff\xf3".repeat(20);
    let warnings = assert_chirp("mp3", [garbage.clone(), whole.clone()].concat(), 0.99);
    assert_eq!(warnings, ["460 bytes before the first frame are no sound and were skipped"]);
    let warnings = assert_chirp("mp3", [whole.clone(), garbage].concat(), 0.99);
    assert_eq!(warnings, ["460 bytes after the last frame are no sound and were skipped"]);
    let ape = [b"APETAGEX\xd0\x07\0\0\x20\0\0\0".as_slice(), &[0; 48]].concat();
    assert_eq!(assert_chirp("mp3", [whole.clone(), ape].concat(), 0.99), [""; 0]);
    assert_eq!(assert_chirp("mp3", [whole, vec![0; 1000]].concat(), 0.99), [""; 0]);
}

#[test]
fn fraunhofers_tag_is_no_sound() {
    let whole = fixture("mono-32k-untagged.mp3");
    let meant = decode("mp3", whole.clone()).unwrap().samples;
    let mut tag = whole[..144].to_vec();
    tag[4..].fill(0);
    tag[36..42].copy_from_slice(b"VBRI\0\x01");
    tag[53] = 23; // frames
    let decoded = decode("mp3", [tag, whole].concat()).unwrap();
    assert_eq!(decoded.samples.len(), meant.len());
}

#[test]
fn a_stream_may_change_between_mono_and_stereo() {
    let joined = [fixture("joint-44k-64kbps.mp3"), fixture("every-bit-rate-mpeg-1.mp3")].concat();
    let decoded = decode("mp3", joined).unwrap();
    assert!(decoded.samples.len() > 28_000);
    assert!(level(&decoded.samples[14_000..]) > 0.1);
}

#[test]
fn what_is_no_audio_is_refused_with_a_reason() {
    const KIND: Kind = (1, 1, 16_000, 16);
    let data = whole(b"data", &[0; 64]);
    let id3_alone = fixture("id3-picture.mp3")[..20_000].to_vec();
    for (expected, name, bytes) in [
        ("undecodable", "mp3", Vec::new()),
        ("undecodable", "mp3", vec![0xff, 0xfb, 0x90, 0x64]),
        ("undecodable", "mp3", b"ID3 and no more, and nothing that is a frame".to_vec()),
        ("undecodable", "mp3", id3_alone),
        ("undecodable", "mp3", wav(KIND)),
        ("undecodable", "wav", Vec::new()),
        ("undecodable", "wav", fixture("mono-8k.mp3")),
        ("undecodable", "wav", riff(&[])),
        ("undecodable", "wav", riff(std::slice::from_ref(&data))),
        ("undecodable", "wav", riff(&[format(KIND)])),
        ("undecodable", "wav", riff(&[format((1, 0, 16_000, 16)), data.clone()])),
        ("undecodable", "wav", riff(&[format((1, 1, 0, 16)), data.clone()])),
        ("undecodable", "wav", riff(&[format((2, 1, 8_000, 16)), data.clone()])),
        ("empty_audio", "wav", riff(&[format(KIND), whole(b"data", b"")])),
        ("empty_audio", "wav", riff(&[format(KIND), whole(b"data", b"\x01")])),
        ("unsupported_codec", "wav", fixture("gsm-inside.wav")),
        ("unsupported_codec", "wav", fixture("mp3-inside.wav")),
        ("unsupported_codec", "wav", riff(&[format((0x704f, 2, 48_000, 0)), data.clone()])),
        ("too_many_channels", "wav", riff(&[format((1, 9, 16_000, 16)), data.clone()])),
        ("unsupported_rate", "wav", riff(&[format((1, 1, 3_999, 16)), data.clone()])),
        ("unsupported_rate", "wav", riff(&[format((1, 1, 192_001, 16)), data])),
    ] {
        assert_eq!(code_of(name, bytes.clone()), expected, "{name} of {} bytes", bytes.len());
    }
    let refused = decode("wav", fixture("gsm-inside.wav")).err().unwrap();
    assert_eq!(refused.detail, "the wav file holds GSM 6.10, which is not read");
    let picture = Upload { media_type: MediaType::Png, bytes: Vec::new().into() };
    assert_eq!(Audio::open(picture, &AudioLimits::default()).err().unwrap().code, "undecodable");
}

#[test]
fn a_recording_that_is_too_long_is_refused_before_it_is_decoded() {
    let limits = AudioLimits { max_seconds: 1, ..AudioLimits::default() };
    let open = |name: &str, bytes| Audio::open(upload(name, bytes), &limits).err();
    assert!(open("mp3", fixture("mono-8k.mp3")).is_none());
    for (name, detail) in [("greeting.wav", "1.5"), ("greeting.mp3", "1.5")] {
        let refused = open(name, fixture(name)).unwrap();
        assert_eq!(refused.code, "too_long");
        let expected = format!("the recording lasts at least {detail} s, at most 1 s are read");
        assert_eq!(refused.detail, expected);
    }
}

const fn is_send<T: Send>() {}
const _: () = is_send::<Audio>();

#[test]
fn a_long_recording_is_never_whole_in_memory() {
    // Ten minutes.
    let frame = fixture("mono-8k.mp3")[72..144].to_vec();
    let bytes = frame.repeat(600 * 8000 / 576);
    let mut audio = Audio::open(upload("mp3", bytes), &AudioLimits::default()).unwrap();
    let mut n = 0;
    while let Some(piece) = audio.next().unwrap() {
        n += piece.len();
        assert!(audio.ready.capacity() + audio.mono.capacity() < 4 * PIECE);
    }
    assert!(n.abs_diff(600 * PIECE) < 1152, "{n}");
}

#[test]
fn a_block_that_grows_beyond_all_numbers_is_no_panic() {
    let mut bytes = fixture("ms-adpcm.wav");
    let n = bytes.len();
    bytes[n - 1000..].fill(0x88); // three times as loud with every sample
    assert_eq!(decode("wav", bytes).unwrap().samples.len(), 12_000);
}
