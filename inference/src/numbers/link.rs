//! Reads numbers together that words between them make alternatives: ਡੇਢ ਤੋਂ ਦੋ ਲੱਖ, half past nine to quarter to six.

use super::{
    context::Place,
    number::{Kind, Language, Number, Reading},
    parse::Reader,
    run::Run,
    times::{To, to},
    token::{Meaning, Token},
    words::{ALTERNATIVES, AND, TIMES_OF_DAY, names},
};

/// Reads each run and the one before it together, where words between them say that they are alternatives: a scale or ਵਜੇ behind
/// the second is meant for the first, too. Neither is whole without the other.
pub(super) fn link(runs: &mut [Run], tokens: &[Token<'_>], reader: &Reader<'_>, language: Language) {
    for at in 1..runs.len() {
        let is_one = may_be_one(tokens, &runs[at - 1], &runs[at]);
        runs[at - 1].is_whole &= !is_one;
        runs[at].is_whole &= !is_one;
    }
    for at in 0..runs.len() {
        let Some(joint) = Joint::before(tokens, runs[at].tokens.start, language) else { continue };
        let first = at.checked_sub(1).filter(|first| runs[*first].tokens.end == joint.first_end);
        let (before, behind) = runs.split_at_mut(at);
        let Some(first) = first else {
            // Half to two kilos.
            behind[0].is_whole &= !(joint.is_alternative && tokens[joint.first_end - 1].is_numeral());
            continue;
        };
        let (first, second) = (&mut before[first], &mut behind[0]);
        let is_time = language == Language::English && is_time(tokens, first, second);
        let is_before_clock = Place::new(tokens, second.tokens.clone(), language).is_before_clock();
        let is_noun = Place::new(tokens, second.tokens.clone(), language).is_noun();
        let ([low], [high]) = (&mut first.groups[..], &mut second.groups[..]) else { continue };
        let is_list = low.kind == Kind::List || high.kind == Kind::List;
        // Two to three hundred and fifty.
        let is_cut = reader.head(&high.said[0]).is_some_and(|head| is_below(&low.said[0].number, head));
        let scaled = scaled(low, high, reader);
        let is_scaled = scaled.is_some();
        if joint.is_alternative {
            if let Some(scaled) = scaled {
                *low = scaled;
            } else if has_clock(high) || is_before_clock {
                (*low, *high) = hours(low, high);
            } else if has_clock(low) && is_noun {
                *high = hours(low, high).1;
            }
        }
        // Whether the scale of two and three hundred is meant for both is not known.
        let is_whole = if joint.is_alternative {
            first.is_whole && second.is_whole && !is_list && !is_time && !is_cut
        } else {
            !is_scaled
        };
        first.is_whole &= is_whole;
        second.is_whole &= is_whole;
    }
    for at in 0..runs.len() {
        // Five hundred to thousand.
        let behind = runs[at].tokens.end + 1;
        let is_joined =
            tokens.get(behind - 1).is_some_and(|word| word.follows() && names(ALTERNATIVES, word.text));
        let is_numeral = tokens.get(behind).is_some_and(|word| word.follows() && word.is_numeral());
        let is_read = runs.get(at + 1).is_some_and(|next| next.tokens.start == behind);
        runs[at].is_whole &= !(is_joined && is_numeral) || is_read;
        // ਦੋ ਹਜ਼ਾਰ ਅਤੇ ਅਠਾਰਾਂ may be one number.
        let is_scale =
            |at: usize| tokens.get(at).is_some_and(|word| matches!(word.meaning, Some(Meaning::Scale(_))));
        let is_sum = language == Language::Panjabi
            && is_scale(behind - 2)
            && tokens.get(behind - 1).is_some_and(|word| word.follows() && names(AND, word.text))
            && tokens.get(behind).is_some_and(|word| word.follows() && word.is_small())
            && !is_scale(behind + 1);
        if is_sum {
            runs[at].is_whole = false;
            if let Some(next) = runs.get_mut(at + 1).filter(|_| is_read) {
                next.is_whole = false;
            }
        }
    }
}

/// Whether a comma or an ellipsis divides what may be one number: a scale before it, and less than that behind it, or a bare scale. In two
/// thousand, three hundred men the comma stands between two.
fn may_be_one(tokens: &[Token<'_>], first: &Run, second: &Run) -> bool {
    let end = first.tokens.end;
    let start = second.tokens.start;
    let is_and = start == end + 1 && names(AND, tokens[end].text) && tokens[start].follows();
    let is_comma = (start == end || is_and) && matches!(tokens[end].before.trim(), "," | "..." | "…");
    let scale = |at: usize| match tokens[at].meaning {
        Some(Meaning::Scale(scale)) => Some(scale),
        _ => None,
    };
    let size = second.said().next().and_then(|said| said.number.size());
    let is_rest = |scale: u64| is_and || size.is_some_and(|size| size / 4 < scale);
    is_comma && (scale(end - 1).is_some_and(is_rest) || scale(start).is_some())
}

/// The first of two alternatives with the scale of the second, if that can be meant for both: it is smaller without it.
fn scaled(low: &Reading, high: &Reading, reader: &Reader<'_>) -> Option<Reading> {
    let last = high.said.last().filter(|_| high.kind != Kind::List)?;
    let (factor, scale) = reader.factors(last)?;
    let factor = factor.size()?;
    let is_below = low.said.iter().all(|said| is_below(&said.number, factor));
    if is_below { low.replaced(|number| number.times(scale)) } else { None }
}

/// Whether a number without a scale is smaller than what a scale counts, in quarters.
fn is_below(number: &Number, factor: u64) -> bool {
    number.size().is_some_and(|low| low < 400 && low < factor)
}

fn has_clock(reading: &Reading) -> bool {
    reading.said.iter().any(|said| matches!(said.number, Number::Clock(..)))
}

/// Two readings as times of the day, if the numbers of both are hours.
fn hours(low: &Reading, high: &Reading) -> (Reading, Reading) {
    let hours = |reading: &Reading| {
        let clock = reading.replaced(|number| Number::clock(number.hour_or_count()?));
        clock.filter(|_| reading.kind != Kind::List)
    };
    let unchanged = || (low.clone(), high.clone());
    hours(low).zip(hours(high).or_else(|| has_clock(high).then(|| high.clone()))).unwrap_or_else(unchanged)
}

/// Whether minutes before an hour may be meant: ten to six, at ten to eleven.
fn is_time(tokens: &[Token<'_>], first: &Run, second: &Run) -> bool {
    let small = |run: &Run| match &run.groups[..] {
        [Reading { said, .. }] if said.len() == 1 => said[0].number.small(),
        _ => None,
    };
    match (small(first), small(second)) {
        (Some(minutes @ 1..30), Some(hour @ 1..=12)) => {
            tokens[second.tokens.start - 1].text == "to"
                && to(tokens, first.tokens.start..second.tokens.end, minutes, hour) != To::Range
        }
        _ => false,
    }
}

/// Words that join two numbers.
pub(super) struct Joint {
    /// The end of the words of the first number.
    pub(super) first_end: usize,
    /// Whether they make one or the other of them, or a range: to, or, ਤੋਂ, and behind between.
    pub(super) is_alternative: bool,
}

impl Joint {
    /// The words before the number that starts at a word.
    pub(super) fn before(tokens: &[Token<'_>], start: usize, language: Language) -> Option<Self> {
        let is_next = |at: usize| tokens.get(at).is_some_and(Token::follows);
        let word = |n: usize| Some(tokens.get(start.checked_sub(n)?)?.text);
        // ਪੰਜ ਤੋਂ ਲੈ ਕੇ ਦਸ
        let n_words = match (word(3), word(2), word(1)?) {
            (Some("ਤੋਂ"), Some("ਲੈ"), "ਕੇ") => 3,
            (_, Some("ਤੋਂ"), "ਲੈਕੇ") => 2,
            (_, Some("ਤੋਂ"), last) if names(TIMES_OF_DAY, last) => 2,
            (Some("ਤੋਂ"), Some(time), "ਦੇ") if names(TIMES_OF_DAY, time) => 3,
            (_, _, last) if names(ALTERNATIVES, last) || names(AND, last) => 1,
            _ => return None,
        };
        let first_end = start - n_words;
        let is_close = first_end > 0 && (first_end..=start).all(is_next);
        let is_and = n_words == 1 && word(1).is_some_and(|last| names(AND, last));
        let is_between = || {
            let before = tokens[..first_end].iter().rev().find(|token| token.meaning.is_none());
            language == Language::English && before.is_some_and(|token| names("between", token.text))
        };
        is_close.then(|| Self { first_end, is_alternative: !is_and || is_between() })
    }
}
