//! Numbers that are within their range wherever they come from: a request, or a row that is read back.

use std::fmt::Display;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// A number from `MIN` to `MAX`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bounded<N, const MIN: u16, const MAX: u16>(N);

impl<N: Copy + Into<f64>, const MIN: u16, const MAX: u16> Bounded<N, MIN, MAX> {
    /// The number. `None` if it is outside the range.
    pub fn new(number: N) -> Option<Self> {
        (f64::from(MIN)..=f64::from(MAX)).contains(&number.into()).then_some(Self(number))
    }

    /// The number.
    pub const fn get(self) -> N {
        self.0
    }
}

impl<'de, N, const MIN: u16, const MAX: u16> Deserialize<'de> for Bounded<N, MIN, MAX>
where
    N: Copy + Into<f64> + Display + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = N::deserialize(deserializer)?;
        Self::new(number)
            .ok_or_else(|| D::Error::custom(format_args!("{number}, expected a number from {MIN} to {MAX}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_range_does_not_exist() {
        type Length = Bounded<f64, 120, 150>;
        assert_eq!(serde_json::from_str::<Length>("120.5").unwrap().get().to_string(), "120.5");
        for outside in ["119.9", "150.1", "-130", "\"130\""] {
            assert!(serde_json::from_str::<Length>(outside).is_err(), "{outside}");
        }
        assert_eq!(Bounded::<u8, 1, 5>::new(0), None);
        assert_eq!(serde_json::to_string(&Bounded::<u8, 1, 5>::new(5)).unwrap(), "5");
    }
}
