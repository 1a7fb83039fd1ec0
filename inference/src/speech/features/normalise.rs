//! Cepstral mean and variance normalisation (CMVN) of log-mel features: each mel band gets mean 0 and
//! standard deviation 1 over the recording, as in NeMo.
//!
//! A single short word has too few frames to estimate its speaker's mean, and a vowel would lose its own
//! spectrum. So for a model whose `config.json` has `global_cmvn`, a short recording is normalised as if more
//! frames followed, which have the statistics of average speech of the same loudness, which training measured
//! (`training/speech/sounds/cmvn.json`). Online CMVN uses global statistics in the same way.

use serde::Deserialize;

use crate::cast::{count, narrow};

/// A constant that is added to a standard deviation before dividing by it.
const EPSILON: f32 = 1e-5;

/// The statistics of average speech in each mel band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct GlobalCmvn {
    /// A recording with fewer frames counts as short.
    frames: usize,
    /// The mean of each band, relative to the loudness of the recording.
    mean: Vec<f64>,
    /// The standard deviation of each band.
    deviation: Vec<f64>,
}

impl GlobalCmvn {
    /// Whether the statistics are for `n_mels` bands, and all values are in a plausible range.
    pub(crate) fn fits(&self, n_mels: usize) -> bool {
        let plausible = |values: &[f64], low: f64| {
            values.len() == n_mels && values.iter().all(|v| (low..=100.0).contains(v))
        };
        (1..=10_000).contains(&self.frames)
            && plausible(&self.mean, -100.0)
            && plausible(&self.deviation, 0.0)
    }
}

/// Normalises `values`, which has one row of `n_frames` values for each mel band.
pub(crate) fn normalise(values: &mut [f32], n_frames: usize, global: Option<&GlobalCmvn>) {
    let short = global.filter(|global| n_frames < global.frames);
    let Some(global) = short else {
        return values.chunks_exact_mut(n_frames.max(1)).for_each(|row| Moments::of(row).normalise(row));
    };
    let more = count(global.frames - n_frames);
    let loudness = loudness(values, n_frames);
    let bands = global.mean.iter().zip(&global.deviation);
    for (row, (mean, deviation)) in values.chunks_exact_mut(n_frames.max(1)).zip(bands) {
        Moments::of(row).with(more, mean + loudness, *deviation).normalise(row);
    }
}

/// The number of some values, their mean, and the sum of their squared distances from the mean.
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn of(row: &[f32]) -> Self {
        let n = count(row.len());
        let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
        Self { n, mean, squares: row.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum() }
    }

    /// The moments of these values together with `more` other values of the given mean and standard
    /// deviation.
    fn with(&self, more: f64, other_mean: f64, other_deviation: f64) -> Self {
        let n = self.n + more;
        let mean = (self.n * self.mean + more * other_mean) / n;
        let own = self.squares + self.n * (self.mean - mean).powi(2);
        Self { n, mean, squares: own + more * (other_deviation.powi(2) + (other_mean - mean).powi(2)) }
    }

    /// Normalises a row to mean 0 and (unbiased) standard deviation 1.
    fn normalise(&self, row: &mut [f32]) {
        let deviation = narrow((self.squares / (self.n - 1.0).max(1.0)).sqrt()) + EPSILON;
        for value in row {
            *value = (*value - narrow(self.mean)) / deviation;
        }
    }
}

/// The loudness of a recording: the mean over the bands of each band's 90th percentile.
fn loudness(values: &[f32], n_frames: usize) -> f64 {
    let rows = values.chunks_exact(n_frames.max(1));
    let n = count(rows.len());
    let sum: f64 = rows.map(|row| percentile_90(row.to_vec())).sum();
    if n > 0.0 { sum / n } else { 0.0 }
}

/// The 90th percentile of at least one value, interpolated linearly between two values.
fn percentile_90(mut values: Vec<f32>) -> f64 {
    values.sort_unstable_by(f32::total_cmp);
    let last = values.len() - 1;
    let (at, rest) = (last * 9 / 10, last * 9 % 10);
    let (low, high) = (f64::from(values[at]), f64::from(values[(at + 1).min(last)]));
    low + (high - low) * count(rest) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(frames: usize, n_mels: usize) -> GlobalCmvn {
        GlobalCmvn { frames, mean: vec![-2.0; n_mels], deviation: vec![1.5; n_mels] }
    }

    fn check(given: &[f32], expected: &[f64]) {
        assert_eq!(given.len(), expected.len());
        for (given, expected) in given.iter().zip(expected) {
            assert!((f64::from(*given) - expected).abs() < 1e-4, "{given}, expected {expected}");
        }
    }

    #[test]
    fn a_long_recording_is_normalised_with_its_own_statistics() {
        for global in [None, Some(&global(3, 2))] {
            let mut values = [1.0, 2.0, 3.0, 4.0, 4.0, 4.0];
            normalise(&mut values, 3, global);
            check(&values, &[-1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn a_short_recording_keeps_its_difference_from_average_speech() {
        // A steady sound: normalised with its own statistics, it would become 0.
        let mut values = [3.0, 3.0, -1.0, -1.0];
        normalise(&mut values, 2, Some(&global(100, 2)));
        // The loudness is the mean of the two bands, 1. Average speech of that loudness has the mean -1 and
        // the deviation 1.5 in both bands.
        let band = |v: f64| {
            let (mean, n) = ((2.0 * v - 98.0) / 100.0, 100.0);
            let squares = 2.0 * (v - mean).powi(2) + 98.0 * (1.5_f64.powi(2) + (-1.0 - mean).powi(2));
            (v - mean) / ((squares / (n - 1.0)).sqrt() + 1e-5)
        };
        check(&values, &[band(3.0), band(3.0), band(-1.0), band(-1.0)]);
        assert!(values[0] > 2.0);
    }

    #[test]
    fn recordings_of_no_frame_or_one_frame_are_normalised() {
        let mut values = [0.0; 0];
        normalise(&mut values, 0, Some(&global(100, 2)));
        let mut one = [5.0];
        normalise(&mut one, 1, None);
        check(&one, &[0.0]);
    }

    #[test]
    fn global_statistics_that_do_not_fit_are_refused() {
        assert!(global(200, 80).fits(80));
        assert!(!global(200, 80).fits(128));
        assert!(!global(0, 80).fits(80));
        assert!(!GlobalCmvn { deviation: vec![-1.0; 80], ..global(200, 80) }.fits(80));
        assert!(!GlobalCmvn { mean: vec![f64::NAN; 80], ..global(200, 80) }.fits(80));
    }
}
