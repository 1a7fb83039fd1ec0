//! A seed comes in; the random numbers that make a handwriting out of it go out, the same on every machine.
//!
//! So strokes depend on nothing but the request: the generator is a named one, the model computes in float64 and rounds its
//! outputs to float32 (`training/handwriting/export.py`), and the layout uses only operations that IEEE 754 defines
//! exactly. Where a library's sine or exponential is needed, it is computed in float64 and rounded to float32, because
//! libraries differ in the last digit only.

use rand::{SeedableRng as _, rngs::Xoshiro256PlusPlus};
use rand_distr::{Distribution as _, StandardNormal};

/// The generator of all random numbers: xoshiro256++ (Blackman and Vigna, 2018), whose state is filled by `SplitMix64`.
pub(crate) type Rng = Xoshiro256PlusPlus;

/// Random numbers beyond this many standard deviations are drawn again. No handwriting in the training data
/// has such a style or variation.
pub(crate) const MAX_DEVIATIONS: f32 = 2.0;

/// One handwriting style, made from a seed. The same seed writes the same text with the same strokes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hand {
    seed: u64,
}

impl Hand {
    /// The handwriting style of this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A random number generator for one purpose. Each purpose has its own generator, so that the numbers of
    /// one do not depend on how many another one has drawn.
    pub(crate) fn rng(self, purpose: u64) -> Rng {
        Rng::seed_from_u64(self.seed ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A random number of the standard normal distribution, limited to [`MAX_DEVIATIONS`].
pub(crate) fn normal(rng: &mut Rng) -> f32 {
    loop {
        let z: f32 = StandardNormal.sample(rng);
        if z.abs() <= MAX_DEVIATIONS {
            return z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut rng = Hand::new(7).rng(1);
        let numbers = [(); 4].map(|()| normal(&mut rng).to_bits());
        assert_eq!(numbers, [0x3d8f_96b8, 0x3ca5_841e, 0x3fcb_53e4, 0x3e67_0fbf]); // 0.0701, 0.0202, 1.5885, 0.2256
    }
}
