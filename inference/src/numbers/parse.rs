//! Parses the words of numbers: words with their meanings come in, numbers go out.

use super::{
    number::{Language, Number, Said},
    token::{Meaning, Token},
};

const CRORE: u64 = 10_000_000;

/// Reads numbers off the words of a text.
pub(super) struct Reader<'a> {
    tokens: &'a [Token<'a>],
    language: Language,
    /// Whether an ordinal is read as its cardinal.
    ordinals_count: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tokens: &'a [Token<'a>], language: Language) -> Self {
        Self { tokens, language, ordinals_count: false }
    }

    /// The numbers that start at a word, and the index of the word behind them. An ordinal is one alone.
    pub(super) fn run(&self, start: usize) -> Option<(usize, Vec<Said>)> {
        let is_ordinal = |said: &[Said]| matches!(said, [Said { number: Number::Ordinal(_), .. }]);
        let (mut at, mut said) = self.number(start)?;
        while !is_ordinal(&said)
            && self.continues(at)
            && let Some((next, more)) = self.number(at).filter(|(_, more)| !is_ordinal(more))
        {
            said.extend(more);
            at = next;
        }
        Some((at, said))
    }

    /// What the scales at the end of a number multiply, and their product: 2 and 100,000 of ਦੋ ਲੱਖ. `None` if the number is
    /// no product: ਦੋ ਲੱਖ ਪੰਜ.
    pub(super) fn factors(&self, said: &Said) -> Option<(Number, u64)> {
        let mut end = said.words.end;
        let mut product: u64 = 1;
        while end > said.words.start
            && let Some(Meaning::Scale(scale)) = self.meaning(end - 1)
        {
            product = product.checked_mul(scale)?;
            end -= 1;
        }
        end -= usize::from(end > said.words.start && self.meaning(end - 1) == Some(Meaning::About));
        let head = Self { tokens: self.tokens.get(..end)?, ..*self };
        let (read, number) = head.amount(said.words.start)?;
        (product > 1 && read == end && number.times(product).as_ref() == Some(&said.number))
            .then_some((number, product))
    }

    /// What the first scale of a number counts, in quarters, where more stands behind it: three of three hundred and fifty.
    pub(super) fn head(&self, said: &Said) -> Option<u64> {
        let (end, quarters) = self.small(said.words.start)?;
        let is_scale = matches!(self.meaning(end), Some(Meaning::Scale(_)));
        (is_scale && end + 1 < said.words.end).then_some(quarters)
    }

    /// Whether a hyphen stands before a number.
    pub(super) fn is_hyphenated(&self, said: &Said) -> bool {
        let first = &self.tokens[said.words.start];
        first.follows() && !first.follows_a_space()
    }

    /// The meaning of a word.
    fn meaning(&self, at: usize) -> Option<Meaning> {
        match self.tokens.get(at)?.meaning {
            Some(Meaning::Ordinal(n)) if self.ordinals_count => {
                let is_tens = self.language == Language::English && n >= 20;
                Some(if is_tens { Meaning::Tens(n) } else { Meaning::Small(n) })
            }
            Some(Meaning::OrdinalScale(n)) if self.ordinals_count => Some(Meaning::Scale(n)),
            meaning => meaning,
        }
    }

    fn continues(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::goes_on)
    }

    /// The meaning of a word that goes on with a number.
    fn next(&self, at: usize) -> Option<Meaning> {
        if self.continues(at) { self.meaning(at) } else { None }
    }

    /// One number, or the digits of "double five". A scale behind a figure is part of the figure.
    fn number(&self, start: usize) -> Option<(usize, Vec<Said>)> {
        let is_scale = matches!(self.meaning(start), Some(Meaning::Scale(_)));
        if is_scale && self.continues(start) && self.tokens[start - 1].text.ends_with(char::is_numeric) {
            return None;
        }
        if let Some(Meaning::Repeat(n)) = self.meaning(start) {
            let Some(Meaning::Small(digit @ 0..=9)) = self.next(start + 1) else { return None };
            let said = Said { number: Number::whole(digit), words: start..start + 2 };
            return Some((start + 2, vec![said; n]));
        }
        let one = |(end, number)| (end, vec![Said { number, words: start..end }]);
        self.clock(start).or_else(|| self.ordinal(start)).or_else(|| self.amount(start)).map(one)
    }

    /// A time of the day: half past three, twenty past three, three o'clock, ਸਾਢੇ ਤਿੰਨ before ਵਜੇ.
    fn clock(&self, start: usize) -> Option<(usize, Number)> {
        if let Some((past, minutes @ 1..=29)) = self.small(start).map(|(end, quarters)| (end, quarters / 4))
            && self.next(past) == Some(Meaning::Hour(1))
            && let Some(Meaning::Small(n @ 1..=12)) = self.next(past + 1)
        {
            let part = |n: u64| u8::try_from(n).ok();
            return Some((past + 2, Number::Clock(part(n)?, part(minutes)?)));
        }
        if let (Language::English, Some(Meaning::Small(n @ 1..=12))) = (self.language, self.meaning(start)) {
            let is_clock = self.next(start + 1) == Some(Meaning::OClock);
            return if is_clock { Some((start + 2, Number::Clock(u8::try_from(n).ok()?, 0))) } else { None };
        }
        let part =
            start + usize::from(self.meaning(start) == Some(Meaning::Article) && self.continues(start + 1));
        if let Some(Meaning::Part(quarters)) = self.meaning(part) {
            // There is no half to three.
            let sign = match self.next(part + 1) {
                Some(Meaning::Hour(sign)) if quarters == 1 || sign > 0 => sign,
                _ => return None,
            };
            let Some(Meaning::Small(n @ 1..=12)) = self.next(part + 2) else { return None };
            let hours = (4 * n).checked_add_signed(sign * i64::try_from(quarters).ok()?)?;
            return Some((part + 3, Number::clock(hours)?));
        }
        let (end, quarters) = self.fraction(start)?;
        let behind = end + usize::from(self.next(end) == Some(Meaning::About));
        let is_clock = self.continues(end) && self.next(behind) == Some(Meaning::OClock);
        if is_clock { Some((end, Number::clock(quarters)?)) } else { None }
    }

    /// A number with a fraction before the number, in quarters: ਡੇਢ, ਸਾਢੇ ਤਿੰਨ.
    fn fraction(&self, start: usize) -> Option<(usize, u64)> {
        match self.meaning(start)? {
            Meaning::Quarters(quarters) => Some((start + 1, quarters)),
            Meaning::Adding(quarters) => match self.next(start + 1) {
                Some(Meaning::Small(n @ 1..)) => Some((start + 2, (4 * n).checked_add_signed(quarters)?)),
                // ਸਵਾ ਸੌ is a quarter more than one hundred, ਪੌਣਾ ਘੰਟਾ three quarters of an hour.
                _ if quarters.abs() == 1 => Some((start + 1, 4_u64.checked_add_signed(quarters)?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An ordinal: ਪੰਜਵਾਂ, twenty-first, two hundredth. It is a number whose last word is an ordinal. The first and the second
    /// are not read: they are often times, and pronouns (ਇੱਕ ਦੂਜੇ, one another).
    fn ordinal(&self, start: usize) -> Option<(usize, Number)> {
        let is_ordinal =
            |at: usize| matches!(self.meaning(at), Some(Meaning::Ordinal(_) | Meaning::OrdinalScale(_)));
        let as_cardinals = Self { tokens: self.tokens, language: self.language, ordinals_count: true };
        let (end, quarters) = as_cardinals.quarters(start)?;
        let (end, n) =
            if is_ordinal(end - 1) && !(start..end - 1).any(is_ordinal) && quarters.is_multiple_of(4) {
                (end, quarters / 4)
            } else if let Meaning::Ordinal(n) | Meaning::OrdinalScale(n) = self.meaning(start)? {
                (start + 1, n)
            } else {
                return None;
            };
        (n > 2).then_some((end, Number::Ordinal(n)))
    }

    /// How many, with or without a fraction or decimals. A scale behind these multiplies them, if it is larger than those
    /// before it: two point five million, ਦੋ ਲੱਖ ਕਰੋੜ, ਪੰਜ ਕੁ ਸੌ.
    fn amount(&self, start: usize) -> Option<(usize, Number)> {
        let (mut at, mut number) = self.unscaled(start)?;
        let scale = |at: usize| match self.meaning(at) {
            Some(Meaning::Scale(scale)) => scale,
            _ => 1,
        };
        let mut largest = (start..at).map(scale).max()?;
        loop {
            let is_about = self.next(at) == Some(Meaning::About);
            let behind = at + usize::from(is_about);
            let Some(Meaning::Scale(scale)) = self.next(behind).filter(|_| self.continues(at)) else { break };
            let Some(scaled) = number.times(scale).filter(|_| scale > largest && self.counts(&number, scale))
            else {
                break;
            };
            number = scaled;
            largest = scale;
            at = behind + 1;
        }
        Some((at, number))
    }

    /// Whether a number may stand before a scale. In Panjabi a hundred and more count no thousands and lakhs: ਪੰਜ ਸੌ ਹਜ਼ਾਰ ਰੁਪਏ
    /// are five hundred to a thousand rupees, and ਪੰਜਾਹ ਸੌ fifty to a hundred.
    fn counts(&self, number: &Number, scale: u64) -> bool {
        let Some(quarters) = number.size() else { return false };
        let is_round = quarters.is_multiple_of(40) && quarters != 80;
        self.language == Language::English
            || scale >= CRORE
            || (quarters < 400 && !(scale == 100 && quarters > 0 && is_round))
    }

    /// How many, without a scale behind a fraction or decimals.
    fn unscaled(&self, start: usize) -> Option<(usize, Number)> {
        let is_scale = |at: usize| matches!(self.next(at), Some(Meaning::Scale(_)));
        let start = match self.meaning(start)? {
            Meaning::Article if is_scale(start + 1) => start + 1,
            // A half a million.
            Meaning::Article if matches!(self.next(start + 1), Some(Meaning::Part(_))) => {
                return self.unscaled(start + 1);
            }
            Meaning::Article => return None,
            // Half a million, a quarter million.
            Meaning::Part(part) => {
                let at = start + 1 + usize::from(self.next(start + 1) == Some(Meaning::Article));
                return is_scale(at).then_some((at, Number::Quarters(part)));
            }
            _ => start,
        };
        let (at, quarters) = self.quarters(start)?;
        if !quarters.is_multiple_of(4) {
            return Some((at, Number::Quarters(quarters)));
        }
        if self.next(at) == Some(Meaning::Point)
            && let Some((end, digits)) = self.decimals(at + 1)
        {
            return Some((end, Number::Decimal(quarters / 4, digits)));
        }
        // Three and a half, three and three quarters.
        if self.next(at) == Some(Meaning::And) {
            let (part, times) = match self.next(at + 1) {
                Some(Meaning::Article) => (at + 2, 1),
                Some(Meaning::Small(3)) => (at + 2, 3),
                _ => (at + 1, 1),
            };
            // Two and half past three, two and quarter to three.
            let is_clock = match self.next(part + 1) {
                Some(Meaning::Hour(sign)) => sign > 0 || (part == at + 1 && self.clock(part).is_some()),
                _ => false,
            };
            if let Some(Meaning::Part(one)) = self.next(part).filter(|_| !is_clock) {
                // A lakh and a half.
                let scale = match self.meaning(at - 1) {
                    Some(Meaning::Scale(scale @ 1000..)) if quarters < 400 * scale => scale,
                    _ => 1,
                };
                let parts = (times * one).checked_mul(scale)?;
                return Some((part + 1, Number::Quarters(quarters.checked_add(parts)?)));
            }
        }
        Some((at, Number::Quarters(quarters)))
    }

    /// The digits behind a decimal point, one by one or two as one number: point one four, point fourteen.
    fn decimals(&self, start: usize) -> Option<(usize, Vec<u8>)> {
        let mut digits = Vec::new();
        while let Some(Meaning::Small(digit @ 0..=9)) = self.next(start + digits.len()) {
            digits.push(u8::try_from(digit).ok()?);
        }
        if !digits.is_empty() {
            return Some((start + digits.len(), digits));
        }
        let (end, quarters) = self.small(start).filter(|_| self.continues(start))?;
        let n = u8::try_from(quarters / 4).ok()?;
        (quarters.is_multiple_of(4) && n >= 10).then_some((end, vec![n / 10, n % 10]))
    }

    /// Groups with falling scales, in quarters. A fraction of a scale has no further group: ਡੇਢ ਲੱਖ.
    fn quarters(&self, start: usize) -> Option<(usize, u64)> {
        let mut at = start;
        let mut sum: u64 = 0;
        let mut limit = u64::MAX;
        while at == start || self.continues(at) {
            // "And" may stand before the rest: two thousand and five.
            let skipped = usize::from(at > start && self.next(at) == Some(Meaning::And));
            if skipped == 1 && !self.continues(at + 1) {
                break;
            }
            let Some((end, group)) = self.group(at + skipped, at == start) else { break };
            let scale = if end == start { self.meaning(end) } else { self.next(end) };
            match scale {
                Some(Meaning::Scale(scale @ 1000..))
                    if scale < limit && self.counts(&Number::Quarters(group), scale) =>
                {
                    sum = sum.checked_add(group.checked_mul(scale)?)?;
                    limit = scale;
                    at = end + 1;
                    if !group.is_multiple_of(4) {
                        break;
                    }
                }
                Some(Meaning::Scale(1000..)) if at == start => return Some((end, group)),
                // ਦੋ ਹਜ਼ਾਰ ਪੰਜ ਸੌ ਕਰੋੜ
                Some(Meaning::Scale(CRORE..)) if limit == 1000 && group.is_multiple_of(4) => {
                    return Some((end, sum.checked_add(group)?));
                }
                // A group with a scale that is not smaller starts another number.
                Some(Meaning::Scale(1000..)) => break,
                // So does a group that is too large for the rest of this one.
                _ if group >= 4 * limit.min(10_000) => break,
                _ => return Some((end, sum.checked_add(group)?)),
            }
        }
        (at > start).then_some((at, sum))
    }

    /// A number below 10,000 of at most one hundred and a rest, in quarters; or a scale alone, which is one of it and only the
    /// first of a number.
    fn group(&self, start: usize, is_first: bool) -> Option<(usize, u64)> {
        let (at, small) = match self.meaning(start)? {
            Meaning::Scale(_) if !is_first => return None,
            Meaning::Scale(100) => (start, 4),
            Meaning::Scale(_) => return Some((start, 4)),
            _ => self.small(start)?,
        };
        let is_hundred = |at: usize| self.next(at) == Some(Meaning::Scale(100));
        if at != start && !(is_hundred(at) && self.counts(&Number::Quarters(small), 100)) {
            return Some((at, small));
        }
        // ਡੇਢ ਸੌ, ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ, two hundred and five.
        let hundreds = small * 100;
        let at = at + 1;
        let skipped = usize::from(self.next(at) == Some(Meaning::And));
        let rest = self.small(at + skipped).filter(|_| self.continues(at) && self.continues(at + skipped));
        match rest.filter(|_| small.is_multiple_of(4)) {
            // 100 5 1000: the five belongs to the hundred, whatever follows. A further hundred starts another number.
            Some((end, rest)) if !is_hundred(end) => Some((end, hundreds + rest)),
            _ => Some((at, hundreds)),
        }
    }

    /// A number below 100, or one with a fraction, in quarters.
    fn small(&self, start: usize) -> Option<(usize, u64)> {
        match self.meaning(start)? {
            Meaning::Small(n) => Some((start + 1, 4 * n)),
            Meaning::Tens(tens) => match self.next(start + 1) {
                Some(Meaning::Small(n @ 1..=9)) => Some((start + 2, 4 * (tens + n))),
                _ => Some((start + 1, 4 * tens)),
            },
            _ => self.fraction(start),
        }
    }
}
