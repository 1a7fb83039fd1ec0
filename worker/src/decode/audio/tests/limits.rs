//! Files that are refused, the limits on a recording, and the memory that decoding takes.

use akhar_requests::{MediaType, Upload};

use super::{
    super::{Audio, AudioLimits, Channels, PIECE, reader::tests::on_disk},
    decode, fixture, upload,
    wav_file::{Format, chunk, format, riff},
};
use crate::decode::job_file::{Content, JobFile};

fn code_of(name: &str, bytes: Vec<u8>) -> &'static str {
    decode(name, bytes).err().map_or("decoded", |e| e.code)
}

#[test]
fn files_that_are_not_supported_audio_are_refused_with_a_reason() {
    const KIND: Format = (1, 1, 16_000, 16);
    let data = chunk(b"data", &[0; 64]);
    let id3_alone = fixture("id3-picture.mp3")[..20_000].to_vec();
    let mut of_a_free_rate = fixture("mono-16k-24kbps.mp3");
    let frames: Vec<usize> =
        (0..of_a_free_rate.len()).filter(|&at| of_a_free_rate[at..].starts_with(b"\xff\xf3")).collect();
    for at in frames {
        of_a_free_rate[at + 2] &= 0x0f;
    }
    for (expected, name, bytes) in [
        ("undecodable", "mp3", Vec::new()),
        ("undecodable", "mp3", vec![0xff, 0xfb, 0x90, 0x64]),
        ("undecodable", "mp3", b"ID3 with no size after it and no frame".to_vec()),
        ("undecodable", "mp3", id3_alone),
        ("unsupported_codec", "mp3", of_a_free_rate),
        ("undecodable", "wav", Vec::new()),
        ("undecodable", "wav", fixture("mono-8k.mp3")),
        ("undecodable", "wav", riff(&[])),
        ("undecodable", "wav", riff(std::slice::from_ref(&data))),
        ("undecodable", "wav", riff(&[format(KIND)])),
        ("undecodable", "wav", riff(&[format((1, 0, 16_000, 16)), data.clone()])),
        ("undecodable", "wav", riff(&[format((1, 1, 0, 16)), data.clone()])),
        ("undecodable", "wav", riff(&[format((2, 1, 8_000, 16)), data.clone()])),
        ("empty_audio", "wav", riff(&[format(KIND), chunk(b"data", b"")])),
        ("empty_audio", "wav", riff(&[format(KIND), chunk(b"data", b"\x01")])),
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
    assert_eq!(
        refused.detail,
        "the wav file's codec, GSM 6.10, is not supported: convert the recording to PCM or send it as mp3"
    );
    let picture = Upload { media_type: MediaType::Png, bytes: Vec::new().into() };
    assert_eq!(
        Audio::open(picture.into(), &AudioLimits::default(), Channels::Mixed).err().unwrap().code,
        "undecodable"
    );
}

#[test]
fn a_recording_that_is_too_long_is_refused_before_it_is_decoded() {
    let limits = AudioLimits { max_seconds: 1, ..AudioLimits::default() };
    let open = |name: &str, bytes| Audio::open(upload(name, bytes).into(), &limits, Channels::Mixed).err();
    assert!(open("mp3", fixture("mono-8k.mp3")).is_none());
    for name in ["greeting.wav", "greeting.mp3"] {
        let refused = open(name, fixture(name)).unwrap();
        assert_eq!(refused.code, "too_long");
        let expected =
            "the recording is at least 1.5 s long, but at most 1 s are allowed: send it in shorter parts";
        assert_eq!(refused.detail, expected);
    }
}

#[test]
fn a_recording_on_disk_may_last_four_hours() {
    let frame = &fixture("mono-8k.mp3")[72..144]; // 72 ms
    let open = |seconds: usize, is_on_disk| {
        let bytes = frame.repeat(seconds * 1000 / 72);
        let content = if is_on_disk { on_disk(&bytes) } else { Content::Memory(bytes.into()) };
        let file = JobFile { media_type: MediaType::Mp3, content };
        let limits = AudioLimits::of(&file);
        Audio::open(file, &limits, Channels::Mixed)
            .map_or_else(|refused| refused.detail, |_| "opened".to_owned())
    };
    assert_eq!(open(3599, false), "opened");
    assert!(open(3601, false).contains("at most 3600 s are allowed"));
    assert_eq!(open(4 * 3600 - 1, true), "opened");
    assert!(open(4 * 3600 + 1, true).contains("at most 14400 s are allowed"));
}

// The decoding thread takes the opened file along.
const fn is_send<T: Send>() {}
const _: () = is_send::<Audio>();

#[test]
fn only_a_few_seconds_of_a_long_recording_are_in_memory() {
    let frame = fixture("mono-8k.mp3")[72..144].to_vec();
    let bytes = frame.repeat(600 * 8000 / 576); // ten minutes
    let mut audio =
        Audio::open(upload("mp3", bytes).into(), &AudioLimits::default(), Channels::Mixed).unwrap();
    let mut n = 0;
    while let Some(piece) = audio.next().unwrap() {
        n += piece[0].len();
        assert!(audio.tracks[0].ready.capacity() + audio.mixer.n_frames() < 4 * PIECE);
    }
    assert!(n.abs_diff(600 * PIECE) < 1152, "{n}");
}
