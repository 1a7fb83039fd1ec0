//! Finds channels that are inverted copies of other ones: their mean is silence, although each of them has the sound.

/// The time over which channels are compared, seconds.
const MEMORY_S: f64 = 0.05;
/// The correlation with another channel below which a channel is inverted from now on: the mean of two loses 5 dB more than with
/// no correlation.
const INVERTED: f64 = -0.7;
/// The correlation from which on it is inverted no more.
const UPRIGHT: f64 = -0.3;
/// The share of another channel's power from which on a channel can take sound away from it: a quarter of the amplitude.
const MIN_SHARE: f64 = 1.0 / 16.0;

/// Which channels are inverted, by the last sound of all of them.
#[derive(Debug)]
pub(super) struct Polarity {
    /// The frames that [`MEMORY_S`] has.
    memory: f64,
    /// The weight of the frames in the sums.
    weight: f64,
    /// The weighted sums of each channel.
    sums: Vec<f64>,
    /// The weighted sums of the products of each channel with itself and those before it.
    products: Vec<Vec<f64>>,
    is_inverted: Vec<bool>,
}

impl Polarity {
    /// Of sound with so many frames in a second.
    pub(super) fn new(rate: u32) -> Self {
        let memory = f64::from(rate) * MEMORY_S;
        Self { memory, weight: 0.0, sums: Vec::new(), products: Vec::new(), is_inverted: Vec::new() }
    }

    /// The frames after which channels are compared again.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is at most 192 kHz")]
    pub(super) fn n_block(&self) -> usize {
        (self.memory / 2.0) as usize + 1
    }

    /// Takes the next frames of each channel. Returns which channels are inverted in them.
    #[expect(clippy::cast_precision_loss, reason = "a block is short")]
    pub(super) fn of(&mut self, channels: &[&[f32]]) -> &[bool] {
        if self.sums.len() != channels.len() {
            self.weight = 0.0;
            self.sums = vec![0.0; channels.len()];
            self.products = (1..=channels.len()).map(|n| vec![0.0; n]).collect();
            self.is_inverted = vec![false; channels.len()];
        }
        let n = channels.first().map_or(0, |channel| channel.len()) as f64;
        let kept = (-n / self.memory).exp();
        self.weight = self.weight * kept + n;
        for (nth, channel) in channels.iter().enumerate() {
            self.sums[nth] = self.sums[nth] * kept + f64::from(channel.iter().sum::<f32>());
            for (product, other) in self.products[nth].iter_mut().zip(channels) {
                *product = *product * kept + f64::from(product_of(channel, other));
            }
        }
        for nth in 1..channels.len() {
            let limit = if self.is_inverted[nth] { UPRIGHT } else { INVERTED };
            self.is_inverted[nth] = (0..nth).any(|other| {
                let sign = if self.is_inverted[other] { -1.0 } else { 1.0 };
                sign * self.correlation(nth, other) < limit
            });
        }
        &self.is_inverted
    }

    /// The correlation of two channels, of which the second comes earlier. 0 if one of them is much quieter.
    fn correlation(&self, nth: usize, other: usize) -> f64 {
        let product = |a: usize, b: usize| self.products[a][b] - self.sums[a] * self.sums[b] / self.weight;
        let (own, others) = (product(nth, nth), product(other, other));
        let is_comparable = own > MIN_SHARE * others && others > MIN_SHARE * own && own > 0.0;
        if is_comparable { product(nth, other) / (own * others).sqrt() } else { 0.0 }
    }
}

/// The sum of the products of the samples of two channels.
fn product_of(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
