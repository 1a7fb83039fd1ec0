//! Estimates the noise of a picture.

use super::plane::Plane;

/// The noise of a picture: the median absolute second difference along its rows, as a standard deviation.
pub(super) struct Noise {
    /// The absolute second differences.
    grain: Vec<f32>,
    /// The standard deviation of the noise where the median is 1.
    deviation: f32,
}

impl Noise {
    pub(super) fn of(grey: &Plane) -> Self {
        let step = if grey.height() > 48 { 3 } else { 1 };
        let mut grain = Vec::with_capacity(grey.height().div_ceil(step) * grey.width);
        for row in grey.rows().step_by(step) {
            let neighbours = row.iter().zip(row.iter().skip(1)).zip(row.iter().skip(2));
            grain.extend(neighbours.map(|((a, b), c)| (b - 0.5 * (a + c)).abs()));
        }
        // The median absolute value of a normal variable is 0.6745 sigma; the second difference has 1.5 times
        // the variance.
        Self { grain, deviation: 1.0 / (0.6745 * 1.5_f32.sqrt()) }
    }

    /// Whether the standard deviation is above `limit`. It is if the median is, so values are only counted.
    pub(super) fn is_above(&self, limit: f32) -> bool {
        let limit = limit / self.deviation;
        let n_within: u32 = self.grain.iter().map(|&value| u32::from(value <= limit)).sum();
        !self.grain.is_empty() && n_within as usize <= self.grain.len() / 2
    }

    /// Divides the standard deviation.
    pub(super) fn divide(&mut self, by: f32) {
        self.deviation /= by;
    }
}
