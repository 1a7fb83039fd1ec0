//! Parses a whole number in a range.

use std::ops::RangeInclusive;

use super::fields::quoted;
use crate::problems::{Code, Violation};

/// Parses decimal digits, optionally with a minus sign. A plus sign, spaces, a decimal point or an exponent is a
/// violation.
pub(crate) fn parse(field: &str, text: &str, range: RangeInclusive<u8>) -> Result<u8, Violation> {
    let expected = format!("expected an integer from {} to {}", range.start(), range.end());
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Violation::new(
            field,
            Code::NotAnInteger,
            format!("{field} is {}, {expected}", quoted(text)),
        ));
    }
    let number = text.parse().ok().filter(|n| range.contains(n));
    number.ok_or_else(|| {
        let text: String = text.chars().take(64).collect();
        Violation::new(field, Code::OutOfRange, format!("{field} is {text}, {expected}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_in_the_range_are_accepted() {
        let code = |text: &str| parse("top-k", text, 1..=5).map_err(|v| v.code);
        for (text, k) in [("1", 1), ("3", 3), ("5", 5), ("05", 5)] {
            assert_eq!(code(text), Ok(k), "{text}");
        }
        for text in ["0", "-0", "6", "-1", "256", "99999999999999999999999"] {
            assert_eq!(code(text), Err("out_of_range".into()), "{text}");
        }
        for text in
            ["", "-", "+3", " 3", "3 ", "3\n", "2.5", "3.0", "3e0", "x", "null", "੩", "٣", "0x3", "--3"]
        {
            assert_eq!(code(text), Err("not_an_integer".into()), "{text:?}");
        }
    }
}
