//! What words that can be read as numbers mean beside the words around them.

use std::ops::Range;

use super::{
    number::{Kind, Language, Number, Reading, Said},
    token::{Meaning, Token},
    words::{
        ALTERNATIVES, AND, BEFORE_SCALES, BEFORE_TIMES, BEFORE_YEARS, BEHIND_NOUNS, BEHIND_SLEEP,
        BEHIND_TELL, BEHIND_TIMES, BEHIND_YEARS, COMPOUNDED, CONJUNCTIONS, COUNTED, COUNTING_PARTS,
        CURRENCY_NAMES, HUNDREDTHS, IN, LABELS, ORDERED, PANJABI_YEARS, PLURALS, TIMES_OF_DAY, UNCOUNTED,
        WOOLLEN, is_decade, is_listed, is_month, is_unit, names,
    },
};

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

    /// The year or the time of the day that two numbers are.
    pub(super) fn one(&self, said: &[Said]) -> Option<Number> {
        let small: Option<Vec<u64>> = said.iter().map(|said| said.number.small()).collect();
        match (self.language, small.as_deref(), said) {
            (
                Language::English,
                Some([hour @ 1..=12, minute @ 10..=59] | [hour @ 1..=12, 0, minute @ 1..=9]),
                _,
            ) if self.is_time() || self.has_apostrophe() => {
                Some(Number::Clock(u8::try_from(*hour).ok()?, u8::try_from(*minute).ok()?))
            }
            (
                Language::English,
                Some([century @ 11..=20, rest @ 10..=99] | [century @ 11..=20, 0, rest @ 1..=9]),
                _,
            ) if self.is_year(*century, *rest) => Some(Number::Year(century * 100 + rest)),
            (Language::Panjabi, Some([19, rest @ 20..=99]), _) => {
                let is_year =
                    self.is_panjabi_year() || (*rest > 21 && self.is_noun() && self.after().is_some());
                (is_year).then_some(Number::Year(1900 + rest))
            }
            // ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ ਵਿੱਚ is a year, ਪੰਦਰਾਂ ਸੌ ਪੰਜਾਹ ਰੁਪਏ is none.
            (Language::Panjabi, None, [Said { number: Number::Quarters(quarters @ 4400..8000), .. }])
                if quarters.is_multiple_of(4)
                    && matches!(self.tokens[self.words.start].meaning, Some(Meaning::Small(11..=19)))
                    && (self.is_noun() || self.is_panjabi_year()) =>
            {
                Some(Number::Year(quarters / 4))
            }
            _ => None,
        }
    }

    /// Whether two English numbers are a year. Nineteen eighty-four can be nothing else, but fifteen twenty minutes are a
    /// range.
    fn is_year(&self, century: u64, rest: u64) -> bool {
        let is_range = century <= rest && rest <= 2 * century;
        let before = self.before();
        let is_dated = before.is_some_and(|word| names(BEFORE_YEARS, word) || is_month(word))
            || self.is_behind_day()
            || self.is_alone();
        let is_subject = before.is_none() && self.after().is_some_and(|word| names(BEHIND_YEARS, word));
        match (is_range, century) {
            (true, _) => {
                let is_counted =
                    self.is_before_plural() && !before.is_some_and(|word| names("the year", word));
                !is_counted && (is_dated || is_subject)
            }
            (false, 17..) => true,
            (false, _) => is_dated,
        }
    }

    /// Whether the day and the month of a year stand before it: March fourth nineteen eighty, five March nineteen eighty.
    fn is_behind_day(&self) -> bool {
        let Some(at) = self.words.start.checked_sub(2) else { return false };
        matches!(self.tokens[at + 1].meaning, Some(Meaning::Ordinal(_))) && is_month(self.tokens[at].text)
    }

    fn is_panjabi_year(&self) -> bool {
        self.before().is_some_and(|word| is_listed(PANJABI_YEARS, word) || is_month(word))
            || self.after().is_some_and(|word| is_listed(IN, word))
    }

    /// Whether the words are numbers here.
    pub(super) fn is_number(&self, said: &[Said]) -> bool {
        if self.is_alone()
            || self
                .tokens
                .get(self.words.end)
                .is_some_and(|next| next.before.trim_end() == "," && next.is_small())
                && !self.tokens[self.words.start].text.eq_ignore_ascii_case("oh")
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
            ([.., word], [Number::Ordinal(_)]) => {
                let is_party = self.after().is_some_and(|after| ["party", "parties"].contains(&after));
                // A thirty second pause.
                let is_second = word.text.eq_ignore_ascii_case("second")
                    && !self.is_alone()
                    && !self.before().is_some_and(|before| names("the on", before) || is_month(before));
                !is_party
                    && !is_second
                    && (!self.is_compound() || self.is_before_ordinal())
                    && !self.before().is_some_and(|before| is_listed(COUNTING_PARTS, before))
            }
            // ਦੋ-ਹਫ਼ਤਾਵਾਰੀ is twice a week.
            ([word], _) if word.text == "ਦੋ" => !self.is_imperative() && !self.is_compound(),
            ([word], _) if word.text == "ਦਸ" => !self.is_before_any(&BEHIND_TELL),
            ([word], _) if word.text == "ਉੱਨੀ" => {
                !self.after().is_some_and(|after| is_listed(WOOLLEN, after))
            }
            // ਇੱਕ ਇੱਕ ਦਿਨ is each day.
            ([first, second], _) if is_doubtful && self.language == Language::Panjabi => {
                first.meaning == second.meaning && (self.is_noun() || self.is_measured())
            }
            ([word], _) if is_doubtful && word.meaning == Some(Meaning::Small(1)) => {
                self.is_alternative() || self.is_before_clock() || self.is_sum()
            }
            ([word], _) if is_doubtful => {
                self.is_counting(word.text)
                    || (matches!(word.meaning, Some(Meaning::Adding(_))) && self.is_alternative())
            }
            _ => true,
        }
    }

    /// Whether nothing is left for the numbers to mean than what they say. ਸੌ ਪੰਜਾਹ and ਹਜ਼ਾਰ ਪੰਜ ਸੌ are also about a hundred and
    /// about a thousand, a scale alone may have a number in another spelling before it, ਇੱਕ may be an article, and a point
    /// may make decimals of the number.
    pub(super) fn is_certain(&self, reading: &Reading) -> bool {
        let first = &self.tokens[self.words.start];
        let is_half = |scale: u64| match &reading.said[..] {
            [Said { number: Number::Quarters(quarters), words }] => words.len() > 1 && *quarters == 6 * scale,
            _ => false,
        };
        let is_article = matches!(reading.kind, Kind::Range | Kind::Each | Kind::List)
            && first.is_doubtful
            && first.meaning == Some(Meaning::Small(1))
            && self.tokens[self.words.start + 1].follows_a_space()
            && self.language == Language::Panjabi;
        // ਸਾਢੇ ਪੰਜ is also half past five.
        let is_hour = |said: &Said| match said.number {
            Number::Quarters(quarters) => !quarters.is_multiple_of(4) && quarters < 52,
            _ => false,
        };
        let is_time = self.language == Language::Panjabi
            && reading.said.iter().any(is_hour)
            && !self.is_alone()
            && !self.after().is_some_and(|word| is_unit(word) || is_listed("ਕੁ ਫ਼ੀ ਫੀ", word))
            && !self.is_before_measured();
        let is_behind = |words: &str| self.before().is_some_and(|word| names(words, word));
        let scale = match first.meaning {
            Some(Meaning::Scale(scale)) => {
                let is_plain = self.before().is_none_or(|word| {
                    is_listed(BEFORE_SCALES, word)
                        || word.ends_with("ਨੂੰ")
                        || self.language == Language::English
                });
                is_plain && !is_behind(UNCOUNTED) && !(is_half(scale) && self.language == Language::Panjabi)
            }
            Some(Meaning::Article) => !is_behind("of"),
            _ => true,
        };
        scale
            && !is_article
            && !is_time
            && !is_behind("point ਦਸ਼ਮਲਵ ਪੁਆਇੰਟ")
            && !self.is_behind_comma_of_decimals()
            && !self.is_behind_article_of_money()
    }

    /// Whether a decimal point with a comma behind it stands before the numbers: zero point, eight.
    fn is_behind_comma_of_decimals(&self) -> bool {
        let Some(whole) = self.words.start.checked_sub(2) else { return false };
        let is_point = self.tokens[whole + 1].meaning == Some(Meaning::Point);
        is_point && self.tokens[whole].is_numeral() && self.tokens[self.words.start].before.trim_end() == ","
    }

    /// Whether another number stands behind the next words, and a unit or its scale says what both count: ਢਾਈ ਤੋਂ ਤਿੰਨ ਘੰਟੇ.
    fn is_before_measured(&self) -> bool {
        let is_joined = self.after().is_some_and(|word| is_listed("ਤੋਂ ਜਾਂ", word));
        let rest = self.tokens.get(self.words.end + 1..).unwrap_or_default();
        let mut words = rest.iter().skip_while(|word| is_listed(TIMES_OF_DAY, word.text)).peekable();
        let is_number = words.peek().is_some_and(|word| word.is_numeral());
        let is_between = |word: &&Token<'_>| {
            (word.is_numeral() && !matches!(word.meaning, Some(Meaning::Scale(_)))) || word.text == "ਕੁ"
        };
        let end = words.find(|word| !is_between(word));
        is_joined && is_number && end.is_some_and(|word| is_unit(word.text) || word.is_numeral())
    }

    /// Whether a scale without a number is one of it.
    fn is_scale(&self, word: &str) -> bool {
        let is_counted = !self.before().is_some_and(|before| names(UNCOUNTED, before));
        match word {
            // The name of a people.
            "ਅਰਬ" => false,
            // To sleep.
            "ਸੌ" => is_counted && !self.is_before_any(&BEHIND_SLEEP),
            _ => {
                is_counted
                    && (self.language == Language::Panjabi || self.is_alternative() || self.is_measured())
            }
        }
    }

    /// Whether a hyphen joins the run and the next word.
    fn is_compound(&self) -> bool {
        self.tokens.get(self.words.end).is_some_and(|next| next.before == "-")
    }

    /// Whether a hyphen joins the last word only, so that another number may stand before it: twenty five-year plans.
    pub(super) fn is_half_compound(&self) -> bool {
        let words = &self.tokens[self.words.clone()];
        let n_articles = usize::from(words[0].meaning == Some(Meaning::Article));
        self.is_compound() && words.len() > 1 + n_articles && words[words.len() - 1].follows_a_space()
    }

    /// Whether a hyphen joins the numbers and what may be one more that is not read: well-thousand, and 9:30-ill.
    pub(super) fn is_misheard(&self, reading: &Reading) -> bool {
        let first = &self.tokens[self.words.start];
        let is_scale = matches!(first.meaning, Some(Meaning::Scale(_)));
        let is_ordinal = matches!(reading.said[..], [Said { number: Number::Ordinal(_), .. }]);
        let is_known = |word: &str| is_unit(word) || names(COMPOUNDED, word) || is_decade(word);
        (is_scale && first.follows() && !first.follows_a_space())
            || (self.language == Language::English
                && self.is_compound()
                && !is_ordinal
                && !self.after().is_some_and(is_known))
    }

    fn is_before_ordinal(&self) -> bool {
        let next = self.tokens.get(self.words.end).and_then(|next| next.meaning);
        matches!(next, Some(Meaning::Ordinal(_) | Meaning::OrdinalScale(_)))
    }

    /// Whether the word behind the run begins with one of these.
    fn is_before_any(&self, stems: &[&str]) -> bool {
        self.after().is_some_and(|after| stems.iter().any(|stem| after.starts_with(stem)))
    }

    /// Whether another number stands behind the next word, as in one to two hours.
    fn is_alternative(&self) -> bool {
        let is_joined = self.after().is_some_and(|word| names(ALTERNATIVES, word));
        let at = self.words.end + 1;
        let is_clock = self.tokens.get(at + 1).is_some_and(|word| word.meaning == Some(Meaning::OClock));
        let is_number = |word: &Token<'_>| {
            word.follows() && word.is_numeral() && (is_clock || !(word.is_doubtful && word.is_small()))
        };
        is_joined && self.tokens.get(at).is_some_and(is_number)
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
            && !(word == "ਬਾਈ" && after == "ਸਿਆਂ")
            && word != "ਦੱਸ";
        let behind = self.tokens.get(self.words.end + 1);
        let is_least = after == "ਤੋਂ" && behind.is_some_and(|next| next.is_small() || next.text == "ਵੱਧ");
        self.language == Language::Panjabi && (is_plural || is_least || is_listed(COUNTED, after))
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

    /// Whether the text has nothing but the numbers.
    pub(super) fn is_alone(&self) -> bool {
        self.words.len() == self.tokens.len()
    }

    /// Whether the numbers count nothing that stands behind them.
    pub(super) fn is_noun(&self) -> bool {
        self.after().is_none_or(|after| is_listed(BEHIND_NOUNS, after))
    }

    /// Whether the numbers may count what stands behind them: in Panjabi any noun, in English one in the plural.
    pub(super) fn is_counted(&self) -> bool {
        match self.language {
            Language::Panjabi => !self.is_noun() && !self.is_before_any(&["ਕਰਨ", "ਕਰਦ", "ਕਰਕੇ", "ਕੀਤ"]),
            Language::English => self.is_before_plural(),
        }
    }

    fn is_before_plural(&self) -> bool {
        self.after().is_some_and(|noun| (noun.len() > 3 && noun.ends_with('s')) || names(PLURALS, noun))
    }

    /// Whether a sum that is not read stands before the numbers: a pound fifty, a dollar and fifty cents.
    fn is_behind_article_of_money(&self) -> bool {
        let is_and = self.before().is_some_and(|word| names(AND, word));
        let Some(name) = self.words.start.checked_sub(1 + usize::from(is_and)) else { return false };
        let is_article = name > 0 && names("a an", self.tokens[name - 1].text);
        let is_joined = self.tokens[name..=self.words.start].iter().all(Token::follows);
        is_article && is_joined && CURRENCY_NAMES.iter().any(|listed| names(listed, self.tokens[name].text))
    }

    /// Whether a currency stands behind the numbers, and behind it what may be its hundredth parts: one rupee fifty paise.
    pub(super) fn is_sum(&self) -> bool {
        let next = |at: usize| self.tokens.get(at).filter(|word| word.follows()).map(|word| word.text);
        let listed = |word| CURRENCY_NAMES.iter().position(|listed| names(listed, word));
        let Some(currency) = self.after().and_then(listed) else { return false };
        let is_and = next(self.words.end + 1).is_some_and(|word| names(AND, word));
        let start = self.words.end + 1 + usize::from(is_and);
        let rest = self.tokens.get(start..).unwrap_or_default();
        let n_words = rest.iter().take_while(|word| word.follows() && word.is_small()).count();
        let parts = Self::new(self.tokens, start..start + n_words, self.language);
        let is_named = parts.after().is_some_and(|word| names(HUNDREDTHS[currency], word));
        n_words > 0 && (is_named || !(is_and || parts.is_counted()))
    }

    /// Whether a unit stands behind the numbers.
    pub(super) fn is_measured(&self) -> bool {
        self.after().is_some_and(is_unit)
    }

    /// Whether a label before the numbers says which one in an order: page ten.
    pub(super) fn is_in_order(&self) -> bool {
        self.before().is_some_and(|before| names(ORDERED, before))
    }

    /// Whether a label stands before the numbers, or before a form of to be before them: my number is nine eight.
    pub(super) fn is_labelled(&self) -> bool {
        let word = |n: usize| self.tokens.get(self.words.start.checked_sub(n)?).map(|token| token.text);
        let is_label = |word: &str| names(LABELS, word) || names("phone mobile ਫ਼ੋਨ ਫੋਨ ਮੋਬਾਈਲ", word);
        self.before().is_some_and(|before| {
            is_label(before)
                || (names("is ਹੈ", before) && word(2).is_some_and(is_label))
                || (names("call dial", before) && self.after().is_none())
        })
    }

    /// Whether a label before the numbers says that digits with commas between are one string, and not a list.
    pub(super) fn is_string(&self) -> bool {
        let is_list = self.before().is_some_and(|word| names("room ਕਮਰਾ", word)) || self.is_in_order();
        let is_joined = self.after().is_some_and(|word| names(AND, word) || names(ALTERNATIVES, word));
        let is_numeral = self.tokens.get(self.words.end + 1).is_some_and(Token::is_numeral);
        self.is_labelled() && !is_list && !(is_joined && is_numeral)
    }

    /// Whether ਵਜੇ, or ਕੁ ਵਜੇ, stands behind the numbers.
    pub(super) fn is_before_clock(&self) -> bool {
        let is_about = self.after() == Some("ਕੁ");
        let next = self.tokens.get(self.words.end + usize::from(is_about));
        self.language == Language::Panjabi
            && next.is_some_and(|next| next.follows() && next.meaning == Some(Meaning::OClock))
    }

    /// Whether the o of the minutes has an apostrophe: six o'five.
    fn has_apostrophe(&self) -> bool {
        self.tokens[self.words.clone()].iter().any(Token::follows_an_apostrophe)
    }

    fn is_time(&self) -> bool {
        // Seven thirty to eight pm.
        let range = self.tokens.get(self.words.end + 1..).filter(|_| self.after() == Some("to"));
        let end = range.and_then(|range| range.iter().find(|word| !word.is_numeral()));
        self.before().is_some_and(|word| names(BEFORE_TIMES, word))
            || self.after().is_some_and(|word| names(BEHIND_TIMES, word))
            || end.is_some_and(|word| word.follows() && names(BEHIND_TIMES, word.text))
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
