//! A number in figures: 1,50,000, 3.5, 21ਵੀਂ, 5:30.

use super::{
    number::{Language, Number},
    panjabi,
};

/// How the digits of a large number are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// By lakh and crore: 1,50,000.
    Indian,
    /// By thousands: 150,000.
    International,
}

/// The number in figures. `last`: the last of its words, whose ending an ordinal keeps.
pub(super) fn figure(number: &Number, grouping: Grouping, language: Language, last: &str) -> String {
    match number {
        Number::Quarters(quarters) => {
            let part = ["", ".25", ".5", ".75"][(quarters % 4) as usize];
            format!("{}{part}", grouped(quarters / 4, grouping))
        }
        Number::Decimal(whole, digits) => {
            let digits: String = digits.iter().map(u8::to_string).collect();
            format!("{}.{digits}", grouped(*whole, grouping))
        }
        Number::Year(year) => year.to_string(),
        Number::Ordinal(n) => {
            let ending = match language {
                Language::English => english_ending(*n).to_owned(),
                Language::Panjabi => panjabi::own_ending(last),
            };
            format!("{}{ending}", grouped(*n, grouping))
        }
        Number::Clock(hour, 0) => hour.to_string(),
        Number::Clock(hour, minute) => format!("{hour}:{minute:02}"),
    }
}

/// Figures of money, whose fractions have two digits: 2.50 of 2.5.
pub(super) fn money(figure: &str) -> String {
    let two = |part: &str| match part.split_once('.') {
        Some((_, digits)) if digits.len() == 1 => format!("{part}0"),
        _ => part.to_owned(),
    };
    figure.split('-').map(two).collect::<Vec<_>>().join("-")
}

/// A whole number with commas from five digits on, so that a year never has one.
fn grouped(n: u64, grouping: Grouping) -> String {
    if n < 10_000 {
        return n.to_string();
    }
    let size = match grouping {
        Grouping::Indian => 100,
        Grouping::International => 1000,
    };
    let mut rest = n / 1000;
    let mut text = format!("{:03}", n % 1000);
    while rest > 0 {
        let group = rest % size;
        rest /= size;
        let width = if rest > 0 { size.ilog10() as usize } else { 0 };
        text = format!("{group:0width$},{text}");
    }
    text
}

fn english_ending(n: u64) -> &'static str {
    match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas_and_those_of_four_digits_have_none() {
        let both = |n| [grouped(n, Grouping::Indian), grouped(n, Grouping::International)];
        for (n, expected) in [
            (0, ["0", "0"]),
            (2026, ["2026", "2026"]),
            (10_000, ["10,000", "10,000"]),
            (150_000, ["1,50,000", "150,000"]),
            (32_000_005, ["3,20,00,005", "32,000,005"]),
            (1_000_000_000, ["1,00,00,00,000", "1,000,000,000"]),
        ] {
            assert_eq!(both(n), expected);
        }
    }
}
