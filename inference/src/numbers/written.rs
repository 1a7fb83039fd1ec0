//! The written form: a text with numbers in words comes in, and what is written in figures comes out.
//!
//! - What is not understood whole stays in words: a run of words of numbers is written in figures as a whole, or not at all.
//! - One to nine stay words, except beside a unit, a currency, a month or a label, and beside a number in figures. So do a
//!   hundred and other scales without a number. The first to the fourth are figures in a date only.
//! - The digits of a string are one figure, and so are the pairs of a telephone number.
//! - Two numbers that mean one or the other have a hyphen between: ਦੋ ਤਿੰਨ ਦਿਨ is 2-3 ਦਿਨ. So have two that mean so many each,
//!   which are figures beside a unit or a currency only: ਦਸ ਦਸ ਰੁਪਏ is 10-10 ਰੁਪਏ.
//! - Commas stand by lakh and crore in Panjabi, and in English where one of these is said; else by thousands.

use std::ops::Range;

use super::{
    context::Place,
    figure::{Grouping, figure, money},
    find::runs,
    link::Joint,
    number::{Kind, Language, Number, Reading, Said},
    run::Run,
    token::{Meaning, Token},
    words::{
        ALTERNATIVES, AND, CURRENCY_NAMES, DECADES, HUNDREDTHS, INDIAN_SCALES, LABELS, LARGER_UNITS, PERCENT,
        POUNDS, SIGNS, UNITS, is_listed, is_month, names,
    },
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

/// The parts of a text that are written in figures, in order. The text is in NFC.
pub(crate) fn figures(text: &str, language: Language) -> Vec<Figure> {
    let tokens = Token::all(text, language);
    let writer = Writer { tokens: &tokens, language };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut end = 0;
    for run in runs(&tokens, language) {
        pieces.extend((end..run.tokens.start).filter_map(|at| writer.day_or_hour(at)));
        end = run.tokens.end;
        if run.is_whole {
            pieces.extend(writer.pieces(&run));
        }
    }
    pieces.extend((end..tokens.len()).filter_map(|at| writer.day_or_hour(at)));
    writer.join(&mut pieces);
    for at in 0..pieces.len() {
        writer.add_unit(&mut pieces, at);
    }
    writer.add_hundredths(&mut pieces);
    let pieces = pieces.into_iter().filter(|piece| piece.is_figure);
    pieces.flat_map(|piece| writer.figures(&piece)).collect()
}

/// A number, or numbers that are written as one.
#[derive(Debug)]
struct Piece {
    words: Range<usize>,
    text: String,
    /// Whether it is written in figures.
    is_figure: bool,
    /// The number, or the last of a range, in quarters, if it is one that counts.
    quarters: Option<u64>,
    /// Whether the sign of a unit can stand beside it.
    is_amount: bool,
    /// The currency whose sign stands before it, by its place in the lists.
    currency: Option<usize>,
}

impl Piece {
    /// The number, if it is a whole one that counts.
    fn count(&self) -> Option<u64> {
        self.quarters.filter(|quarters| quarters.is_multiple_of(4)).map(|quarters| quarters / 4)
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
        let is_list = run.groups.len() > 1;
        let mut pieces: Vec<Piece> = run.groups.iter().flat_map(|group| self.group(group)).collect();
        for piece in pieces.iter_mut().filter(|_| is_list) {
            piece.is_figure = true;
            piece.is_amount = false;
        }
        // Neither are the others of a list, if one of them is not understood.
        if is_list && run.groups.iter().any(|group| group.kind == Kind::List) { Vec::new() } else { pieces }
    }

    fn group(&self, group: &Reading) -> Vec<Piece> {
        let said = &group.said;
        let words = said[0].words.start..said[said.len() - 1].words.end;
        let value = |said: &Said| match said.number {
            Number::Quarters(quarters) => Some(quarters),
            _ => None,
        };
        let one = |text, is_figure| Piece {
            text,
            is_figure,
            words: words.clone(),
            quarters: said.last().and_then(value),
            is_amount: !self.is_about(&words),
            currency: None,
        };
        let both = |low: &Said, high: &Said| {
            let text = |said: &Said| self.figure(&said.number, &words);
            format!("{}-{}", text(low), text(high))
        };
        match (&said[..], group.kind) {
            (_, Kind::Plain) => said.iter().map(|number| self.piece(number, said.len() > 1)).collect(),
            ([low, high], Kind::Range) => vec![one(both(low, high), true)],
            ([first, second], Kind::Each) => {
                let is_figure = self.is_told_apart(&words);
                vec![Piece { is_amount: false, ..one(both(first, second), is_figure) }]
            }
            (_, Kind::Digits) => {
                let digits = said.iter().filter_map(|said| Some(said.number.small()?.to_string()));
                vec![Piece { quarters: None, ..one(digits.collect(), true) }]
            }
            _ if self.is_counting(said) => said.iter().map(|number| self.piece(number, true)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether somebody counts in equal steps, and counts nothing: ten twenty thirty.
    fn is_counting(&self, said: &[Said]) -> bool {
        let numbers: Option<Vec<u64>> = said.iter().map(|said| said.number.small()).collect();
        let is_counting = numbers.is_some_and(|numbers| {
            let step = numbers[1].saturating_sub(numbers[0]);
            numbers.len() > 2
                && step > 0
                && numbers[0] >= 10
                && numbers.windows(2).all(|pair| pair[0] + step == pair[1])
        });
        let behind = self.following(said[said.len() - 1].words.end);
        is_counting && behind.is_none()
    }

    fn piece(&self, said: &Said, is_beside: bool) -> Piece {
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
        let quarters = match number {
            Number::Quarters(quarters) => Some(*quarters),
            _ => None,
        };
        let stays = match (number, &self.tokens[words.clone()]) {
            (Number::Ordinal(n), _) => *n < 5,
            (
                _,
                [Token { meaning: Some(Meaning::Scale(_)), .. }]
                | [
                    Token { meaning: Some(Meaning::Article), .. },
                    Token { meaning: Some(Meaning::Scale(_)), .. },
                ],
            ) => true,
            _ => quarters.is_some_and(|quarters| quarters.is_multiple_of(4) && quarters < 40),
        };
        let is_part = matches!(quarters, Some(1..=3));
        Piece {
            text: self.figure(number, words),
            is_figure: !is_part && (!stays || is_beside || self.is_told_apart(words)),
            quarters,
            is_amount: !matches!(number, Number::Ordinal(_) | Number::Clock(..)) && !self.is_about(words),
            currency: None,
            words: words.clone(),
        }
    }

    /// Whether ਕੁ stands between the words of a number.
    fn is_about(&self, words: &Range<usize>) -> bool {
        self.tokens[words.clone()].iter().any(|word| word.meaning == Some(Meaning::About))
    }

    fn figure(&self, number: &Number, words: &Range<usize>) -> String {
        let is_said = |word: &&Token<'_>| word.meaning.is_some() || names(ALTERNATIVES, word.text);
        let mut said = self.tokens[words.start..].iter().take_while(is_said);
        let is_indian =
            self.language == Language::Panjabi || said.any(|word| names(INDIAN_SCALES, word.text));
        let grouping = if is_indian { Grouping::Indian } else { Grouping::International };
        figure(number, grouping, self.language, self.tokens[words.end - 1].text)
    }

    /// The day of a date or an hour whose word is often no number, or no figure: ਇੱਕ ਜਨਵਰੀ, the first of May, ਇੱਕ ਵਜੇ.
    fn day_or_hour(&self, at: usize) -> Option<Piece> {
        let is_hour = self
            .following(at + 1)
            .is_some_and(|next| next.meaning == Some(Meaning::OClock) || names("pm p.m a.m", next.text));
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
        is_either.then(|| Piece { is_amount: false, ..self.piece(&Said { number, words }, false) })
    }

    /// Whether a unit, a currency, a month or a label makes a small number a figure.
    fn is_told_apart(&self, words: &Range<usize>) -> bool {
        let is_unit = |next: &Token<'_>| {
            names(UNITS, next.text) || CURRENCY_NAMES.iter().any(|listed| names(listed, next.text))
        };
        let place = Place::new(self.tokens, words.clone(), self.language);
        self.n_per_cent(words.end) > 0
            || self.following(words.end).is_some_and(is_unit)
            || place.before().is_some_and(|word| names(LABELS, word))
            || self.are_minutes(words)
            || self.is_beside_month(words)
    }

    /// Whether minutes stand beside an hour: ਦੋ ਵੱਜ ਕੇ ਪੰਜ ਮਿੰਟ, ਦੋ ਵੱਜਣ ਵਿੱਚ ਪੰਜ ਮਿੰਟ.
    fn are_minutes(&self, words: &Range<usize>) -> bool {
        let word = |n: usize| self.tokens.get(words.start.checked_sub(n)?).map(|token| token.text);
        let is_behind_hour = word(1).is_some_and(|word| is_listed("ਵੱਜਕੇ ਵਜਕੇ", word))
            || (word(1).is_some_and(|word| is_listed("ਕੇ ਵਿੱਚ ਵਿਚ ਚ", word))
                && word(2).is_some_and(|word| is_listed("ਵੱਜ ਵਜ ਵੱਜਣ ਵਜਣ", word)));
        is_behind_hour
            && self.following(words.end).is_none_or(|next| is_listed("ਮਿੰਟ ਮਿੰਟਾਂ ਹੋ ਹੋਏ ਹਨ ਤੇ", next.text))
    }

    /// Whether a month stands behind a day, or before one that ends a part of its sentence: in May two people came.
    fn is_beside_month(&self, words: &Range<usize>) -> bool {
        let of = usize::from(self.following(words.end).is_some_and(|next| next.text == "of"));
        let before = Place::new(self.tokens, words.clone(), self.language).before();
        self.following(words.end + of).is_some_and(|next| is_month(next.text))
            || (before.is_some_and(is_month)
                && self.following(words.end).is_none_or(|next| next.meaning.is_some()))
    }

    /// Makes both of two joined numbers figures if one is, from the left and from the right. Ordinals beside each other are
    /// figures together: ਚੌਥੀ ਪੰਜਵੀਂ ਜਮਾਤ.
    fn join(&self, pieces: &mut [Piece]) {
        let joined: Vec<bool> = (1..pieces.len())
            .map(|at| {
                let (first, second) = (&pieces[at - 1], &pieces[at]);
                self.joint(first, second).is_some() || self.is_compound(first, second)
            })
            .collect();
        for (at, _) in joined.iter().enumerate().filter(|(_, joined)| **joined) {
            pieces[at + 1].is_figure |= pieces[at].is_figure;
        }
        for (at, _) in joined.iter().enumerate().rev().filter(|(_, joined)| **joined) {
            pieces[at].is_figure |= pieces[at + 1].is_figure;
        }
        for at in 1..pieces.len() {
            let (first, second) = (&pieces[at - 1].words, &pieces[at].words);
            let is_ordinal = |words: &Range<usize>| {
                matches!(
                    self.tokens[words.end - 1].meaning,
                    Some(Meaning::Ordinal(_) | Meaning::OrdinalScale(_))
                )
            };
            let is_next = first.end == second.start && self.following(second.start).is_some();
            if is_next && is_ordinal(first) && is_ordinal(second) {
                let are_figures = pieces[at - 1].is_figure && pieces[at].is_figure;
                pieces[at - 1].is_figure = are_figures;
                pieces[at].is_figure = are_figures;
            }
        }
    }

    /// Whether a larger unit stands between two numbers: two hours and thirty minutes, six foot two.
    fn is_compound(&self, first: &Piece, second: &Piece) -> bool {
        let is_unit = self.following(first.words.end).is_some_and(|unit| names(LARGER_UNITS, unit.text));
        let is_and = self.following(first.words.end + 1).is_some_and(|word| names(AND, word.text));
        let start = first.words.end + 1 + usize::from(is_and);
        is_unit && start == second.words.start && self.following(start).is_some()
    }

    /// The words that join two numbers.
    fn joint(&self, first: &Piece, second: &Piece) -> Option<Joint> {
        let joint = Joint::before(self.tokens, second.words.start, self.language)?;
        (joint.first_end == first.words.end).then_some(joint)
    }

    /// Adds the sign of a unit, and the end of a decade. The sign of a currency stands before the first of two alternatives.
    fn add_unit(&self, pieces: &mut [Piece], at: usize) {
        let (before, behind) = pieces.split_at_mut(at);
        let piece = &mut behind[0];
        let Some(next) = self.following(piece.words.end).filter(|_| piece.is_amount) else { return };
        let tens = DECADES.iter().position(|decade| names(decade, next.text));
        let is_sum = || Place::new(self.tokens, piece.words.clone(), self.language).is_sum();
        let currency = CURRENCY_NAMES.iter().position(|listed| names(listed, next.text));
        let currency = currency.filter(|currency| *currency != POUNDS || is_sum());
        if let (Some(tens), Some(century @ 11..=20)) = (tens, piece.count()) {
            piece.text = format!("{century}{}0s", tens + 2);
            piece.words.end += 1;
        } else if let Some(currency) = currency {
            let first = before.last_mut().filter(|first| {
                let joint = self.joint(first, piece);
                joint.is_some_and(|joint| joint.is_alternative)
                    && first.is_figure
                    && first.is_amount
                    && first.currency.is_none()
                    && first.quarters < piece.quarters
            });
            piece.text = money(&piece.text);
            match first {
                Some(first) => first.text = format!("{}{}", SIGNS[currency], money(&first.text)),
                None => piece.text.insert_str(0, SIGNS[currency]),
            }
            piece.currency = Some(currency);
            piece.words.end += 1;
        } else {
            let n_words = self.n_per_cent(piece.words.end);
            if n_words > 0 {
                piece.text.push('%');
                piece.words.end += n_words;
            }
        }
    }

    /// The number of words that say per cent.
    fn n_per_cent(&self, at: usize) -> usize {
        let is = |at: usize, listed: &str| self.following(at).is_some_and(|word| names(listed, word.text));
        if is(at, PERCENT) {
            1
        } else if is(at, "per ਫ਼ੀ ਫੀ") && is(at + 1, "cent ਸਦੀ") {
            2
        } else {
            0
        }
    }

    /// Makes one figure of a sum and its hundredth parts: five rupees and fifty paise. Five rupees fifty stays in words.
    fn add_hundredths(&self, pieces: &mut Vec<Piece>) {
        for at in (1..pieces.len()).rev() {
            let (first, second) = (&pieces[at - 1], &pieces[at]);
            let is_behind =
                first.words.end == second.words.start && self.following(second.words.start).is_some();
            let is_next = is_behind || self.joint(first, second).is_some_and(|joint| !joint.is_alternative);
            let (Some(currency), Some(hundredths @ 1..=99), Some(_)) =
                (first.currency, second.count(), first.count())
            else {
                continue;
            };
            let is_named =
                self.following(second.words.end).is_some_and(|name| names(HUNDREDTHS[currency], name.text));
            let place = Place::new(self.tokens, second.words.clone(), self.language);
            let is_unread = is_behind && second.currency.is_none() && !is_named && !place.is_counted();
            let end = second.words.end + 1;
            if is_unread {
                let is_range = at > 1 && self.joint(&pieces[at - 2], first).is_some();
                for piece in &mut pieces[at - 1 - usize::from(is_range)..=at] {
                    piece.is_figure = false;
                }
            } else if is_next && is_named {
                pieces.remove(at);
                pieces[at - 1].words.end = end;
                pieces[at - 1].text = format!("{}.{hundredths:02}", pieces[at - 1].text);
            }
        }
    }

    /// The figure of a piece. ਪੰਜ ਕੁ ਸੌ is 500 ਕੁ: two figures, of which none has a space.
    fn figures(&self, piece: &Piece) -> Vec<Figure> {
        let words = &self.tokens[piece.words.clone()];
        let figure = |words: &[Token<'_>], text: &str| Figure {
            start: words[0].start,
            end: words[words.len() - 1].end,
            text: text.to_owned(),
        };
        let about = words.iter().position(|word| word.meaning == Some(Meaning::About));
        match about.map(|about| words.split_at(about)) {
            Some((number, rest)) => vec![figure(number, &piece.text), figure(rest, rest[0].text)],
            None => vec![figure(words, &piece.text)],
        }
    }

    /// A word that stands behind another with only a space or hyphen between.
    fn following(&self, at: usize) -> Option<&Token<'_>> {
        self.tokens.get(at).filter(|token| token.follows())
    }
}

#[cfg(test)]
#[path = "written_tests.rs"]
mod tests;
