//! The words of a text, and what each means in a number.

use super::{
    number::Language,
    words::{CURRENCY_NAMES, LABELS, UNITS, is_listed, names},
};
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
    /// About, between a number and its scale: ਪੰਜ ਕੁ ਸੌ.
    About,
    /// Past and to, which a part of an hour may stand before: 1 and -1.
    Hour(i64),
    /// What follows the time of a clock: ਵਜੇ.
    OClock,
    /// A word of a number whose value is not known here: ਸੈਂਕੜੇ, thousands, and digits.
    Unread,
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
    /// The words of a text in a language.
    pub(super) fn all(text: &'a str, language: Language) -> Vec<Self> {
        let mut tokens: Vec<Self> = Vec::new();
        let mut last = 0;
        while let Some(found) = text[last..].find(continues_a_word) {
            let start = last + found;
            let end = start + token(&text[start..]);
            let found = language.meaning(&text[start..end]);
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
        for at in 0..tokens.len() {
            let is_numeral = |at: usize| tokens.get(at).is_some_and(Self::is_numeral);
            let follows = |at: usize| tokens.get(at).is_some_and(Self::follows);
            let is_beside =
                (at > 0 && follows(at) && is_numeral(at - 1)) || (follows(at + 1) && is_numeral(at + 1));
            let text = tokens[at].text;
            if tokens[at].meaning.is_none()
                && is_beside
                && (language.has_a_number(text) || language.is_like_a_number(text))
            {
                tokens[at].meaning = Some(Meaning::Unread);
                tokens[at].is_doubtful = true;
            }
        }
        for at in 0..tokens.len() {
            match (language, tokens[at].text) {
                (Language::Panjabi, "ਸਾਡੇ") => tokens[at].meaning = halves(&tokens[at + 1..]),
                (Language::Panjabi, "ਟਾਈ") => tokens[at].meaning = two_and_a_half(&tokens[at + 1..]),
                (Language::English, "o" | "O") if is_zero(&tokens, at) => {
                    tokens[at].meaning = Some(Meaning::Small(0));
                }
                _ => (),
            }
        }
        tokens
    }

    /// Whether only white space without a line break, or a hyphen, stands between the word before and this one. An apostrophe
    /// does between six o'five.
    pub(super) fn follows(&self) -> bool {
        matches!(self.before, "-" | "‐" | "‑" | "–") || self.follows_an_apostrophe() || self.follows_a_space()
    }

    pub(super) fn follows_an_apostrophe(&self) -> bool {
        matches!(self.before, "'" | "’")
    }

    /// Whether the word may go on with a number that ends before it: it follows, or has a dash or a slash before it.
    pub(super) fn goes_on(&self) -> bool {
        self.follows() || matches!(self.before.trim_matches(' '), "-" | "–" | "/")
    }

    /// Whether only white space without a line break stands between the word before and this one.
    pub(super) fn follows_a_space(&self) -> bool {
        !self.before.is_empty()
            && self.before.chars().all(|c| {
                c.is_whitespace()
                    && !matches!(c, '\n' | '\r' | '\u{b}'..='\u{d}' | '\u{85}' | '\u{2028}' | '\u{2029}')
            })
    }

    /// Whether the word is a number below 100.
    pub(super) fn is_small(&self) -> bool {
        matches!(self.meaning, Some(Meaning::Small(_) | Meaning::Tens(_)))
    }

    /// Whether the word is a part of a number wherever it stands.
    pub(super) fn is_numeral(&self) -> bool {
        use Meaning::{Adding, Part, Quarters, Repeat, Scale, Small, Tens, Unread};
        matches!(
            self.meaning,
            Some(Small(_) | Tens(_) | Scale(_) | Quarters(_) | Adding(_) | Repeat(_) | Part(_) | Unread)
        )
    }
}

/// Whether "o" is a zero, as "oh" is: among digits, and before one behind a label.
fn is_zero(tokens: &[Token<'_>], at: usize) -> bool {
    use Meaning::{Repeat, Small, Tens};
    let next = tokens.get(at + 1).filter(|next| next.goes_on() || next.before.trim_end() == ",");
    let Some(before) = at.checked_sub(1).map(|at| &tokens[at]) else { return false };
    let is_joined = tokens[at].goes_on() || tokens[at].before.trim_end() == ",";
    let is_digit = next.is_some_and(|next| next.is_small() || names("o oh", next.text));
    let is_labelled = names(LABELS, before.text) || before.text == "is";
    match before.meaning {
        Some(Small(_) | Tens(_) | Repeat(_)) => is_joined && (is_digit || next.is_none()),
        _ => is_labelled && is_joined && is_digit,
    }
}

/// ਟਾਈ, a tie, is heard for ਢਾਈ before a scale and before a unit. ਟਾਈ ਤਿੰਨ ਸੌ may be both.
fn two_and_a_half(behind: &[Token<'_>]) -> Option<Meaning> {
    let next = behind.first().filter(|next| next.follows())?;
    match next.meaning {
        Some(Meaning::Small(3)) => Some(Meaning::Unread),
        Some(Meaning::Scale(_)) => Some(Meaning::Quarters(10)),
        _ => is_measure(next.text).then_some(Meaning::Quarters(10)),
    }
}

fn is_measure(word: &str) -> bool {
    is_listed(UNITS, word) || is_listed("ਫ਼ੀਸਦੀ ਫੀਸਦੀ ਪ੍ਰਤੀਸ਼ਤ ਘੰਟੇ ਮਿੰਟ", word)
}

/// ਸਾਡੇ is heard for ਸਾਢੇ before an hour or a number of units. Before money and scales it may also mean "our".
fn halves(behind: &[Token<'_>]) -> Option<Meaning> {
    let is_between = |token: &&Token<'_>| token.is_numeral() || is_listed("ਸਾਡੇ ਤੋਂ ਜਾਂ ਕੁ", token.text);
    let n_between = behind.iter().take_while(|token| token.follows()).take_while(is_between).count();
    let counted = behind.get(n_between).filter(|token| token.follows()).map_or("", |token| token.text);
    let is_scale = |token: &Token<'_>| matches!(token.meaning, Some(Meaning::Scale(_)));
    if !matches!(behind.first()?.meaning, Some(Meaning::Small(3..))) {
        None
    } else if is_measure(counted) {
        Some(Meaning::Adding(2))
    } else {
        let is_doubtful = behind[..n_between].iter().any(is_scale)
            || CURRENCY_NAMES.iter().any(|names| is_listed(names, counted));
        is_doubtful.then_some(Meaning::Unread)
    }
}

/// The length of the word at the start of a text, with its apostrophes and the point of p.m. The o of six o'five is a word.
fn token(text: &str) -> usize {
    let mut end = word(text);
    if let Some(point) = text[end..].strip_prefix('.')
        && names("a p", &text[..end])
        && names("m", &point[..word(point)])
    {
        return end + 2;
    }
    let is_o = names("o", &text[..end]);
    while let Some(rest) = text[end..].strip_prefix(['\'', '’']).filter(|rest| word(rest) > 0) {
        let next = &rest[..word(rest)];
        if is_o && matches!(Language::English.meaning(next), Some((Meaning::Small(1..=9), _))) {
            break;
        }
        end = text.len() - rest.len() + next.len();
    }
    end
}

/// The length of the letters, digits and marks at the start of a text.
fn word(text: &str) -> usize {
    text.find(|c| !continues_a_word(c)).unwrap_or(text.len())
}
