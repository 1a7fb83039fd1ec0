//! A number and the languages that it is written in.

use std::ops::Range;

/// A language whose numbers are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Panjabi,
}

impl Language {
    /// The language with this code, if it is one of the two.
    pub(crate) fn of(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "pa" => Some(Self::Panjabi),
            _ => None,
        }
    }

    /// The other one of the two.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::English => Self::Panjabi,
            Self::Panjabi => Self::English,
        }
    }
}

/// A number that stands in a text in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Number {
    /// How many, in quarters: 6 is one and a half.
    Quarters(u64),
    /// A number with a decimal point, and the digits behind the point.
    Decimal(u64, Vec<u8>),
    /// A year that is read in two parts, 1100 to 2099: nineteen eighty-four.
    Year(u64),
    /// Which one in an order: the third.
    Ordinal(u64),
    /// A time of the day: half past three. The hour is 1 to 12.
    Clock(u8, u8),
}

/// A number, and the words of the text that say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) number: Number,
    pub(super) words: Range<usize>,
}

/// The meaning of numbers that stand one behind another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One number, or a day and a year.
    Plain,
    /// One or the other, or all between: ਦੋ ਤਿੰਨ ਦਿਨ.
    Range,
    /// So many each: ਦਸ ਦਸ ਰੁਪਏ.
    Each,
    /// The digits of one number: a telephone number.
    Digits,
    /// Nothing that is known: ਤਿੰਨ ਚਾਰ ਪੰਜ ਬੰਦੇ.
    List,
}

/// Numbers that stand one behind another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) kind: Kind,
    pub(super) said: Vec<Said>,
}

impl Number {
    /// A whole number.
    pub(crate) const fn whole(n: u64) -> Self {
        Self::Quarters(4 * n)
    }

    /// The time of the day that a number of hours, in quarters, is.
    pub(super) fn clock(quarters: u64) -> Option<Self> {
        let hour = if quarters < 4 { 12 } else { quarters / 4 };
        let minute = 15 * (quarters % 4);
        let is_time = hour <= 12 && quarters > 0;
        is_time.then_some(Self::Clock(u8::try_from(hour).ok()?, u8::try_from(minute).ok()?))
    }

    /// A number that counts, or the hours of a time at a quarter, in quarters.
    pub(super) fn hour_or_count(&self) -> Option<u64> {
        match self {
            Self::Quarters(quarters) => Some(*quarters),
            Self::Clock(hour, minute) if minute.is_multiple_of(15) => {
                Some(4 * u64::from(*hour) + u64::from(*minute / 15))
            }
            _ => None,
        }
    }

    /// A number that counts, in quarters. The whole part is enough of a decimal.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Quarters(quarters) => Some(*quarters),
            Self::Decimal(whole, _) => Some(4 * whole),
            _ => None,
        }
    }

    /// A number below 100 without a fraction.
    pub(super) fn small(&self) -> Option<u64> {
        match self {
            Self::Quarters(quarters) if quarters.is_multiple_of(4) && *quarters < 400 => Some(quarters / 4),
            _ => None,
        }
    }

    /// The number so many times, where it is one that can be counted and that is not too large.
    pub(super) fn times(&self, scale: u64) -> Option<Self> {
        match self {
            Self::Quarters(quarters) => Some(Self::Quarters(quarters.checked_mul(scale)?)),
            Self::Decimal(whole, digits) => {
                let n_moved = usize::try_from(scale.ilog10()).ok()?;
                let mut whole = *whole;
                for nth in 0..n_moved {
                    let digit = digits.get(nth).copied().unwrap_or_default();
                    whole = whole.checked_mul(10)?.checked_add(u64::from(digit))?;
                }
                match digits.get(n_moved..) {
                    Some(rest @ [_, ..]) => Some(Self::Decimal(whole, rest.to_owned())),
                    _ => Some(Self::Quarters(whole.checked_mul(4)?)),
                }
            }
            _ => None,
        }
    }
}
