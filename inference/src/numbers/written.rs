//! The written form: a text with numbers in words comes in, and what is written in figures comes out.
//!
//! - One to nine stay words, except beside a unit, a currency, a month or a label, and beside a number in figures. So do a
//!   thousand and other scales without a number. The first to the fourth are figures in a date only.
//! - Digits one after another are one figure, and so are three or more numbers below 100, as telephone numbers are said in
//!   pairs, unless somebody counts in equal steps.
//! - Two numbers that mean one or the other have a hyphen between: ਦੋ ਤਿੰਨ ਦਿਨ is 2-3 ਦਿਨ.
//! - Commas stand by lakh and crore in Panjabi, and in English where one of these is said; else by thousands.

use std::ops::Range;

use super::{
    context::{LABELS, Place, is_listed},
    figure::{Grouping, figure},
    number::{Language, Number, Said},
    parse::{Meaning, Token},
    run::{Run, runs},
};

/// A part of a text that is written in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure {
    /// The byte of the text at which it starts.
    pub(crate) start: usize,
    /// The byte behind its end.
    pub(crate) end: usize,
    /// How it is written. It has no spaces.
    pub(crate) text: String,
}

/// The signs of currencies, their names, and the names of their hundredth parts.
const CURRENCIES: [(&str, &str, &str); 2] = [
    ("₹", "ਰੁਪਏ ਰੁਪਈਏ ਰੁਪਿਆਂ ਰੁਪਿਆ ਰੁਪਈਆ rupees rupee", "ਪੈਸੇ ਪੈਸਾ paise paisa"),
    ("$", "ਡਾਲਰ ਡਾਲਰਾਂ dollars dollar", "ਸੈਂਟ cents cent"),
];
const PERCENT: &str = "ਪ੍ਰਤੀਸ਼ਤ ਫ਼ੀਸਦੀ ਫੀਸਦੀ ਪਰਸੈਂਟ percent";
/// Units of measure and of the clock, with which every number is a figure.
const UNITS: &str = "ਵਜੇ ਵੱਜੇ ਵੱਜ ਤਾਰੀਖ਼ ਤਾਰੀਖ ਕਿਲੋ ਕਿੱਲੋ ਕਿਲੋਗ੍ਰਾਮ ਗ੍ਰਾਮ ਕੁਇੰਟਲ ਟਨ ਲੀਟਰ ਲਿਟਰ ਮੀਟਰ ਕਿਲੋਮੀਟਰ ਸੈਂਟੀਮੀਟਰ ਮੀਲ ਫੁੱਟ ਇੰਚ ਗਜ਼ ਏਕੜ ਡਿਗਰੀ \
    am pm o'clock o’clock kilo kilos kilogram kilograms kg gram grams quintal quintals tonne tonnes litre litres liter liters metre metres \
    meter meters kilometre kilometres kilometer kilometers km cm mile miles foot feet inch inches acre acres degree degrees";
/// English words behind which a number says which one.
const ENGLISH_LABELS: &str = "number page room chapter section platform code";
const MONTHS: &str = "ਜਨਵਰੀ ਫ਼ਰਵਰੀ ਫਰਵਰੀ ਮਾਰਚ ਅਪ੍ਰੈਲ ਮਈ ਜੂਨ ਜੁਲਾਈ ਅਗਸਤ ਸਤੰਬਰ ਅਕਤੂਬਰ ਨਵੰਬਰ ਦਸੰਬਰ ਚੇਤ ਵਿਸਾਖ ਜੇਠ ਹਾੜ ਸਾਉਣ ਭਾਦੋਂ ਅੱਸੂ ਕੱਤਕ ਮੱਘਰ ਪੋਹ ਮਾਘ ਫੱਗਣ \
    january february april june july august september october november december March May";
/// The tens of decades, from twenty.
const DECADES: [&str; 8] =
    ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"];
/// Words between two numbers of which both are figures if one is.
const JOINING: &str = "and or to ਅਤੇ ਤੇ ਜਾਂ ਤੋਂ";
/// Those behind which a scale can be meant for both: ਪੰਜ ਤੋਂ ਦਸ ਹਜ਼ਾਰ.
const ALTERNATIVES: &str = "or to ਜਾਂ ਤੋਂ";
/// Scales with which commas stand by lakh and crore.
const INDIAN_SCALES: &str = "lakh lakhs lac crore crores";

