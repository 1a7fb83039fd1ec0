//! English for `IndicTrans2`: the punctuation, tokeniser and detokeniser of Moses, as sacremoses has them.

use std::{collections::HashMap, sync::LazyLock};

use super::rules::Rules;

/// Words that a point shortens.
const SHORTENED: &str = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Adj Adm Adv Asst Bart Bldg Brig Bros Capt \
    Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hr Hosp Insp Lt MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms \
    Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg v vs i.e rev e.g Rs Nos Nr Jan Feb \
    Mar Apr Jun Jul Aug Sep Oct Nov Dec";
/// Words that a point shortens before a number.
const BEFORE_NUMBERS: [&str; 3] = ["No", "Art", "pp"];

/// What stands for a point of several in a row, which stay together. It is no character of a text.
const POINT: char = '\u{fdd0}';

static PUNCTUATION: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[
        (r"\(", " ("),
        (r"\)", ") "),
        (" +", " "),
        (r"\) ([.!:?;,])", ")${1}"),
        (r"\( ", "("),
        (r" \)", ")"),
        (r"(\d) %", "${1}%"),
        (" :", ":"),
        (" ;", ";"),
        ("''", " \" "),
        (" +", " "),
        ("''", "\""),
        ("…", "..."),
        (" +", " "),
        (r#""([,.]+)"#, "${1}\""),
    ])
});

static SPACES: LazyLock<Rules> = LazyLock::new(|| Rules::new(&[(r"\s+", " "), (r"[\x00-\x1f]", "")]));

/// Spaces around marks, before the points of words are looked at.
static APART: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[(
        // Letters, digits, and the viramas and nuktas of the two scripts.
        r"([^\p{Alphabetic}\p{Nd}\u{93c}\u{94d}\u{a3c}\u{a4d}\s.'`,\-])",
        " ${1} ",
    )])
});

/// Spaces around commas that are in no number, and before an apostrophe that begins an ending ('s).
static COMMAS: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[
        (r"([^\p{N}]),", "${1} , "),
        (r",([^\p{N}])", " , ${1}"),
        (r"([\p{N}]),$", "${1} , "),
        (r"([^\p{Alphabetic}])'([^\p{Alphabetic}])", "${1} ' ${2}"),
        (r"([^\p{Alphabetic}\p{N}])'([\p{Alphabetic}])", "${1} ' ${2}"),
        (r"([\p{Alphabetic}])'([^\p{Alphabetic}])", "${1} ' ${2}"),
        (r"([\p{Alphabetic}])'([\p{Alphabetic}])", "${1} '${2}"),
        (r"([\p{N}])'(s)", "${1} '${2}"),
    ])
});

static UNESCAPED: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[
        (" @-@ ", "-"),
        ("&bar;", "|"),
        ("&#124;", "|"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&bra;", "["),
        ("&ket;", "]"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#91;", "["),
        ("&#93;", "]"),
        ("&amp;", "&"),
    ])
});

/// English as the network reads it: words and marks apart.
pub(super) fn prepare(text: &str) -> String {
    let text = SPACES.apply(PUNCTUATION.apply(text.trim()).trim());
    let text = points_apart(&APART.apply(text.trim()));
    let text = shortened(&COMMAS.apply(&text));
    let text = text.strip_suffix(".'").map_or(text.clone(), |text| format!("{text} . '"));
    words(&text).join(" ").replace(POINT, ".")
}

/// Runs of several points, with a space before and behind.
fn points_apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("..") {
        let n_points = rest[at..].bytes().take_while(|byte| *byte == b'.').count();
        apart.push_str(&rest[..at]);
        apart.push(' ');
        apart.extend(std::iter::repeat_n(POINT, n_points));
        apart.push(' ');
        rest = &rest[at + n_points..];
    }
    apart + rest
}

/// The text with a space before the point of each word, where it does not shorten the word.
fn shortened(text: &str) -> String {
    let words = words(text);
    let word = |(n, word): (usize, &&str)| {
        let next = words.get(n + 1);
        let Some(stem) = word.strip_suffix('.').filter(|stem| !stem.is_empty()) else {
            return (*word).to_owned();
        };
        let begins = |is: fn(char) -> bool| next.is_some_and(|next| next.starts_with(is));
        let is_shortened = (stem.contains('.') && stem.contains(char::is_alphabetic))
            || SHORTENED.split_ascii_whitespace().any(|listed| listed == stem)
            || begins(char::is_lowercase)
            || (BEFORE_NUMBERS.contains(&stem) && begins(|c| c.is_ascii_digit()));
        if is_shortened { (*word).to_owned() } else { format!("{stem} .") }
    };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// English from what the network writes.
pub(super) fn finish(text: &str) -> String {
    let text = UNESCAPED.apply(&format!(" {text} "));
    let words = words(&text);
    let mut whole = String::with_capacity(text.len());
    let mut quotes: HashMap<&str, usize> = HashMap::new();
    let mut space = " ";
    for (n, word) in words.iter().copied().enumerate() {
        let attaches = Attachment::of(word, n.checked_sub(1).map(|n| words[n]), &mut quotes);
        if !attaches.left {
            whole.push_str(space);
        }
        whole.push_str(word);
        space = if attaches.right { "" } else { " " };
    }
    whole.trim().to_owned()
}

/// Whether a word stands directly beside the one before it, and the one behind it.
#[derive(Default)]
struct Attachment {
    left: bool,
    right: bool,
}

impl Attachment {
    /// `quotes` counts the quotation marks of each kind so far: the first opens, the second closes, and so on.
    fn of<'a>(word: &'a str, before: Option<&str>, quotes: &mut HashMap<&'a str, usize>) -> Self {
        let all = |is: fn(char) -> bool| word.chars().all(is);
        if all(|c| "$¢£¤¥֏؋৲৳৻૱௹฿៛([{¿¡".contains(c) || ('\u{20a0}'..='\u{20bd}').contains(&c))
        {
            return Self { right: true, ..Self::default() };
        }
        let is_ending = before.is_some()
            && word.strip_prefix('\'').is_some_and(|end| end.starts_with(char::is_alphabetic));
        if all(|c| r",.?!:;\%}])".contains(c)) || is_ending {
            return Self { left: true, ..Self::default() };
        }
        if !all(|c| "'\"„“`".contains(c)) {
            return Self::default();
        }
        let kind = if all(|c| "„“".contains(c)) { "\"" } else { word };
        let seen = quotes.entry(kind).or_default();
        let is_possessive =
            word == "'" && seen.is_multiple_of(2) && before.is_some_and(|before| before.ends_with('s'));
        if is_possessive {
            return Self { left: true, ..Self::default() };
        }
        *seen += 1;
        let opens = *seen % 2 == 1;
        Self { left: !opens, right: opens }
    }
}

/// The words of a text, without the spaces between them.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
