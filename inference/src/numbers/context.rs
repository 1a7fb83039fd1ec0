//! What words that can be read as numbers mean beside the words around them.

use std::ops::Range;

use super::{
    number::{Language, Number, Said},
    parse::{Meaning, Token},
};

/// Words behind which a scale alone counts nothing.
const UNCOUNTED: [&str; 7] = ["few", "several", "many", "ਕੁਝ", "ਕੁੱਝ", "ਕੱਝ", "ਕਈ"];
/// Words behind which a part is counted: one third.
const COUNTING_PARTS: [&str; 4] = ["a", "one", "ਇੱਕ", "ਇਕ"];
/// Words that stand before a time of the day, and behind one.
const BEFORE_TIMES: [&str; 9] = ["at", "by", "until", "till", "before", "after", "around", "from", "since"];
const BEHIND_TIMES: [&str; 4] = ["am", "pm", "AM", "PM"];
/// Words behind a number that is no number of something: postpositions and forms of to be.
const BEHIND_NOUNS: &str = "ਹੈ ਹਨ ਸੀ ਸਨ ਹੋ ਹੋਵੇਗਾ ਹੁੰਦਾ ਹੁੰਦੀ ਹੁੰਦੇ ਵਿੱਚ ਵਿਚ ਨੂੰ ਤੋਂ ਤੱਕ ਤਕ ਦਾ ਦੀ ਦੇ ਦੀਆਂ ਤੇ ਉੱਤੇ ਅਤੇ ਜਾਂ ਨਾਲ ਲਈ";
/// Units that numbers count.
const UNITS: &str = "ਰੁਪਏ ਰੁਪਈਏ ਪੈਸੇ ਡਾਲਰ ਸਾਲ ਮਹੀਨੇ ਹਫ਼ਤੇ ਦਿਨ ਘੰਟੇ ਮਿੰਟ ਸਕਿੰਟ ਸੈਕਿੰਡ ਵਜੇ ਵਾਰ ਕਿਲੋ ਗ੍ਰਾਮ ਮੀਲ ਫੁੱਟ ਇੰਚ ਪ੍ਰਤੀਸ਼ਤ ਫ਼ੀਸਦੀ ਤਾਰੀਖ਼ ਤਾਰੀਖ ਜਣੇ";
/// Words behind which a number says which one.
pub(super) const LABELS: &str = "ਨੰਬਰ ਕੋਡ ਭਾਗ ਅਧਿਆਇ ਪੰਨਾ";
/// Words with which a clause begins.
const CONJUNCTIONS: &str = "ਕਿਉਂਕਿ ਤਾਂ ਤਾ ਜੋ ਕਿ ਜਿਥੇ ਜਿੱਥੇ ਜਿਹਨਾਂ ਜਿਨ੍ਹਾਂ ਅਤੇ ਤੇ ਪਰ ਜੀ ਨਾ";

/// The words of a run, and the text around them.
pub(super) struct Place<'a> {
    tokens: &'a [Token<'a>],
    words: Range<usize>,
    language: Language,
}

