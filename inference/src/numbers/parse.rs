//! Parses the words of numbers: words with their meanings come in, numbers go out.

use super::number::{Language, Number, Said};
use crate::text::continues_a_word;

/// What a word means in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A number below 100 as one word. In English, below 20.
    Small(u64),
    /// An English multiple of ten from 20 to 90, which a digit may follow.
    Tens(u64),
    /// 100, 1,000, 100,000 and so on.
    Scale(u64),
    /// A number with a fraction as one word, in quarters: ਡੇਢ, ਢਾਈ.
    Quarters(u64),
    /// Quarters that are added to the next number: ਸਾਢੇ, ਸਵਾ; ਪੌਣੇ, which takes one away.
    Adding(i64),
    /// The decimal point.
    Point,
    /// The next digit is said this many times: double.
    Repeat(usize),
    /// An ordinal as one word.
    Ordinal(u64),
    /// A scale as an ordinal: hundredth.
    OrdinalScale(u64),
    /// And, which may stand before the last part of an English number.
    And,
    /// A, which may stand before a scale and before a half or quarter.
    Article,
    /// Half and quarter, in quarters.
    Part(u64),
    /// Past and to, which a part of an hour may stand before: 1 and -1.
    Hour(i64),
    /// What follows the time of a clock: ਵਜੇ.
    OClock,
}

/// A word of a text. An apostrophe between letters does not end it.
#[derive(Debug, Clone)]
pub(super) struct Token<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: &'a str,
    /// What stands between the word before and this one; nothing before the first word.
    pub(super) before: &'a str,
    pub(super) meaning: Option<Meaning>,
    /// Whether the word alone is usually something else than a number.
    pub(super) is_doubtful: bool,
}

impl<'a> Token<'a> {
    /// The words of a text.
    pub(super) fn all(text: &'a str, meaning: impl Fn(&str) -> Option<(Meaning, bool)>) -> Vec<Self> {
        let mut tokens: Vec<Self> = Vec::new();
        let mut last = 0;
        while let Some(found) = text[last..].find(continues_a_word) {
            let start = last + found;
            let mut end = start + word(&text[start..]);
            while let Some(rest) = text[end..].strip_prefix(['\'', '’']).filter(|rest| word(rest) > 0) {
                end = text.len() - rest.len() + word(rest);
            }
            let found = meaning(&text[start..end]);
            tokens.push(Self {
                start,
                end,
                text: &text[start..end],
                before: if tokens.is_empty() { "" } else { &text[last..start] },
                meaning: found.map(|(meaning, _)| meaning),
                is_doubtful: found.is_some_and(|(_, is_doubtful)| is_doubtful),
            });
            last = end;
        }
        tokens
    }

    /// Whether only one space or hyphen stands between the word before and this one.
    pub(super) fn follows(&self) -> bool {
        matches!(self.before, " " | "-" | "\u{a0}")
    }

    /// Whether the word is a number below 100.
    pub(super) fn is_small(&self) -> bool {
        matches!(self.meaning, Some(Meaning::Small(_) | Meaning::Tens(_)))
    }
}

