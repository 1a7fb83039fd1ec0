//! Channels that cancel each other, and samples on another scale than that of their format.

use std::f64::consts::TAU;

use super::{
    CHIRP_SECONDS, chirp, decode,
    wav_file::{chunk, format, riff},
};

/// A WAV file with these channels, of float samples at 16 kHz.
fn float_wav(channels: &[Vec<f32>]) -> Vec<u8> {
    let frames = 0..channels[0].len();
    let data: Vec<u8> =
        frames.flat_map(|n| channels.iter().flat_map(move |channel| channel[n].to_le_bytes())).collect();
    let kind = (3, u16::try_from(channels.len()).unwrap(), 16_000, 32);
    riff(&[format(kind), chunk(b"data", &data)])
}

fn mixed(channels: &[Vec<f32>]) -> Vec<f32> {
    decode("wav", float_wav(channels)).unwrap().samples
}

/// The largest difference of two sounds from `start` on.
fn difference(a: &[f32], b: &[f32], start: usize) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).skip(start).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn scaled(samples: &[f32], by: f32) -> Vec<f32> {
    samples.iter().map(|sample| sample * by).collect()
}

fn tone(hz: f64) -> Vec<f32> {
    (0..12_000).map(|n| (0.3 * (TAU * hz * f64::from(n) / 16_000.0).sin()) as f32).collect()
}

#[test]
fn an_inverted_channel_takes_nothing_away() {
    let sound = chirp(CHIRP_SECONDS, 16_000.0);
    let inverted = scaled(&sound, -1.0);
    let other = tone(1234.0);
    assert!(difference(&mixed(&[sound.clone(), inverted.clone()]), &sound, 0) < 1e-6);
    let weaker = mixed(&[sound.clone(), scaled(&sound, -0.5)]);
    assert!(difference(&weaker, &scaled(&sound, 0.75), 0) < 1e-6);
    let hissing: Vec<f32> = inverted.iter().zip(tone(7_000.0)).map(|(a, b)| a + 0.2 * b).collect();
    let noisy = mixed(&[sound.clone(), hissing]);
    assert!(difference(&noisy, &sound, 0) < 0.04);
    for third in [vec![0.0; 12_000], other.clone()] {
        let of_three = mixed(&[sound.clone(), third.clone(), inverted.clone()]);
        let expected: Vec<f32> = sound.iter().zip(&third).map(|(a, b)| (2.0 * a + b) / 3.0).collect();
        assert!(difference(&of_three, &expected, 0) < 1e-6);
    }
    // Inverted from the middle on: it takes a tenth of a second to be noticed.
    let half = [&sound[..6_000], &inverted[6_000..]].concat();
    assert!(difference(&mixed(&[sound.clone(), half.clone()])[..6_000], &sound[..6_000], 0) < 1e-6);
    assert!(difference(&mixed(&[sound.clone(), half]), &sound, 6_000 + 2_400) < 1e-6);
}

#[test]
fn channels_that_are_not_inverted_are_mixed_as_they_are() {
    let sound = chirp(CHIRP_SECONDS, 16_000.0);
    for second in [
        sound.clone(),
        vec![0.0; 12_000],
        scaled(&sound, -0.1),
        tone(1234.0),
        // Opposite offsets are no sound.
        scaled(&sound, 0.001).iter().map(|sample| sample - 0.2).collect(),
    ] {
        let first: Vec<f32> = sound.iter().map(|sample| sample + 0.1).collect();
        let mean: Vec<f32> = first.iter().zip(&second).map(|(a, b)| (a + b) * 0.5).collect();
        assert!(mixed(&[first, second]) == mean);
    }
}

#[test]
fn samples_on_the_scale_of_integers_are_brought_to_full_scale() {
    let sound = chirp(CHIRP_SECONDS, 16_000.0);
    let float = |scale: f64| sound.iter().map(move |x| f64::from(*x) * scale);
    let f32s = |scale: f64| float(scale).flat_map(|x| (x as f32).to_le_bytes()).collect::<Vec<u8>>();
    let rounded =
        |scale: f64| float(scale).flat_map(|x| (x.round() as f32).to_le_bytes()).collect::<Vec<u8>>();
    let f64s = |scale: f64| float(scale).flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
    let i32s = |scale: f64| float(scale).flat_map(|x| (x.round() as i32).to_le_bytes()).collect::<Vec<u8>>();
    let mut clicked = i32s(32_768.0);
    clicked[4_000..4_004].copy_from_slice(&i32::MAX.to_le_bytes());
    for (tag, bits, data, gain, warning) in [
        (3, 32, f32s(32_768.0), 1.0, "16-bit integers: their level was changed by -90 dB"),
        (3, 32, rounded(32_768.0), 1.0, "16-bit integers: their level was changed by -90 dB"),
        (3, 32, f32s(8_388_608.0), 1.0, "24-bit integers: their level was changed by -138 dB"),
        (3, 64, f64s(2_147_483_648.0), 1.0, "32-bit integers: their level was changed by -187 dB"),
        (3, 32, rounded(10.0), 10.0 / 32_768.0, "16-bit integers: their level was changed by -90 dB"),
        (1, 32, i32s(32_768.0), 1.0, "16-bit integers: their level was changed by +96 dB"),
        (1, 32, clicked, 1.0, "16-bit integers: their level was changed by +96 dB"),
        (3, 32, f32s(6.0), 6.0, ""),
        (3, 32, f32s(1e-4), 1e-4, ""),
        (3, 32, rounded(1.9), 1.0, ""),
        (1, 32, i32s(2_147_483_647.0), 1.0, ""),
        // 24 bits that are shifted to full scale, and are very quiet.
        (
            1,
            32,
            float(100.0).flat_map(|x| (x.round() as i32 * 256).to_le_bytes()).collect(),
            100.0 / 8_388_608.0,
            "",
        ),
    ] {
        let what = format!("{bits} bits with tag {tag}, {warning}, {gain}");
        let decoded = decode("wav", riff(&[format((tag, 1, 16_000, bits)), chunk(b"data", &data)])).unwrap();
        match &decoded.warnings[..] {
            [] => assert_eq!(warning, "", "{what}"),
            [said] => assert!(!warning.is_empty() && said.ends_with(warning), "{what}: {said}"),
            said => panic!("{what}: {said:?}"),
        }
        if data == rounded(1.9) {
            continue; // ones and zeros
        }
        let n_wrong = decoded.samples.iter().zip(&sound);
        let n_wrong = n_wrong.filter(|(a, b)| (**a / gain - **b).abs() > 0.06).count();
        assert!(n_wrong <= 1, "{what}: {n_wrong} samples");
    }
}
