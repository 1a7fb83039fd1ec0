//! Words that stand beside numbers and say what they are, as lists with spaces between.

/// Words behind which a scale alone counts nothing.
pub(super) const UNCOUNTED: &str = "few several many couple of some every per much more for to too won ate so odd well tree free ਕੁਝ ਕੁੱਝ ਕੱਝ ਕਈ ਕਿੰਨੇ ਕਿੰਨੀ ਕਿੰਨੀਆਂ ਕਿਨੇ ਅਨੇਕਾਂ ਬਹੁਤ";
/// Words before a scale that is alone, of which none is a number in another spelling: ਉਸ ਨੇ ਸੌ ਰੁਪਏ ਦਿੱਤੇ. Words in ਨੂੰ are
/// such words too.
pub(super) const BEFORE_SCALES: &str = "ਨੇ ਦਾ ਦੇ ਦੀ ਦੀਆਂ ਵਿੱਚ ਵਿਚ ਵਿੱਚੋਂ ਵਿਚੋਂ ਤੋਂ ਤੇ ਉੱਤੇ ਉੱਪਰ ਨਾਲ ਲਈ ਕੋਲ ਕੋਲੋਂ ਤੱਕ ਤਕ ਬਾਅਦ ਪਹਿਲਾਂ ਅਤੇ ਜਾਂ ਕਿ ਪਰ ਇਹ ਉਹ ਮੈਂ ਅਸੀਂ ਤੁਸੀਂ ਤੂੰ ਇਸ ਉਸ \
    ਕੋਈ ਸਿਰਫ਼ ਸਿਰਫ ਕੇਵਲ ਬੱਸ ਬਸ ਕਰੀਬ ਲਗਭਗ ਤਕਰੀਬਨ ਕਰੀਬਨ ਪੂਰੇ ਪੂਰਾ ਪੂਰੀ ਘੱਟ ਵੱਧ ਵੀ ਹੀ ਤਾਂ ਹੁਣ ਅੱਜ ਕੱਲ੍ਹ ਹੋਰ ਮੇਰੇ ਤੇਰੇ ਉਸਦੇ ਇਸਦੇ ਤੁਹਾਡੇ ਆਪਣੇ ਹਰ ਰੋਜ਼ ਰੁਪਏ";
/// Words behind which a part is counted: one third.
pub(super) const COUNTING_PARTS: &str = "a one ਇੱਕ ਇਕ";
/// English words before a time of the day, and behind one.
pub(super) const BEFORE_TIMES: &str = "at by until till before after around from since";
pub(super) const BEHIND_TIMES: &str = "am pm p a.m p.m";
/// English words before a year, beside the months.
pub(super) const BEFORE_YEARS: &str =
    "in since by until till before after from of year during the early late mid around circa";
/// English words behind a year that begins its sentence.
pub(super) const BEHIND_YEARS: &str = "was were is will had has saw";
/// Panjabi words before a year and behind one.
pub(super) const PANJABI_YEARS: &str = "ਸੰਨ ਸਾਲ ਸਨ";
pub(super) const IN: &str = "ਵਿੱਚ ਵਿਚ ਈਸਵੀ ਈ";
/// Words behind a number that is no number of something: postpositions and forms of to be.
pub(super) const BEHIND_NOUNS: &str =
    "ਹੈ ਹਨ ਸੀ ਸਨ ਹੋ ਹੋਵੇਗਾ ਹੁੰਦਾ ਹੁੰਦੀ ਹੁੰਦੇ ਵਿੱਚ ਵਿਚ ਨੂੰ ਤੋਂ ਤੱਕ ਤਕ ਦਾ ਦੀ ਦੇ ਦੀਆਂ ਤੇ ਉੱਤੇ ਅਤੇ ਜਾਂ ਨਾਲ ਲਈ";
/// Units of measure and of the clock, with which every number is a figure.
pub(super) const UNITS: &str = "ਵਜੇ ਵੱਜੇ ਵੱਜ ਵਜ ਵੱਜਣ ਤਾਰੀਖ਼ ਤਾਰੀਖ ਕਿਲੋ ਕਿੱਲੋ ਕਿਲੋਗ੍ਰਾਮ ਗ੍ਰਾਮ ਕੁਇੰਟਲ ਟਨ ਲੀਟਰ ਲਿਟਰ ਮੀਟਰ ਕਿਲੋਮੀਟਰ ਸੈਂਟੀਮੀਟਰ ਮੀਲ ਫੁੱਟ ਇੰਚ ਗਜ਼ ਏਕੜ ਡਿਗਰੀ \
    am pm a.m p.m o'clock o’clock kilo kilos kilogram kilograms kg gram grams quintal quintals tonne tonnes litre litres liter liters metre metres \
    meter meters kilometre kilometres kilometer kilometers km cm mile miles foot feet inch inches acre acres degree degrees";