impl<'a> Place<'a> {
    pub(super) fn new(tokens: &'a [Token<'a>], words: Range<usize>, language: Language) -> Self {
        Self { tokens, words, language }
    }

    /// The numbers of the run, where two of them are a year or a time of the day.
    pub(super) fn read(&self, said: Vec<Said>) -> Vec<Said> {
        let number = self.one(&said);
        number.map_or(said, |number| vec![Said { number, words: self.words.clone() }])
    }

    /// The year or the time of the day that the run is.
    fn one(&self, said: &[Said]) -> Option<Number> {
        let small: Option<Vec<u64>> = said.iter().map(|said| said.number.small()).collect();
        match (self.language, small.as_deref(), said) {
            (
                Language::English,
                Some([hour @ 1..=12, minute @ 10..=59] | [hour @ 1..=12, 0, minute @ 1..=9]),
                _,
            ) if self.is_time() => {
                Some(Number::Clock(u8::try_from(*hour).ok()?, u8::try_from(*minute).ok()?))
            }
            (
                Language::English,
                Some([century @ 11..=20, rest @ 10..=99] | [century @ 11..=20, 0, rest @ 1..=9]),
                _,
            ) => Some(Number::Year(century * 100 + rest)),
            // ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ ਵਿੱਚ is a year, ਪੰਦਰਾਂ ਸੌ ਪੰਜਾਹ ਰੁਪਏ is none.
            (Language::Panjabi, None, [Said { number: Number::Quarters(quarters @ 4400..8000), .. }])
                if quarters.is_multiple_of(4)
                    && matches!(self.tokens[self.words.start].meaning, Some(Meaning::Small(11..=19)))
                    && (self.is_noun() || matches!(self.before(), Some("ਸੰਨ" | "ਸਾਲ" | "ਸਨ"))) =>
            {
                Some(Number::Year(quarters / 4))
            }
            _ => None,
        }
    }

    /// Whether the words are numbers here.
    pub(super) fn is_number(&self, said: &[Said]) -> bool {
        let is_alone = self.words.len() == self.tokens.len();
        if is_alone
            || self
                .tokens
                .get(self.words.end)
                .is_some_and(|next| next.before.trim_end() == "," && next.is_small())
        {
            return true;
        }
        let words = &self.tokens[self.words.clone()];
        let is_doubtful = said.len() == words.len() && words.iter().all(|word| word.is_doubtful);
        let numbers: Vec<&Number> = said.iter().map(|said| &said.number).collect();
        match (words, &numbers[..]) {
            ([word], [Number::Quarters(_)]) if matches!(word.meaning, Some(Meaning::Scale(_))) => {
                self.is_scale(word.text)
            }
            (_, [Number::Ordinal(_)]) => {
                let is_party = self.after().is_some_and(|after| ["party", "parties"].contains(&after));
                !is_party
                    && !self.is_compound()
                    && !self.before().is_some_and(|before| COUNTING_PARTS.contains(&before))
            }
            // ਦੋ-ਹਫ਼ਤਾਵਾਰੀ is twice a week.
            ([word], _) if word.text == "ਦੋ" => !self.is_imperative() && !self.is_compound(),
            // ਇੱਕ ਇੱਕ ਦਿਨ is each day.
            ([first, second], _) if is_doubtful && self.language == Language::Panjabi => {
                first.meaning == second.meaning && self.is_noun()
            }
            ([word], _) if is_doubtful => {
                word.meaning != Some(Meaning::Small(1)) && self.is_counting(word.text)
            }
            _ => true,
        }
    }

    /// Whether two numbers mean one or the other: ਦੋ ਤਿੰਨ ਦਿਨ are two or three days.
    pub(super) fn is_range(&self, said: &[Said]) -> bool {
        let [low, high] = said else { return false };
        let (Number::Quarters(low), Number::Quarters(high)) = (&low.number, &high.number) else {
            return false;
        };
        self.language == Language::Panjabi && low < high && high - low <= 4 && !self.is_noun()
    }

    /// Whether a scale without a number is one of it.
    fn is_scale(&self, word: &str) -> bool {
        let is_counted = !self.before().is_some_and(|before| UNCOUNTED.contains(&before));
        match word {
            // The name of a people.
            "ਅਰਬ" => false,
            // To sleep.
            "ਸੌ" => {
                is_counted
                    && !self.after().is_some_and(|after| {
                        ["ਜਾ", "ਗਿਆ", "ਗਈ", "ਗਏ", "ਰਿਹਾ", "ਰਹੀ", "ਰਹੇ", "ਕੇ"]
                            .iter()
                            .any(|verb| after.starts_with(verb))
                    })
            }
            _ => is_counted && self.language == Language::Panjabi,
        }
    }

    /// Whether a hyphen joins the run and the next word.
    fn is_compound(&self) -> bool {
        self.tokens.get(self.words.end).is_some_and(|next| next.before == "-")
    }

    /// Whether a doubtful word counts what stands behind it, a unit or a noun in the plural, or says which one. ਦੱਸ ਦੇਵਾਂ is
    /// no number.
    fn is_counting(&self, word: &str) -> bool {
        if word != "ਦੱਸ" && self.before().is_some_and(|before| is_listed(LABELS, before)) {
            return true;
        }
        let Some(after) = self.after() else { return false };
        let is_plural = ["ਾਂ", "ਿਆਂ"].iter().any(|ending| after.ends_with(ending))
            && after.chars().count() > 3
            && word != "ਦੱਸ";
        let behind = self.tokens.get(self.words.end + 1);
        let is_least = after == "ਤੋਂ" && behind.is_some_and(|next| next.is_small() || next.text == "ਵੱਧ");
        self.language == Language::Panjabi && (is_plural || is_least || is_listed(UNITS, after))
    }

    /// Whether ਦੋ asks to give: it then ends its clause.
    fn is_imperative(&self) -> bool {
        let is_small = |at: usize| self.tokens.get(at).is_some_and(Token::is_small);
        let ends = match self.tokens.get(self.words.end) {
            None => true,
            Some(next) if next.follows() => {
                is_listed(CONJUNCTIONS, next.text) && !is_small(self.words.end + 1)
            }
            Some(next) => next.before.trim_start().starts_with(['।', '.', ',', '!', '?', ';']),
        };
        // The verb before it has no ending of its own: ਕਰ ਦੋ, but ਕਰੋ ਦੋ.
        ends && self.before().is_some_and(|before| !before.ends_with('ੋ'))
    }

    /// Whether the numbers count nothing that stands behind them.
    pub(super) fn is_noun(&self) -> bool {
        self.after().is_none_or(|after| is_listed(BEHIND_NOUNS, after))
    }

    fn is_time(&self) -> bool {
        let is_before =
            self.before().is_some_and(|word| BEFORE_TIMES.contains(&&word.to_ascii_lowercase()[..]));
        is_before || self.after().is_some_and(|word| BEHIND_TIMES.contains(&word))
    }

    /// The word before the run.
    pub(super) fn before(&self) -> Option<&'a str> {
        let last = self.tokens.get(self.words.start.checked_sub(1)?)?;
        self.tokens.get(self.words.start).filter(|first| first.follows()).map(|_| last.text)
    }

    /// The word behind the run.
    pub(super) fn after(&self) -> Option<&'a str> {
        self.tokens.get(self.words.end).filter(|next| next.follows()).map(|next| next.text)
    }
}

pub(super) fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}
