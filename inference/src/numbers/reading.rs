//! What numbers one behind another mean together: one or the other, so many each, one string of digits.

use super::{
    context::Place,
    number::{Kind, Language, Number, Reading, Said},
    parse::Reader,
    words::{is_month, names},
};

impl Reading {
    /// Reads the numbers of a place.
    pub(super) fn new(said: Vec<Said>, place: &Place<'_>, reader: &Reader<'_>, language: Language) -> Self {
        let plain = |said| Self { kind: Kind::Plain, said };
        let words = || said[0].words.start..said[said.len() - 1].words.end;
        if let Some(number) = place.one(&said) {
            return plain(vec![Said { number, words: words() }]);
        }
        if let Some(dated) = with_year(&said, place, language) {
            return plain(dated);
        }
        if let [_] = &said[..] {
            return plain(said);
        }
        if let [first, second] = &said[..]
            && first.words != second.words
            && let Some(pair) = pair(first, second, place, reader)
        {
            return pair;
        }
        let kind = if is_dictated(&said, place) { Kind::Digits } else { Kind::List };
        Self { kind, said }
    }

    /// The digits of one string with commas between: one, two, three four. More of them are single digits than pairs.
    pub(super) fn string(groups: &[Self], place: &Place<'_>) -> Option<Self> {
        let said: Vec<Said> = groups.iter().flat_map(|group| group.said.clone()).collect();
        let small: Vec<u64> = said.iter().map(|said| said.number.small()).collect::<Option<_>>()?;
        let is_counting = small.windows(2).all(|pair| pair[0] + 1 == pair[1])
            && place.before().is_some_and(|word| names("number ਨੰਬਰ", word));
        let n_single = small.iter().filter(|n| **n < 10).count();
        let is_string = place.is_string() && !is_counting;
        (is_string && small.len() > 2 && 2 * n_single > small.len())
            .then_some(Self { kind: Kind::Digits, said })
    }

    /// The value in the place of each number's.
    pub(super) fn replaced(&self, value: impl Fn(&Number) -> Option<Number>) -> Option<Self> {
        let replaced = |said: &Said| Some(Said { number: value(&said.number)?, words: said.words.clone() });
        Some(Self { kind: self.kind, said: self.said.iter().map(replaced).collect::<Option<_>>()? })
    }
}

/// The meaning of two numbers: a range of either or all between, or the same number twice.
fn pair(first: &Said, second: &Said, place: &Place<'_>, reader: &Reader<'_>) -> Option<Reading> {
    let reading = |kind, low: Number, high: Number| {
        let said = |number, said: &Said| Said { number, words: said.words.clone() };
        Some(Reading { kind, said: vec![said(low, first), said(high, second)] })
    };
    let (low, high) = (first.number.hour_or_count(), second.number.hour_or_count());
    let (low, high) = (low?, high?);
    if place.is_labelled() {
        return None;
    }
    // The scale of ਦੋ ਤਿੰਨ ਸੌ is meant for both.
    if let Some((Number::Quarters(factor), scale)) = reader.factors(second)
        && low < 400
    {
        return match low {
            _ if low == factor => reading(Kind::Each, second.number.clone(), second.number.clone()),
            _ if is_range(low, factor) => {
                reading(Kind::Range, Number::Quarters(low.checked_mul(scale)?), second.number.clone())
            }
            _ if is_range(low, high) && place.is_counted() => {
                reading(Kind::Range, first.number.clone(), second.number.clone())
            }
            _ => None,
        };
    }
    if place.is_before_clock() || matches!(second.number, Number::Clock(..)) {
        let (from, to) = (Number::clock(low)?, Number::clock(high)?);
        let is_past_noon = low >= 44 && high < 24;
        return if low == high {
            reading(Kind::Each, from, to)
        } else if is_range(low, high) || is_past_noon {
            reading(Kind::Range, from, to)
        } else {
            None
        };
    }
    if low == high {
        reading(Kind::Each, first.number.clone(), second.number.clone())
    } else if is_range(low, high)
        && (place.is_counted() || (low >= 400 && reader.is_hyphenated(second)))
        && !place.before().is_some_and(is_month)
    {
        reading(Kind::Range, first.number.clone(), second.number.clone())
    } else {
        None
    }
}

/// Whether two numbers, in quarters, are near enough to mean one or the other.
const fn is_range(low: u64, high: u64) -> bool {
    low < high && high <= 2 * low
}

/// The day and the year behind a month: August fifteen nineteen forty-seven, ਮਾਰਚ ਵੀਹ ਦੋ ਹਜ਼ਾਰ ਸਤਾਰਾਂ.
fn with_year(said: &[Said], place: &Place<'_>, language: Language) -> Option<Vec<Said>> {
    if let [day, Said { number: Number::Quarters(4400..8400), .. }] = said {
        let is_dated = matches!(day.number.small(), Some(1..=31)) && place.before().is_some_and(is_month);
        return is_dated.then(|| said.to_vec());
    }
    let [day, century, rest] = said else { return None };
    let (century_n, rest_n) = (century.number.small()?, rest.number.small()?);
    let is_year = language == Language::English
        && (11..=20).contains(&century_n)
        && rest_n >= 10
        && place.before().is_some_and(is_month);
    let number = Number::Year(100 * century_n + rest_n);
    is_year.then(|| vec![day.clone(), Said { number, words: century.words.start..rest.words.end }])
}

/// Whether numbers below 100 are the digits of one string. They are with "double", behind a label, and if they are many, unless
/// somebody counts. A few of them before what they count are none, and neither are those of a saying.
fn is_dictated(said: &[Said], place: &Place<'_>) -> bool {
    let Some(numbers) = said.iter().map(|said| said.number.small()).collect::<Option<Vec<u64>>>() else {
        return false;
    };
    let are_digits = numbers.iter().all(|n| *n < 10);
    let n_digits: usize = numbers.iter().map(|n| if *n < 10 { 1 } else { 2 }).sum();
    let is_doubled = said.windows(2).any(|pair| pair[0].words == pair[1].words);
    let steps: Vec<i64> =
        numbers.windows(2).map(|pair| pair[1].cast_signed() - pair[0].cast_signed()).collect();
    let ascends = steps.iter().all(|step| *step > 0);
    let is_counting = ascends && steps.iter().all(|step| *step == steps[0]);
    if is_doubled {
        are_digits
    } else if place.is_measured() {
        false
    } else if place.is_labelled() {
        !(numbers.len() == 2 && ascends && (steps[0] == 1 || place.is_in_order()))
    } else {
        match n_digits {
            ..3 => false,
            // Of an unlabelled few, one zero or the whole text says that they are digits.
            3..5 => {
                let is_mixed = !are_digits && numbers.iter().any(|n| *n < 10);
                let is_said = numbers.contains(&0) || (place.is_alone() && numbers.len() > 2);
                !ascends && !is_mixed && place.is_noun() && is_said
            }
            5..8 => !ascends && (are_digits || place.is_noun()),
            _ => !is_counting,
        }
    }
}