/// What a doubtful word counts: ਬਾਈ ਰੁਪਏ.
pub(super) const COUNTED: &str = "ਰੁਪਏ ਰੁਪਈਏ ਪੈਸੇ ਡਾਲਰ ਸਾਲ ਸਾਲਾਂ ਮਹੀਨੇ ਮਹੀਨਿਆਂ ਮਹੀਨਾ ਹਫ਼ਤੇ ਹਫ਼ਤਿਆਂ ਦਿਨ ਦਿਨਾਂ ਘੰਟੇ ਘੰਟਿਆਂ ਘੰਟਾ ਮਿੰਟ ਮਿੰਟਾਂ ਸਕਿੰਟ ਸੈਕਿੰਡ ਵਜੇ ਵਾਰ ਗੁਣਾ ਕਿਲੋ ਗ੍ਰਾਮ ਮੀਲ ਫੁੱਟ ਇੰਚ ਪ੍ਰਤੀਸ਼ਤ ਫ਼ੀਸਦੀ ਤਾਰੀਖ਼ ਤਾਰੀਖ ਜਣੇ";
/// English plurals without an s.
pub(super) const PLURALS: &str = "people men women children feet percent per";
/// The names of currencies, in the order of their signs.
pub(super) const CURRENCY_NAMES: [&str; 4] = [
    "ਰੁਪਏ ਰੁਪਈਏ ਰੁਪਿਆਂ ਰੁਪਿਆ ਰੁਪਈਆ ਰੁਪਇਆ ਰੁਪਇਆਂ ਰੁਪਈਆਂ ਰੁਪਇਏ ਰੁਪੈ ਰੁਪੈਆ ਰੁਪਯੇ ਰੂਪਏ ਰੁਪੇ ਰੁਪੱਈਆ ਰੁਪੱਈਏ ਰੁਪੱਈਆਂ rupees rupee rs",
    "ਡਾਲਰ ਡਾਲਰਾਂ dollars dollar",
    "ਯੂਰੋ euros euro",
    "ਪੌਂਡ ਪੌਂਡਾਂ ਪਾਊਂਡ ਪਾਉਂਡ pounds pound",
];
/// The names of their hundredth parts.
pub(super) const HUNDREDTHS: [&str; 4] =
    ["ਪੈਸੇ ਪੈਸਾ paise paisa", "ਸੈਂਟ cents cent", "ਸੈਂਟ cents cent", "ਪੈਂਸ ਪੈਨੀ pence penny"];
pub(super) const SIGNS: [&str; 4] = ["₹", "$", "€", "£"];
/// The place of pounds in the lists, which are also a weight.
pub(super) const POUNDS: usize = 3;
pub(super) const PERCENT: &str = "ਪ੍ਰਤੀਸ਼ਤ ਫ਼ੀਸਦੀ ਫੀਸਦੀ ਫ਼ੀਸਦ ਫੀਸਦ ਪਰਸੈਂਟ percent";
/// Words behind which a number says which one.
pub(super) const LABELS: &str =
    "ਨੰਬਰ ਕੋਡ ਭਾਗ ਅਧਿਆਇ ਪੰਨਾ ਕਮਰਾ ਪਿੰਨ ਪਿਨ ਓਟੀਪੀ number page room chapter section platform code pin otp";
pub(super) const MONTHS: &str = "ਜਨਵਰੀ ਫ਼ਰਵਰੀ ਫਰਵਰੀ ਮਾਰਚ ਅਪ੍ਰੈਲ ਮਈ ਜੂਨ ਜੁਲਾਈ ਅਗਸਤ ਸਤੰਬਰ ਅਕਤੂਬਰ ਨਵੰਬਰ ਦਸੰਬਰ ਚੇਤ ਵਿਸਾਖ ਜੇਠ ਹਾੜ ਸਾਉਣ ਭਾਦੋਂ ਅੱਸੂ ਕੱਤਕ ਮੱਘਰ ਪੋਹ ਮਾਘ ਫੱਗਣ \
    january february april june july august september october november december March May";
/// The tens of decades, from twenty.
pub(super) const DECADES: [&str; 8] =
    ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"];