/// The length of the letters, digits and marks at the start of a text.
fn word(text: &str) -> usize {
    text.find(|c| !continues_a_word(c)).unwrap_or(text.len())
}

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
        self.tokens.get(at).is_some_and(Token::follows)
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
        let hour = |quarters: i64| {
            let (hour, quarter) = (quarters.div_euclid(4), quarters.rem_euclid(4));
            let hour = if hour == 0 { 12 } else { hour };
            let minute = u8::try_from(quarter * 15).ok()?;
            (1..=12).contains(&hour).then_some(Number::Clock(u8::try_from(hour).ok()?, minute))
        };
        if let Some(Meaning::Part(quarters)) = self.meaning(start) {
            let Some(Meaning::Hour(sign)) = self.next(start + 1) else { return None };
            let Some(Meaning::Small(n @ 1..=12)) = self.next(start + 2) else { return None };
            let (n, quarters) = (i64::try_from(n).ok()?, i64::try_from(quarters).ok()?);
            return Some((start + 3, hour(4 * n + sign * quarters)?));
        }
        let (end, quarters) = self.fraction(start)?;
        let is_clock = self.next(end) == Some(Meaning::OClock);
        if is_clock { Some((end, hour(i64::try_from(quarters).ok()?)?)) } else { None }
    }

    /// A number with a fraction before the number, in quarters: ਡੇਢ, ਸਾਢੇ ਤਿੰਨ.
    fn fraction(&self, start: usize) -> Option<(usize, u64)> {
        match self.meaning(start)? {
            Meaning::Quarters(quarters) => Some((start + 1, quarters)),
            Meaning::Adding(quarters) => match self.next(start + 1) {
                Some(Meaning::Small(n)) => Some((start + 2, (4 * n).checked_add_signed(quarters)?)),
                // ਸਵਾ ਸੌ is a quarter more than one hundred, ਪੌਣਾ ਘੰਟਾ three quarters of an hour.
                _ => Some((start + 1, 4_u64.checked_add_signed(quarters)?)),
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

    /// How many, with or without a fraction or decimals. A scale behind these multiplies them: two point five million.
    fn amount(&self, start: usize) -> Option<(usize, Number)> {
        let (mut at, mut number) = self.unscaled(start)?;
        while let Some(Meaning::Scale(scale)) = self.next(at)
            && let Some(scaled) = number.times(scale)
        {
            number = scaled;
            at += 1;
        }
        Some((at, number))
    }

    /// How many, without a scale behind a fraction or decimals.
    fn unscaled(&self, start: usize) -> Option<(usize, Number)> {
        let start = match (self.meaning(start)?, self.next(start + 1)) {
            (Meaning::Article, Some(Meaning::Scale(_))) => start + 1,
            (Meaning::Article, _) => return None,
            _ => start,
        };
        let (at, quarters) = self.quarters(start)?;
        if !quarters.is_multiple_of(4) {
            return Some((at, Number::Quarters(quarters)));
        }
        if self.next(at) == Some(Meaning::Point) {
            let mut digits = Vec::new();
            while let Some(Meaning::Small(digit @ 0..=9)) = self.next(at + 1 + digits.len()) {
                digits.push(u8::try_from(digit).ok()?);
            }
            if !digits.is_empty() {
                return Some((at + 1 + digits.len(), Number::Decimal(quarters / 4, digits)));
            }
        }
        // Three and a half, three and three quarters.
        if self.next(at) == Some(Meaning::And) {
            let (part, times) = match self.next(at + 1) {
                Some(Meaning::Article) => (at + 2, 1),
                Some(Meaning::Small(3)) => (at + 2, 3),
                _ => (at + 1, 1),
            };
            if let Some(Meaning::Part(one)) = self.next(part)
                && !matches!(self.next(part + 1), Some(Meaning::Hour(_)))
            {
                return Some((part + 1, Number::Quarters(quarters + times * one)));
            }
        }
        Some((at, Number::Quarters(quarters)))
    }

    /// Groups with falling scales, in quarters.
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
            let Some((end, group)) = self.group(at + skipped) else { break };
            // A scale alone, which is one of it, can only be the first.
            let scale = if end == start { self.meaning(end) } else { self.next(end) };
            if end == at && end > start {
                break;
            }
            match scale {
                Some(Meaning::Scale(scale @ 1000..)) if scale < limit => {
                    sum = sum.checked_add(group.checked_mul(scale)?)?;
                    limit = scale;
                    at = end + 1;
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

    /// A number below 10,000 of at most one hundred and a rest, in quarters; or a scale alone, which is one of it.
    fn group(&self, start: usize) -> Option<(usize, u64)> {
        let (at, small) = match self.meaning(start)? {
            Meaning::Scale(100) => (start, 4),
            Meaning::Scale(_) => return Some((start, 4)),
            _ => self.small(start)?,
        };
        if self.next(at) != Some(Meaning::Scale(100)) && at != start {
            return Some((at, small));
        }
        // ਡੇਢ ਸੌ, ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ, two hundred and five.
        let hundreds = small * 100;
        let at = at + 1;
        let skipped = usize::from(self.next(at) == Some(Meaning::And));
        match self.small(at + skipped).filter(|_| self.continues(at) && self.continues(at + skipped)) {
            // 100 5 1000: the five belongs to the hundred, whatever follows. A further hundred starts another number.
            Some((end, rest)) if self.next(end) != Some(Meaning::Scale(100)) => Some((end, hundreds + rest)),
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
