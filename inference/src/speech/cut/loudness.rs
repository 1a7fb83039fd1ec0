//! Makes recordings louder that are so quiet that they would be taken for silence: samples come in, and go out as they are or
//! amplified.

use std::borrow::Cow;

use crate::speech::features::SAMPLE_RATE;

/// Power is measured over steps of this many samples (20 ms).
pub(super) const STEP: usize = SAMPLE_RATE / 50;
/// The steps that are louder than what counts as loud: 0.2 s, so that no click counts.
const N_LOUD: usize = 10;
/// A recording is quiet if the mean square of its loud steps is below this (-55 dB of full scale).
const QUIET: f32 = 3.2e-6;
/// Below this (-88 dB), there is nothing but rounding in 16-bit samples.
const ROUNDING: f32 = 1.6e-9;
/// Speech has steps that differ by more than this in their mean square (9 dB); noise alone has none.
const MODULATION: f32 = 8.0;
/// The mean square of the loud steps of what was amplified (-22 dB).
const TARGET: f32 = 6.3e-3;

/// What is known of a recording's loudness.
#[derive(Debug, Default)]
pub(super) struct Loudness {
    /// Whether a part of it was loud enough. What is quiet in such a recording is not meant to be heard.
    pub(super) is_loud: bool,
}

impl Loudness {
    /// The next samples of a recording, amplified if it was quiet so far and they are not only noise; and by how much, dB.
    #[expect(clippy::cast_precision_loss, reason = "a step has a few hundred samples")]
    pub(super) fn audible<'a>(&mut self, samples: &'a [f32]) -> (Cow<'a, [f32]>, f32) {
        let unchanged = (Cow::Borrowed(samples), 0.0);
        if self.is_loud {
            return unchanged;
        }
        // A constant offset is no sound, and is louder than the sound of some recorders. No click changes the median.
        let mut means: Vec<f32> =
            samples.chunks(STEP).map(|step| step.iter().sum::<f32>() / step.len() as f32).collect();
        means.sort_unstable_by(f32::total_cmp);
        let offset = means.get(means.len() / 2).copied().unwrap_or_default();
        let centred: Vec<f32> = samples.iter().map(|sample| sample - offset).collect();
        let mut powers = powers(&centred);
        powers.sort_unstable_by(|a, b| b.total_cmp(a));
        let Some(&loud) = powers.get(N_LOUD - 1).or(powers.last()) else { return unchanged };
        self.is_loud = loud >= QUIET;
        let n_sounding = powers.iter().take_while(|power| **power > 0.0).count();
        let low = powers[n_sounding.saturating_sub(1) * 9 / 10];
        if self.is_loud || loud < ROUNDING || loud < low * MODULATION {
            return unchanged;
        }
        let gain = (TARGET / loud).sqrt();
        let amplified = centred.into_iter().map(|sample| (sample * gain).clamp(-1.0, 1.0)).collect();
        (Cow::Owned(amplified), 20.0 * gain.log10())
    }
}

/// The mean square of each step. The last step may be short.
#[expect(clippy::cast_precision_loss, reason = "a step has a few hundred samples")]
pub(super) fn powers(samples: &[f32]) -> Vec<f32> {
    samples.chunks(STEP).map(|c| c.iter().map(|s| s * s).sum::<f32>() / c.len() as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two seconds of noise at this level, of which every other fifth of a second is louder by so many dB.
    fn noise(level_db: f32, louder_db: f32) -> Vec<f32> {
        let amplitude = |db: f32| 10_f32.powf(db / 20.0);
        let mut state = 1_u32;
        let mut sample = |n: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let is_loud = n / 3200 % 2 == 1;
            let db = level_db + if is_loud { louder_db } else { 0.0 };
            #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
            let unit = (state >> 8) as f32 / 8_388_608.0 - 1.0;
            unit * 3_f32.sqrt() * amplitude(db)
        };
        (0..32_000).map(&mut sample).collect()
    }

    /// By how much these samples are amplified, dB.
    fn gain_db(samples: &[f32]) -> f32 {
        Loudness::default().audible(samples).1
    }

    #[test]
    fn quiet_sound_is_amplified_to_the_same_level_whatever_lies_beside_it() {
        for level in [-85.0, -70.0, -60.0] {
            let quiet = noise(level - 25.0, 25.0);
            assert!((gain_db(&quiet) - (-22.0 - level)).abs() < 1.0, "{level} dB: {}", gain_db(&quiet));
            let mut clicked = quiet.clone();
            clicked[5000] = 1.0;
            assert!((gain_db(&clicked) - gain_db(&quiet)).abs() < 0.5, "a click");
            let (amplified, _) = Loudness::default().audible(&clicked).clone();
            assert!(amplified.iter().all(|sample| sample.abs() <= 1.0));
            let offset: Vec<f32> = quiet.iter().map(|sample| sample + 0.01).collect();
            assert!((gain_db(&offset) - gain_db(&quiet)).abs() < 1.0, "an offset");
        }
    }

    #[test]
    fn silence_noise_and_sound_that_is_loud_enough_stay_as_they_are() {
        let dither: Vec<f32> =
            noise(-90.0, 0.0).iter().map(|sample| (sample * 32_768.0).round() / 32_768.0).collect();
        for samples in [Vec::new(), vec![0.0; 32_000], dither, noise(-70.0, 0.0), noise(-75.0, 25.0)] {
            let mut loudness = Loudness::default();
            let (unchanged, gain_db) = loudness.audible(&samples);
            assert!(unchanged == samples && gain_db.abs() < f32::EPSILON);
        }
    }

    #[test]
    fn quiet_parts_of_a_loud_recording_stay_quiet() {
        let mut loudness = Loudness::default();
        assert!(loudness.audible(&noise(-85.0, 25.0)).1 > 0.0);
        assert!(loudness.audible(&noise(-40.0, 25.0)).1.abs() < f32::EPSILON);
        assert!(loudness.audible(&noise(-85.0, 25.0)).1.abs() < f32::EPSILON);
    }
}
