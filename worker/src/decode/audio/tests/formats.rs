//! Every supported codec, sampling rate, sample size and number of channels.

use std::f64::consts::TAU;

use super::{
    Audio, AudioLimits, CHIRP_SECONDS, Channels, assert_chirp, chirp, decode, delay_and_correlation, fixture,
    level, upload,
    wav_file::{chunk, format, riff, wav},
};

/// The samples of a wav file with a header of 44 bytes and one channel of 16-bit little-endian PCM.
fn read_pcm16(wav: &[u8]) -> Vec<f32> {
    let (samples, _) = wav[44..].as_chunks();
    samples.iter().map(|&s| f32::from(i16::from_le_bytes(s)) / 32_768.0).collect()
}

#[test]
fn tagged_mp3_files_decode_without_delay_and_with_the_right_length() {
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
fn an_mp3_without_a_tag_keeps_the_delay_of_encoder_and_decoder() {
    // LAME delays the sound by 576 samples and a decoder by 529. Without a tag, the files do not declare the
    // delay, and players keep it too.
    let delay = |rate: f64| (1105.0 * 16_000.0 / rate) as usize;
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
        let (lag, correlation) =
            delay_and_correlation(&decoded.samples[delay(rate)..], &chirp(seconds, 16_000.0));
        assert!(lag.abs() <= 16, "{name}: {lag} samples late");
        assert!(correlation > 0.97, "{name}: correlation {correlation}");
    }
}

#[test]
fn mp3_and_wav_of_the_same_speech_decode_to_the_same_samples() {
    let expected = read_pcm16(&fixture("greeting.wav"));
    assert_eq!(decode("greeting.wav", fixture("greeting.wav")).unwrap().samples, expected);
    let decoded = decode("greeting.mp3", fixture("greeting.mp3")).unwrap().samples;
    let (lag, correlation) = delay_and_correlation(&decoded, &expected);
    assert!(lag.abs() <= 16 && correlation > 0.97, "{lag} samples late, correlation {correlation}");
    assert!(decoded.len().abs_diff(expected.len()) <= 48);
}

#[test]
fn every_wav_codec_decodes_without_delay_and_with_the_right_length() {
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
        let (lag, correlation) = delay_and_correlation(&decoded, &chirp(CHIRP_SECONDS, 16_000.0));
        assert!(
            lag.abs() <= 16 && correlation > 0.98,
            "{name}: {lag} samples late, correlation {correlation}"
        );
        // These files do not declare how many samples of the last block are sound.
        assert!((12_000..12_000 + block).contains(&decoded.len()), "{name}: {} samples", decoded.len());
    }
}

#[test]
fn every_sample_size_and_number_of_channels_of_a_wav_decodes() {
    for (tag, bits) in [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)] {
        for n_channels in [1, 2, 3, 8] {
            let name = format!("{bits} bits with tag {tag}, {n_channels} channels.wav");
            assert_chirp(&name, wav((tag, n_channels, 16_000, bits)), 0.999);
        }
    }
}

#[test]
fn every_sampling_rate_decodes_without_delay_and_with_the_right_length() {
    for rate in [4_000, 8_000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] {
        assert_chirp(&format!("{rate}.wav"), wav((1, 1, rate, 16)), 0.995);
    }
    // The resampling filter has an odd length at these rates and is half a sample of the file off.
    for rate in [6_001, 15_999, 191_999] {
        assert_chirp(&format!("{rate}.wav"), wav((1, 1, rate, 16)), 0.98);
    }
    assert_chirp("176400.wav", wav((1, 1, 176_400, 16)), 0.995);
    assert_chirp("192000.wav", wav((3, 2, 192_000, 32)), 0.995);
}

#[test]
fn frequencies_above_8_khz_are_removed_and_not_aliased() {
    let tone: Vec<u8> = (0..48_000)
        .flat_map(|n| ((TAU * 11_000.0 * f64::from(n) / 48_000.0).sin() as f32).to_le_bytes())
        .collect();
    let decoded = decode("tone.wav", riff(&[format((3, 1, 48_000, 32)), chunk(b"data", &tone)])).unwrap();
    assert!(level(&decoded.samples[500..15_500]) < 1e-3, "{}", level(&decoded.samples));
}

#[test]
fn each_channel_is_decoded_as_if_it_were_alone() {
    let tracks = |name: &str, bytes: &[u8], channels| {
        let file = upload(name, bytes.to_vec()).into();
        let mut audio = Audio::open(file, &AudioLimits::default(), channels).unwrap();
        let mut tracks = vec![Vec::new(); audio.n_tracks()];
        while let Some(pieces) = audio.next().unwrap() {
            for (track, piece) in tracks.iter_mut().zip(pieces) {
                track.extend(piece);
            }
        }
        tracks
    };
    let files = ["joint-44k-64kbps.mp3", "stereo-44k.flac", "stereo-48k-opus.webm", "ms-adpcm-stereo.wav"];
    let files = files.map(|name| (name, fixture(name), 2));
    for (name, bytes, n_channels) in files.into_iter().chain([("many.wav", wav((1, 8, 48_000, 16)), 8)]) {
        let each = tracks(name, &bytes, Channels::Each);
        assert_eq!(each.len(), n_channels, "{name}");
        for (nth, track) in each.into_iter().enumerate() {
            assert_eq!(tracks(name, &bytes, Channels::One(nth)), [track], "channel {nth} of {name}");
        }
    }
}

#[test]
fn digital_silence_is_resampled_as_very_quiet_sound_is() {
    let tone = (0..20_000_u16).map(|n| (TAU * 300.0 * f64::from(n) / 48_000.0).sin() as f32);
    let resampled = |silence: f32| {
        let silence = vec![silence; 50_000];
        let parts =
            [silence.clone(), tone.clone().collect(), silence.clone(), tone.clone().collect(), silence];
        let samples: Vec<u8> = parts.concat().into_iter().flat_map(f32::to_le_bytes).collect();
        decode("tone.wav", riff(&[format((3, 1, 48_000, 32)), chunk(b"data", &samples)])).unwrap().samples
    };
    let (quiet, silent) = (resampled(1e-9), resampled(0.0));
    assert_eq!(silent.len(), quiet.len());
    assert!(silent.iter().zip(&quiet).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn an_mp3_stream_may_change_between_mono_and_stereo() {
    let joined = [fixture("joint-44k-64kbps.mp3"), fixture("every-bit-rate-mpeg-1.mp3")].concat();
    let decoded = decode("mp3", joined).unwrap();
    assert!(decoded.samples.len() > 28_000);
    assert!(level(&decoded.samples[14_000..]) > 0.1);
}