/// The parts of a text that are written in figures, in order. The text is in NFC.
pub(crate) fn figures(text: &str, language: Language) -> Vec<Figure> {
    let tokens = Token::all(text, |word| language.meaning(word));
    let writer = Writer { tokens: &tokens, language };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut end = 0;
    for run in runs(&tokens, language) {
        pieces.extend((end..run.tokens.start).filter_map(|at| writer.day_or_hour(at)));
        end = run.tokens.end;
        pieces.extend(writer.pieces(&run));
    }
    pieces.extend((end..tokens.len()).filter_map(|at| writer.day_or_hour(at)));
    writer.join(&mut pieces);
    for piece in &mut pieces {
        writer.add_unit(piece);
    }
    writer.add_hundredths(&mut pieces);
    let figure = |Piece { words, text, .. }| Figure {
        start: tokens[words.start].start,
        end: tokens[words.end - 1].end,
        text,
    };
    pieces.into_iter().filter(|piece| piece.is_figure).map(figure).collect()
}

/// A number, or numbers that are written as one.
#[derive(Debug)]
struct Piece {
    words: Range<usize>,
    text: String,
    /// Whether it is written in figures.
    is_figure: bool,
    /// The number, if it is a whole one that counts.
    count: Option<u64>,
    /// Whether a unit can stand behind it.
    is_amount: bool,
    /// The names of the hundredth parts of its currency.
    hundredths: Option<&'static str>,
}

impl Piece {
    /// A figure for numbers that are written as one.
    fn one(said: &[Said], text: String) -> Self {
        let words = said[0].words.start..said[said.len() - 1].words.end;
        Self { words, text, is_figure: true, count: None, is_amount: true, hundredths: None }
    }
}

/// Writes the numbers of a text.
struct Writer<'a> {
    tokens: &'a [Token<'a>],
    language: Language,
}

