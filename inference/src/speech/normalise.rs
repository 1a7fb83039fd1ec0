//! Cepstral mean and variance normalisation (CMVN) of log-mel features: each mel band to mean 0 and deviation 1
//! over the recording, as NeMo does.
//!
//! A single short word has too few frames to estimate its speaker's mean: a vowel would lose its own spectrum. A
//! model whose `config.json` has `global_cmvn` therefore normalises a short recording with the statistics of
//! average speech of the same loudness, weighted as the frames that are missing
//! (`training/speech/features.py`). Online CMVN smooths with global statistics in the same way.

use serde::Deserialize;

use super::cast::{count, narrow};

/// Added to a deviation before dividing by it.
const STEADY: f32 = 1e-5;

/// Statistics of average speech, for each mel band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct GlobalCmvn {
    /// Recordings of fewer frames are short.
    frames: usize,
    /// Relative to the loudness of the recording.
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl GlobalCmvn {
    /// Whether it is for so many bands, and of sizes that mean something.
    pub(crate) fn fits(&self, n_mels: usize) -> bool {
        let sound = |values: &[f64], low: f64| {
            values.len() == n_mels && values.iter().all(|v| (low..=100.0).contains(v))
        };
        (1..=10_000).contains(&self.frames) && sound(&self.mean, -100.0) && sound(&self.deviation, 0.0)
    }
}

/// Normalises rows of `n_frames` values, one row a mel band.
pub(crate) fn normalise(values: &mut [f32], n_frames: usize, global: Option<&GlobalCmvn>) {
    let short = global.filter(|global| n_frames < global.frames);
    let Some(global) = short else {
        return values.chunks_exact_mut(n_frames.max(1)).for_each(|row| Moments::of(row).normalise(row));
    };
    let (more, loudness) = (count(global.frames - n_frames), loudness(values, n_frames));
    let bands = global.mean.iter().zip(&global.deviation);
    for (row, (mean, deviation)) in values.chunks_exact_mut(n_frames.max(1)).zip(bands) {
        Moments::of(row).with(more, mean + loudness, *deviation).normalise(row);
    }
}

/// How many values there are, their mean and the sum of their squared distances from it.
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

    /// Those of these values and `more` others.
    fn with(&self, more: f64, other_mean: f64, other_deviation: f64) -> Self {
        let n = self.n + more;
        let mean = (self.n * self.mean + more * other_mean) / n;
        let own = self.squares + self.n * (self.mean - mean).powi(2);
        Self { n, mean, squares: own + more * (other_deviation.powi(2) + (other_mean - mean).powi(2)) }
    }

    /// To mean 0 and (unbiased) deviation 1.
    fn normalise(&self, row: &mut [f32]) {
        let deviation = narrow((self.squares / (self.n - 1.0).max(1.0)).sqrt()) + STEADY;
        for value in row {
            *value = (*value - narrow(self.mean)) / deviation;
        }
    }
}

/// The mean of what each band stays below in nine frames of ten.
fn loudness(values: &[f32], n_frames: usize) -> f64 {
    let rows = values.chunks_exact(n_frames.max(1));
    let n = count(rows.len());
    let sum: f64 = rows.map(|row| ninth_tenth(row.to_vec())).sum();
    if n > 0.0 { sum / n } else { 0.0 }
}

/// What nine tenths of at least one value lie below, between two of them where it falls between.
fn ninth_tenth(mut values: Vec<f32>) -> f64 {
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
    fn a_long_recording_is_normalised_by_itself() {
        for global in [None, Some(&global(3, 2))] {
            let mut values = [1.0, 2.0, 3.0, 4.0, 4.0, 4.0];
            normalise(&mut values, 3, global);
            check(&values, &[-1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn a_short_one_keeps_what_sets_it_apart_from_average_speech() {
        // One steady sound: by itself nothing would be left of it.
        let mut values = [3.0, 3.0, -1.0, -1.0];
        normalise(&mut values, 2, Some(&global(100, 2)));
        // As loud as the mean of its bands, 1, average speech has mean -1 and deviation 1.5 in both.
        let band = |v: f64| {
            let (mean, n) = ((2.0 * v - 98.0) / 100.0, 100.0);
            let squares = 2.0 * (v - mean).powi(2) + 98.0 * (1.5_f64.powi(2) + (-1.0 - mean).powi(2));
            (v - mean) / ((squares / (n - 1.0)).sqrt() + 1e-5)
        };
        check(&values, &[band(3.0), band(3.0), band(-1.0), band(-1.0)]);
        assert!(values[0] > 2.0);
    }

    #[test]
    fn nothing_is_normalised_to_nothing() {
        let mut values = [0.0; 0];
        normalise(&mut values, 0, Some(&global(100, 2)));
        let mut one = [5.0];
        normalise(&mut one, 1, None);
        check(&one, &[0.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(global(200, 80).fits(80));
        assert!(!global(200, 80).fits(128));
        assert!(!global(0, 80).fits(80));
        assert!(!GlobalCmvn { deviation: vec![-1.0; 80], ..global(200, 80) }.fits(80));
        assert!(!GlobalCmvn { mean: vec![f64::NAN; 80], ..global(200, 80) }.fits(80));
    }
}
