//! Times of the day with minutes: ten to six, ten minutes past six, ਛੇ ਵੱਜ ਕੇ ਦਸ ਮਿੰਟ, ਪੰਜ ਵੱਜਣ ਵਿੱਚ ਦਸ ਮਿੰਟ.

use std::ops::Range;

use super::{
    number::{Language, Number},
    token::{Meaning, Token},
    words::{PLURALS, is_listed, is_unit, names},
};
use crate::text::latin_digit;

/// Words before a time that no range stands behind, if the minutes are more than the hour.
const BEFORE_MINUTES: &str = "by until till before after around about since";
/// Words that end in an s and are no plural.
const NO_PLURALS: &str = "this always sometimes perhaps towards";

/// A time of the day, and the words of the text that say it.
pub(super) struct Time {
    pub(super) number: Number,
    pub(super) words: Range<usize>,
    /// What stands in their place behind the number.
    pub(super) ending: &'static str,
}

/// What minutes and an hour with "to" between them mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Minutes before the hour.
    Time,
    /// All from one to the other.
    Range,
    /// One of both.
    Unclear,
}

/// The times of a text, in order. Numbers may be in words or in digits.
pub(super) fn times(tokens: &[Token<'_>], language: Language) -> Vec<Time> {
    let mut times: Vec<Time> = Vec::new();
    for at in 0..tokens.len() {
        let is_behind_number = at > 0 && tokens[at].goes_on() && tokens[at - 1].is_numeral();
        if is_behind_number || times.last().is_some_and(|time| at < time.words.end) {
            continue;
        }
        times.extend(match language {
            Language::English => english(tokens, at),
            Language::Panjabi => panjabi(tokens, at),
        });
    }
    times
}

/// What minutes and an hour mean with "to" between them; `words` are all three.
pub(super) fn to(tokens: &[Token<'_>], words: Range<usize>, minutes: u64, hour: u64) -> To {
    let word = |n: usize| words.start.checked_sub(n).map(|at| tokens[at].text);
    let is_before = |list: &str| word(1).is_some_and(|word| names(list, word));
    let is_it = names("it's it’s", word(1).unwrap_or_default())
        || (is_before("is was") && word(2).is_some_and(|word| names("it time", word)));
    let is_more = minutes >= hour;
    if !is_more && !matches!(minutes, 5 | 10) || is_before("from between") || is_counted(tokens, words.end) {
        To::Range
    } else if is_it || is_before("at") || (is_more && is_before(BEFORE_MINUTES)) {
        To::Time
    } else if is_more || is_before("by until till before after") {
        To::Unclear
    } else {
        To::Range
    }
}

/// Whether something is counted that stands at a place: ten to six people.
fn is_counted(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).filter(|next| next.follows()).is_some_and(|next| {
        let is_plural = next.text.len() > 3 && next.text.ends_with('s') && !names(NO_PLURALS, next.text);
        let is_counted = is_unit(next.text) && !names("am pm o'clock o’clock", next.text);
        next.before == "-" || is_plural || is_counted || names(PLURALS, next.text)
    })
}

/// Ten to six, ten minutes past six.
fn english(tokens: &[Token<'_>], at: usize) -> Option<Time> {
    let (end, minutes) = small(tokens, at).filter(|(_, minutes)| (1..30).contains(minutes))?;
    let has_unit = following(tokens, end).is_some_and(|word| names("minute minutes", word.text));
    let joint = end + usize::from(has_unit);
    let Some(Meaning::Hour(sign)) = following(tokens, joint)?.meaning else { return None };
    following(tokens, joint + 1)?;
    let (end, hour) = small(tokens, joint + 1).filter(|(_, hour)| (1..=12).contains(hour))?;
    let behind = following(tokens, end).and_then(|word| word.meaning);
    let is_spoken = tokens[at].meaning != Some(Meaning::Unread);
    let is_time = match behind {
        None | Some(Meaning::OClock) if sign < 0 && !has_unit => {
            is_spoken && to(tokens, at..end, minutes, hour) == To::Time
        }
        None | Some(Meaning::OClock) => !is_counted(tokens, end),
        _ => false,
    };
    let end = end + usize::from(behind == Some(Meaning::OClock));
    is_time.then_some(Time { number: clock(hour, minutes, sign < 0)?, words: at..end, ending: "" })
}

/// ਛੇ ਵੱਜ ਕੇ ਦਸ ਮਿੰਟ ਹੋਏ, ਪੰਜ ਵੱਜਣ ਵਿੱਚ ਦਸ ਮਿੰਟ ਬਾਕੀ.
fn panjabi(tokens: &[Token<'_>], at: usize) -> Option<Time> {
    let is = |at: usize, list: &str| following(tokens, at).is_some_and(|word| is_listed(list, word.text));
    let (end, hour) = small(tokens, at).filter(|(_, hour)| (1..=12).contains(hour))?;
    let (joint, is_to) = if is(end, "ਵੱਜਕੇ ਵਜਕੇ") {
        (end + 1, false)
    } else if is(end, "ਵੱਜ ਵਜ") && is(end + 1, "ਕੇ") {
        (end + 2, false)
    } else if is(end, "ਵੱਜਣ ਵਜਣ") && is(end + 1, "ਵਿੱਚ ਵਿਚ ਚ ਨੂੰ ਤੋਂ")
    {
        (end + 2, true)
    } else {
        return None;
    };
    following(tokens, joint)?;
    let (end, minutes) = small(tokens, joint).filter(|(_, minutes)| (1..60).contains(minutes))?;
    if !is(end, "ਮਿੰਟ ਮਿੰਟਾਂ") {
        return None;
    }
    let end = end + 1;
    let tail = if is_to {
        "ਬਾਕੀ ਰਹਿੰਦੇ ਪਏ ਪਹਿਲਾਂ ਪਹਿਲੇ"
    } else {
        "ਹੋਏ ਹੋ ਗਏ ਤੇ ਉੱਤੇ"
    };
    let n_tail = (end..tokens.len()).take_while(|at| is(*at, tail)).count();
    let end = end + n_tail;
    let is_now = is(end, "ਹਨ ਸਨ ਨੇ");
    let is_time = !is_to || n_tail > 0 || is_now || following(tokens, end).is_none();
    let ending = if is_now { " ਵੱਜ ਗਏ" } else { " ਵਜੇ" };
    is_time.then_some(Time { number: clock(hour, minutes, is_to)?, words: at..end, ending })
}

/// The time so many minutes past an hour, or before it.
fn clock(hour: u64, minutes: u64, is_to: bool) -> Option<Number> {
    let (hour, minutes) = match (is_to, hour) {
        (false, _) => (hour, minutes),
        (true, 1) => (12, 60 - minutes),
        (true, _) => (hour - 1, 60 - minutes),
    };
    Some(Number::Clock(u8::try_from(hour).ok()?, u8::try_from(minutes).ok()?))
}

/// A number below 100 in words or in digits, and the end of its words.
fn small(tokens: &[Token<'_>], at: usize) -> Option<(usize, u64)> {
    match tokens.get(at)?.meaning? {
        Meaning::Small(n) => Some((at + 1, n)),
        Meaning::Tens(tens) => match following(tokens, at + 1).and_then(|word| word.meaning) {
            Some(Meaning::Small(n @ 1..10)) => Some((at + 2, tens + n)),
            _ => Some((at + 1, tens)),
        },
        Meaning::Unread => {
            let digits: String = tokens[at].text.chars().map(|c| latin_digit(c, '੦').unwrap_or(c)).collect();
            Some((at + 1, digits.parse().ok().filter(|n| *n < 100)?))
        }
        _ => None,
    }
}

/// A word with only a space, a hyphen or an apostrophe between it and the one before.
fn following<'a>(tokens: &'a [Token<'a>], at: usize) -> Option<&'a Token<'a>> {
    tokens.get(at).filter(|token| token.follows() || matches!(token.before.trim_matches(' '), "'" | "’"))
}