impl Writer<'_> {
    /// The pieces of a run.
    fn pieces(&self, run: &Run) -> Vec<Piece> {
        let place = Place::new(self.tokens, run.tokens.clone(), self.language);
        let mut pieces = Vec::new();
        for group in &run.groups {
            let dated = self.with_year(group, &place);
            // ਤਿੰਨ ਤਿੰਨ ਮੈਚ are three each.
            let is_each = matches!(&group[..], [first, second] if first.number == second.number && first.words != second.words)
                && self.language == Language::Panjabi
                && !place.is_noun();
            let as_one = || self.range(group, &place).or_else(|| digits(group));
            if let Some(text) = (dated.is_none() && !is_each).then(as_one).flatten() {
                pieces.push(Piece::one(group, text));
                continue;
            }
            let is_beside = !is_each && (run.groups.len() > 1 || group.len() > 1);
            // The digits of "double five" are one figure beside any other number.
            for said in dated.as_ref().unwrap_or(group).chunk_by(|one, next| one.words == next.words) {
                if let Some(text) = digits(said) {
                    pieces.push(Piece::one(said, text));
                    continue;
                }
                let is_part = matches!(said[0].number, Number::Quarters(1..=3));
                let piece = self.piece(&said[0]);
                pieces.push(Piece { is_figure: !is_part && (piece.is_figure || is_beside), ..piece });
            }
        }
        pieces
    }

    fn piece(&self, said: &Said) -> Piece {
        // Five o'clock is 5 o'clock.
        let hour = match said.number {
            Number::Clock(hour, 0) if self.tokens[said.words.end - 1].meaning == Some(Meaning::OClock) => {
                Some(Said {
                    number: Number::whole(u64::from(hour)),
                    words: said.words.start..said.words.end - 1,
                })
            }
            _ => None,
        };
        let Said { number, words } = hour.as_ref().unwrap_or(said);
        let count = match number {
            Number::Quarters(quarters) if quarters.is_multiple_of(4) => Some(quarters / 4),
            _ => None,
        };
        let stays = match (number, &self.tokens[words.clone()]) {
            (Number::Ordinal(n), _) => *n < 5,
            (
                _,
                [Token { meaning: Some(Meaning::Scale(1000..)), .. }]
                | [
                    Token { meaning: Some(Meaning::Article), .. },
                    Token { meaning: Some(Meaning::Scale(1000..)), .. },
                ],
            ) => true,
            _ => count.is_some_and(|count| count < 10),
        };
        Piece {
            text: self.figure(number, words),
            is_figure: !stays || self.is_told_apart(words),
            count,
            is_amount: !matches!(number, Number::Ordinal(_) | Number::Clock(..)),
            hundredths: None,
            words: words.clone(),
        }
    }

    fn figure(&self, number: &Number, words: &Range<usize>) -> String {
        let mut said = self.tokens[words.clone()].iter();
        let is_indian = self.language == Language::Panjabi
            || said.any(|word| is_listed(INDIAN_SCALES, &word.text.to_ascii_lowercase()));
        let grouping = if is_indian { Grouping::Indian } else { Grouping::International };
        figure(number, grouping, self.language, self.tokens[words.end - 1].text)
    }

    /// Two numbers that mean one or the other, or all between: ਦੋ ਤਿੰਨ ਦਿਨ, ਦਸ ਬਾਰਾਂ ਬੰਦੇ, ਦੋ ਤਿੰਨ ਸੌ.
    fn range(&self, group: &[Said], place: &Place<'_>) -> Option<String> {
        let [first, second] = group else { return None };
        let (Number::Quarters(low), Number::Quarters(high)) = (&first.number, &second.number) else {
            return None;
        };
        let counts = match self.language {
            Language::Panjabi => !place.is_noun(),
            Language::English => place.after().is_some_and(|noun| noun.len() > 3 && noun.ends_with('s')),
        };
        let is_range = !place.before().is_some_and(is_month) && counts && low < high && *high <= 2 * low;
        let low = self.scaled(first, second).or(is_range.then_some(*low))?;
        let text = |quarters: u64| self.figure(&Number::Quarters(quarters), &second.words);
        Some(format!("{}-{}", text(low), text(*high)))
    }

    /// The first of two numbers in quarters, if the scale of the second is meant for both.
    fn scaled(&self, first: &Said, second: &Said) -> Option<u64> {
        let Some(Meaning::Scale(scale)) = self.tokens[second.words.end - 1].meaning else { return None };
        let Number::Quarters(high) = second.number else { return None };
        let low = first.number.small()? * 4 * scale;
        (low < high && high.is_multiple_of(4 * scale)).then_some(low)
    }

    /// The day and the year behind a month: August fifteen nineteen forty-seven.
    fn with_year(&self, group: &[Said], place: &Place<'_>) -> Option<Vec<Said>> {
        let [day, century, rest] = group else { return None };
        let (century_n, rest_n) = (century.number.small()?, rest.number.small()?);
        let is_year = self.language == Language::English
            && (11..=20).contains(&century_n)
            && rest_n >= 10
            && place.before().is_some_and(is_month);
        let year = Said {
            number: Number::Year(100 * century_n + rest_n),
            words: century.words.start..rest.words.end,
        };
        is_year.then(|| vec![day.clone(), year])
    }

    /// The day of a date or an hour whose word is often no number, or no figure: ਇੱਕ ਜਨਵਰੀ, the first of May, ਇੱਕ ਵਜੇ.
    fn day_or_hour(&self, at: usize) -> Option<Piece> {
        let is_hour = self.following(at + 1).is_some_and(|next| is_listed("ਵਜੇ ਵੱਜੇ ਵੱਜ pm", next.text));
        let number = match (self.language, self.tokens[at].meaning?) {
            (Language::English, Meaning::Ordinal(n @ 1..=2)) => Number::Ordinal(n),
            (Language::Panjabi, Meaning::Ordinal(n @ 1..=2)) => Number::whole(n),
            (language, Meaning::Small(n @ 1..=31)) if is_hour || language == Language::Panjabi => {
                Number::whole(n)
            }
            _ => return None,
        };
        let words = at..at + 1;
        let is_either = is_hour || self.is_beside_month(&words);
        is_either.then(|| Piece { is_amount: false, ..self.piece(&Said { number, words }) })
    }

    /// Whether a unit, a currency, a month or a label makes a small number a figure.
    fn is_told_apart(&self, words: &Range<usize>) -> bool {
        let is_unit = |next: &Token<'_>| {
            let is_named = |names: &str| is_listed(names, &next.text.to_ascii_lowercase());
            is_named(UNITS) || CURRENCIES.iter().any(|(_, names, _)| is_named(names))
        };
        let is_label =
            |word: &str| is_listed(LABELS, word) || is_listed(ENGLISH_LABELS, &word.to_ascii_lowercase());
        self.n_per_cent(words.end) > 0
            || self.following(words.end).is_some_and(is_unit)
            || Place::new(self.tokens, words.clone(), self.language).before().is_some_and(is_label)
            || self.is_beside_month(words)
    }

    /// Whether a month stands behind a day, or before one that ends a part of its sentence: in May two people came.
    fn is_beside_month(&self, words: &Range<usize>) -> bool {
        let of = usize::from(self.following(words.end).is_some_and(|next| next.text == "of"));
        let before = Place::new(self.tokens, words.clone(), self.language).before();
        self.following(words.end + of).is_some_and(|next| is_month(next.text))
            || (before.is_some_and(is_month)
                && self.following(words.end).is_none_or(|next| next.meaning.is_some()))
    }

    /// Makes both of two joined numbers figures if one is, from the left and from the right.
    fn join(&self, pieces: &mut [Piece]) {
        for at in 1..pieces.len() {
            let (before, behind) = pieces.split_at_mut(at);
            let (first, second) = (&mut before[at - 1], &mut behind[0]);
            let Some(joining) = self.joining(first, second) else { continue };
            let said = |piece: &Piece| {
                Some(Said { number: Number::whole(piece.count?), words: piece.words.clone() })
            };
            if is_listed(ALTERNATIVES, joining)
                && let (Some(low), Some(high)) = (said(first), said(second))
                && let Some(scaled) = self.scaled(&low, &high)
            {
                first.text = self.figure(&Number::Quarters(scaled), &second.words);
                first.is_figure = true;
            }
            second.is_figure |= first.is_figure;
        }
        for at in (1..pieces.len()).rev() {
            let is_joined = self.joining(&pieces[at - 1], &pieces[at]).is_some();
            pieces[at - 1].is_figure |= is_joined && pieces[at].is_figure;
        }
    }

    /// The word that joins two numbers, if there is one word between.
    fn joining(&self, first: &Piece, second: &Piece) -> Option<&str> {
        let word = self.following(first.words.end)?;
        let is_next =
            first.words.end + 1 == second.words.start && self.following(second.words.start).is_some();
        (is_next && is_listed(JOINING, word.text)).then_some(word.text)
    }

    /// Adds the sign of a unit, and the end of a decade.
    fn add_unit(&self, piece: &mut Piece) {
        let Some(next) = self.following(piece.words.end) else { return };
        if !piece.is_amount {
            return;
        }
        let name = &next.text.to_ascii_lowercase()[..];
        let tens = DECADES.iter().position(|decade| *decade == name);
        if let (Some(tens), Some(century @ 11..=20)) = (tens, piece.count) {
            piece.text = format!("{century}{}0s", tens + 2);
        } else if let Some((sign, _, hundredths)) =
            CURRENCIES.iter().find(|(_, names, _)| is_listed(names, name))
        {
            piece.text.insert_str(0, sign);
            piece.hundredths = Some(hundredths);
        } else {
            let n_words = self.n_per_cent(piece.words.end);
            if n_words > 0 {
                piece.text.push('%');
                piece.words.end += n_words;
            }
            return;
        }
        piece.words.end += 1;
    }

    /// The number of words that say per cent.
    fn n_per_cent(&self, at: usize) -> usize {
        let is = |at: usize, names: &str| {
            self.following(at).is_some_and(|word| is_listed(names, &word.text.to_ascii_lowercase()))
        };
        if is(at, PERCENT) {
            1
        } else if is(at, "per ਫ਼ੀ ਫੀ") && is(at + 1, "cent ਸਦੀ") {
            2
        } else {
            0
        }
    }

    /// Makes one figure of a sum and its hundredth parts: five rupees and fifty paise.
    fn add_hundredths(&self, pieces: &mut Vec<Piece>) {
        for at in (1..pieces.len()).rev() {
            let (first, second) = (&pieces[at - 1], &pieces[at]);
            let is_next = first.words.end == second.words.start
                && self.following(second.words.start).is_some()
                || self.joining(first, second).is_some_and(|word| ["and", "ਅਤੇ", "ਤੇ"].contains(&word));
            let (Some(names), Some(hundredths @ 1..=99), Some(_)) =
                (first.hundredths, second.count, first.count)
            else {
                continue;
            };
            let is_named = self
                .following(second.words.end)
                .is_some_and(|name| is_listed(names, &name.text.to_ascii_lowercase()));
            if is_next && is_named {
                let end = second.words.end + 1;
                pieces.remove(at);
                pieces[at - 1].words.end = end;
                pieces[at - 1].text = format!("{}.{hundredths:02}", pieces[at - 1].text);
            }
        }
    }

    /// A word that stands behind another with only a space or hyphen between.
    fn following(&self, at: usize) -> Option<&Token<'_>> {
        self.tokens.get(at).filter(|token| token.follows())
    }
}

/// Digits as one figure, and three or more numbers below 100 unless somebody counts.
fn digits(group: &[Said]) -> Option<String> {
    let numbers: Vec<u64> = group.iter().map(|said| said.number.small()).collect::<Option<_>>()?;
    let are_digits = numbers.iter().all(|n| *n < 10);
    let steps = || numbers.windows(2).map(|pair| pair[1].checked_sub(pair[0]).filter(|step| *step > 0));
    let is_counting = steps().all(|step| step.is_some() && step == steps().next().flatten());
    let is_one = match numbers.len() {
        0 | 1 => false,
        2 => are_digits || (numbers[0] == 19 && numbers[1] >= 20), // a year
        _ => are_digits || !is_counting,
    };
    is_one.then(|| numbers.iter().map(u64::to_string).collect())
}

/// Whether a word is a month. In lower case, may and march are verbs.
fn is_month(word: &str) -> bool {
    is_listed(MONTHS, word)
        || (word.starts_with(char::is_uppercase) && is_listed(MONTHS, &word.to_ascii_lowercase()))
}

#[cfg(test)]
#[path = "written_tests.rs"]
mod tests;