/// Words between two numbers that are one or the other, or the ends of a range.
pub(super) const ALTERNATIVES: &str = "or to ਜਾਂ ਤੋਂ";
/// Words between ਤੋਂ and the second of two times: ਸਵੇਰੇ ਨੌਂ ਤੋਂ ਸ਼ਾਮ ਛੇ ਵਜੇ.
pub(super) const TIMES_OF_DAY: &str = "ਸਵੇਰੇ ਸਵੇਰ ਸ਼ਾਮ ਸ਼ਾਮੀਂ ਦੁਪਹਿਰ ਦੁਪਹਿਰੇ ਰਾਤ ਰਾਤੀਂ ਦੇ";
/// Words between the parts of a fraction: ਇੱਕ ਬਟਾ ਦੋ.
pub(super) const FRACTION_BARS: &str = "ਬਟਾ ਬਟੇ ਸਹੀ over";
/// Units that have a smaller one behind them: two hours thirty minutes.
pub(super) const LARGER_UNITS: &str = "ਘੰਟੇ ਘੰਟਾ ਮਿੰਟ ਸਾਲ ਮਹੀਨੇ ਮਹੀਨਾ ਹਫ਼ਤੇ ਫੁੱਟ ਕਿਲੋ hour hours minute minutes year years month months foot feet pound pounds";
pub(super) const AND: &str = "and ਅਤੇ ਤੇ";
/// Scales with which commas stand by lakh and crore.
pub(super) const INDIAN_SCALES: &str = "lakh lakhs lac crore crores";
/// Words with which a clause begins.
pub(super) const CONJUNCTIONS: &str = "ਕਿਉਂਕਿ ਤਾਂ ਤਾ ਜੋ ਕਿ ਜਿਥੇ ਜਿੱਥੇ ਜਿਹਨਾਂ ਜਿਨ੍ਹਾਂ ਅਤੇ ਤੇ ਪਰ ਜੀ ਨਾ";
/// What is made of wool, behind ਉੱਨੀ; and ਹੀ, before which it means "so much".
pub(super) const WOOLLEN: &str = "ਹੀ ਕੱਪੜਾ ਕੱਪੜੇ ਕੱਪੜਿਆਂ ਸਵੈਟਰ ਸ਼ਾਲ ਸ਼ਾਲਾਂ ਧਾਗਾ ਧਾਗੇ ਕੰਬਲ ਟੋਪੀ ਟੋਪੀਆਂ ਜੁਰਾਬਾਂ ਕੋਟ ਦਸਤਾਨੇ";
/// Stems of verbs behind ਸੌ, to sleep.
pub(super) const BEHIND_SLEEP: [&str; 17] =
    ["ਜਾ", "ਗਿਆ", "ਗਈ", "ਗਏ", "ਰਿਹਾ", "ਰਹੀ", "ਰਹੇ", "ਕੇ", "ਲੈ", "ਲਵ", "ਲਿਆ", "ਸਕ", "ਚੁੱਕ", "ਪਿਆ", "ਪਈ", "ਪਏ", "ਪੈ"];

/// Stems of verbs behind ਦਸ as a spelling of ਦੱਸ, to tell.
pub(super) const BEHIND_TELL: [&str; 17] = [
    "ਸਕਦ",
    "ਸਕੇ",
    "ਸਕੀ",
    "ਸਕੋ",
    "ਸਕਾ",
    "ਦਿੱਤ",
    "ਦਿਤ",
    "ਦਿਓ",
    "ਦਿਉ",
    "ਦਿਆਂ",
    "ਦਿੰਦ",
    "ਦੇਵ",
    "ਦੇਣ",
    "ਰਿਹਾ",
    "ਰਹੀ",
    "ਰਹੇ",
    "ਚੁੱਕ",
];
/// English words behind a number and a hyphen: a thirty-year-old man.
pub(super) const COMPOUNDED: &str = "year years month months week weeks day days hour hours minute minutes second point points page percent \
    member man men woman person seat seater storey story bed bedroom room star player odd plus fold part way piece digit letter word \
    rupee dollar euro pound km kilometre kilometer mile metre meter foot inch acre litre liter kilo kilogram gram tonne ton degree \
    strong run ball over";
/// Words between a number and a unit that are no part of the number: ਪੰਜ ਸੌ ਵਰਗ ਮੀਟਰ.
pub(super) const BEFORE_UNITS: &str = "ਵਰਗ ਘਣ ਭਾਰਤੀ ਅਮਰੀਕੀ ਕੈਨੇਡੀਅਨ ਆਸਟ੍ਰੇਲੀਆਈ ਪਾਕਿਸਤਾਨੀ ਨਕਦ ਨਗਦ ਹੋਰ ਪ੍ਰਤੀ ਫ਼ੀ ਫੀ";
/// Labels before a number in an order, which is no string of digits.
pub(super) const ORDERED: &str = "ਭਾਗ ਅਧਿਆਇ ਪੰਨਾ page pages chapter section platform";

/// Whether a word is in a list.
pub(super) fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// Whether a word in any case is in a list.
pub(super) fn names(words: &str, word: &str) -> bool {
    is_listed(words, &word.to_ascii_lowercase())
}

/// Whether a word is a unit, a currency or anything else that a fraction counts.
pub(super) fn is_unit(word: &str) -> bool {
    let lists = [UNITS, COUNTED, PERCENT].into_iter().chain(CURRENCY_NAMES).chain(HUNDREDTHS);
    lists.into_iter().any(|list| names(list, word))
}

/// Whether a word is the tens of a decade.
pub(super) fn is_decade(word: &str) -> bool {
    DECADES.iter().any(|decade| names(decade, word))
}

/// Whether a word is a month. In lower case, may and march are verbs.
pub(super) fn is_month(word: &str) -> bool {
    is_listed(MONTHS, word) || (word.starts_with(char::is_uppercase) && names(MONTHS, word))
}
