use proptest::prelude::*;

use super::*;
use crate::{testing::fixtures, text::folded};

fn written(text: &str, language: Language) -> String {
    let mut written = text.to_owned();
    for figure in figures(text, language).iter().rev() {
        assert!(!figure.text.contains(' '), "{text}: {figure:?}");
        written.replace_range(figure.start..figure.end, &figure.text);
    }
    written
}

#[test]
fn the_sentences_of_the_table_have_their_written_form() {
    let table = std::fs::read_to_string(fixtures("numbers/written.tsv")).unwrap();
    let rows: Vec<[&str; 3]> =
        table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect();
    let n_alike = rows.iter().filter(|[_, spoken, expected]| spoken == expected).count();
    assert!(rows.len() >= 400 && n_alike >= 100, "{} rows, {n_alike} alike", rows.len());
    let wrong = rows.iter().filter_map(|[language, spoken, expected]| {
        let language = Language::of(language).unwrap();
        let found = written(&folded(spoken), language);
        let again = written(&found, language);
        let is_right = found == folded(expected) && again == found;
        (!is_right).then(|| format!("{spoken}: expected {expected}, found {found}, and then {again}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_are_written_in_figures() {
    for (spoken, expected) in [
        ("ਉਸ ਕੋਲ ਦੋ ਲੱਖ ਪੰਜਾਹ ਹਜ਼ਾਰ ਰੁਪਏ ਹਨ", "ਉਸ ਕੋਲ ₹2,50,000 ਹਨ"),
        ("ਤਿੰਨ ਕਰੋੜ ਵੀਹ ਲੱਖ ਲੋਕ", "3,20,00,000 ਲੋਕ"),
        ("ਦੋ ਹਜ਼ਾਰ ਛੱਬੀ ਵਿੱਚ", "2026 ਵਿੱਚ"),
        ("ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ ਵਿੱਚ", "1984 ਵਿੱਚ"),
        ("ਡੇਢ ਸੌ ਬੰਦੇ", "150 ਬੰਦੇ"),
        ("ਡੇਢ ਲੱਖ ਰੁਪਏ", "₹1,50,000"),
        ("ਢਾਈ ਘੰਟੇ", "2.5 ਘੰਟੇ"),
        ("ਸਾਢੇ ਤਿੰਨ ਕਿਲੋ", "3.5 ਕਿਲੋ"),
        ("ਸਵਾ ਸੌ ਸਾਲ", "125 ਸਾਲ"),
        ("ਉਹ ਸਾਢੇ ਪੰਜ ਵਜੇ ਆਇਆ", "ਉਹ 5:30 ਵਜੇ ਆਇਆ"),
        ("ਪੌਣੇ ਚਾਰ ਵਜੇ", "3:45 ਵਜੇ"),
        ("ਪੰਜ ਵਜੇ", "5 ਵਜੇ"),
        ("ਇੱਕ ਵਜੇ", "1 ਵਜੇ"),
        ("ਪੰਦਰਾਂ ਵੀਹ ਪੱਚੀ", "15 20 25"),
        ("ਪੰਜ ਵੱਜ ਕੇ ਵੀਹ ਮਿੰਟ", "5 ਵੱਜ ਕੇ 20 ਮਿੰਟ"),
        ("ਇੱਕੀਵੀਂ ਸਦੀ", "21ਵੀਂ ਸਦੀ"),
        ("ਪੰਜਵੀਂ ਜਮਾਤ ਅਤੇ ਇੱਕ ਸੌ ਤੀਜਾ ਬੰਦਾ", "5ਵੀਂ ਜਮਾਤ ਅਤੇ 103ਜਾ ਬੰਦਾ"),
        ("ਉੱਨੀ ਨੱਬੇ ਵਿੱਚ", "1990 ਵਿੱਚ"),
        ("ਲੱਖ ਰੁਪਏ", "₹1,00,000"),
        ("ਪੰਦਰਾਂ ਪ੍ਰਤੀਸ਼ਤ", "15%"),
        ("ਪੰਜ ਫ਼ੀ ਸਦੀ", "5%"),
        ("ਦੋ ਰੁਪਏ ਦੀ ਚਾਹ", "₹2 ਦੀ ਚਾਹ"),
        ("ਪੰਜ ਰੁਪਏ ਪੰਜਾਹ ਪੈਸੇ", "₹5.50"),
        ("ਦੋ ਸੌ ਰੁਪਏ ਅਤੇ ਪੰਜ ਪੈਸੇ", "₹200.05"),
        ("ਪੰਜ ਰੁਪਏ ਬੱਤੀ ਪੈਸੇ", "₹5.32"),
        ("ਵੀਹ ਡਾਲਰ", "$20"),
        ("ਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ ਨੌਂ ਅੱਠ ਸੱਤ ਛੇ ਪੰਜ ਚਾਰ ਤਿੰਨ ਦੋ ਇੱਕ ਸਿਫ਼ਰ ਹੈ", "ਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ 9876543210 ਹੈ"),
        ("ਅਠਾਨਵੇਂ ਛਿਹੱਤਰ ਪੰਜਾਹ", "987650"),
        ("ਡਬਲ ਪੰਜ ਸੱਤ", "557"),
        ("ਡਬਲ ਪੰਜ ਰੁਪਏ", "₹55"),
        ("ਦੋ ਤਿੰਨ ਦਿਨ", "2-3 ਦਿਨ"),
        ("ਪੰਜ ਸੱਤ ਬੰਦੇ", "5-7 ਬੰਦੇ"),
        ("ਵੀਹ ਪੱਚੀ ਬੰਦੇ", "20-25 ਬੰਦੇ"),
        ("ਦੋ ਤਿੰਨ ਸੌ ਬੰਦੇ", "200-300 ਬੰਦੇ"),
        ("ਪੰਜ ਤੋਂ ਦਸ ਹਜ਼ਾਰ ਤੱਕ", "5000 ਤੋਂ 10,000 ਤੱਕ"),
        ("ਪੰਜ ਤੋਂ ਦਸ ਸਾਲ", "5 ਤੋਂ 10 ਸਾਲ"),
        ("ਪੰਜ ਮਾਰਚ ਉੱਨੀ ਸੌ ਚੁਰਾਸੀ ਨੂੰ", "5 ਮਾਰਚ 1984 ਨੂੰ"),
        ("ਇੱਕ ਜਨਵਰੀ ਨੂੰ", "1 ਜਨਵਰੀ ਨੂੰ"),
        ("ਪਹਿਲੀ ਜਨਵਰੀ ਨੂੰ", "1 ਜਨਵਰੀ ਨੂੰ"),
        ("ਬਾਈ ਮਾਰਚ", "22 ਮਾਰਚ"),
        ("ਪੰਜ ਤਾਰੀਖ਼ ਨੂੰ", "5 ਤਾਰੀਖ਼ ਨੂੰ"),
        ("ਪੰਨਾ ਪੰਜ", "ਪੰਨਾ 5"),
        ("ਤਿੰਨ ਦਸ਼ਮਲਵ ਇੱਕ ਚਾਰ", "3.14"),
        ("ਦੋ ਲੱਖ ਕਰੋੜ ਰੁਪਏ", "₹20,00,00,00,00,000"),
    ] {
        assert_eq!(written(spoken, Language::Panjabi), expected);
    }
    for (spoken, expected) in [
        ("My number is nine eight seven six five.", "My number is 98765."),
        ("Two hundred and five people came.", "205 people came."),
        ("two hundred fifty thousand", "250,000"),
        ("two crore five lakh people", "2,05,00,000 people"),
        ("a hundred rupees", "₹100"),
        ("five rupees and fifty paise", "₹5.50"),
        ("He came at half past three", "He came at 3:30"),
        ("twenty past three", "3:20"),
        ("at six oh five", "at 6:05"),
        ("six thirty pm", "6:30 pm"),
        ("at one pm", "at 1 pm"),
        ("ten o’clock, five o'clock", "10 o’clock, 5 o'clock"),
        ("in nineteen eighty four", "in 1984"),
        ("in the nineteen eighties", "in the 1980s"),
        ("two thousand and six", "2006"),
        ("the twenty-first century", "the 21st century"),
        ("the fifth, the twelfth and the hundred and third", "the 5th, the 12th and the 103rd"),
        ("three and a half kilos", "3.5 kilos"),
        ("two and a half million people", "2,500,000 people"),
        ("two point five percent", "2.5%"),
        ("five per cent of it", "5% of it"),
        ("March fourth nineteen eighty", "March 4th 1980"),
        ("August fifteen nineteen forty seven", "August 15 1947"),
        ("the first of January", "the 1st of January"),
        ("on five March", "on 5 March"),
        ("on March five.", "on March 5."),
        ("page five", "page 5"),
        ("ten to twelve people", "10 to 12 people"),
        ("five to ten thousand people", "5000 to 10,000 people"),
        ("from five to ten", "from 5 to 10"),
        ("double five seven oh", "5570"),
    ] {
        assert_eq!(written(spoken, Language::English), expected);
    }
}

#[test]
fn small_numbers_and_words_that_are_no_numbers_stay() {
    for text in [
        "ਇੱਕ ਆਦਮੀ ਆਇਆ",
        "ਦੋ ਬੰਦੇ",
        "ਸੱਤ",
        "ਦੋ ਜਾਂ ਤਿੰਨ ਦਿਨ",
        "ਇੱਕ ਦੂਜੇ ਨੂੰ",
        "ਉਹ ਸੌ ਗਿਆ",
        "ਪੌਣਾ ਘੰਟਾ",
        "ਪਹਿਲੀ ਵਾਰ",
        "ਚੌਥਾ ਹਿੱਸਾ",
        "ਤਿੰਨ ਤਿੰਨ ਮੈਚ",
        "ਲੱਖ ਘਰਾਂ ਵਿੱਚ",
    ] {
        assert_eq!(written(text, Language::Panjabi), text);
    }
    for text in [
        "no one came",
        "seven",
        "two or three days",
        "a second",
        "the third row",
        "a million things",
        "in May two people came",
        "two may come",
        "a third of it",
    ] {
        assert_eq!(written(text, Language::English), text);
    }
}

/// A number with its words beside it, and its figure.
fn spoken(number: &Number, language: Language) -> String {
    number.words(language)
}

fn any_number() -> impl Strategy<Value = Number> {
    let whole = prop_oneof![10..100_u64, 10..10_000_u64, 10..100_000_000_000_u64];
    prop_oneof![
        whole.prop_map(Number::whole),
        (1..99_u64, 1..4_u64).prop_map(|(n, part)| Number::Quarters(4 * n + part)),
        (0..10_000_u64, prop::collection::vec(0..10_u8, 1..4))
            .prop_map(|(n, digits)| Number::Decimal(n, digits)),
        (5..10_000_u64).prop_map(Number::Ordinal),
        (1100..2100_u64).prop_filter("read as a cardinal", |year| year % 100 >= 10).prop_map(Number::Year),
    ]
}

/// The value of a figure, in quarters or as it is written without commas.
fn value(figure: &str) -> String {
    figure.replace(',', "")
}

fn plain(number: &Number) -> String {
    match number {
        Number::Quarters(quarters) => match quarters % 4 {
            0 => format!("{}", quarters / 4),
            part => format!("{}.{}", quarters / 4, ["", "25", "5", "75"][usize::try_from(part).unwrap()]),
        },
        Number::Decimal(whole, digits) => {
            format!("{whole}.{}", digits.iter().map(u8::to_string).collect::<String>())
        }
        Number::Year(n) | Number::Ordinal(n) => n.to_string(),
        Number::Clock(hour, minute) => format!("{hour}:{minute:02}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_figure_has_the_value_of_its_words(number in any_number()) {
        for language in [Language::Panjabi, Language::English] {
            let figure = value(&written(&spoken(&number, language), language));
            let ending = match (&number, language) {
                (Number::Ordinal(_), _) => figure.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned(),
                _ => String::new(),
            };
            prop_assert_eq!(figure.strip_suffix(&ending), Some(&plain(&number)[..]), "{}", spoken(&number, language));
        }
    }
    #[test]
    fn ranges_of_money_have_their_values(low in 8..392_u64, more in 1..400_u64, scale in 0..4_usize, is_joined: bool) {
        // In quarters.
        let high = (low + more).min(2 * low).min(395);
        prop_assume!(low < high);
        let scale = [100, 1000, 100_000, 10_000_000][scale];
        prop_assume!(![22, 32, 71].map(|doubtful| 4 * doubtful).contains(&low));
        prop_assume!([low, high].iter().all(|part| scale > 100 || part % 40 != 0));
        let name = Number::whole(scale).words(Language::Panjabi);
        let name = name.strip_prefix("ਇੱਕ ").unwrap();
        let [from, to] = [low, high].map(|part| Number::Quarters(part).words(Language::Panjabi));
        let [low, high] = [low, high].map(|part| (part * scale / 4).to_string());
        let (spoken, expected) = if is_joined {
            (format!("{from} ਤੋਂ {to} {name} ਰੁਪਏ ਲੱਗੇ"), format!("₹{low} ਤੋਂ {high} ਲੱਗੇ"))
        } else {
            (format!("{from} {to} {name} ਰੁਪਏ ਲੱਗੇ"), format!("₹{low}-{high} ਲੱਗੇ"))
        };
        prop_assert_eq!(value(&written(&spoken, Language::Panjabi)), expected, "{}", spoken);
    }

    #[test]
    fn a_comma_before_the_rest_of_a_number_leaves_all_in_words(count in 1..100_u64, scale in 0..4_usize, rest: u32) {
        for (language, scales) in [
            (Language::Panjabi, [100, 1000, 100_000, 10_000_000]),
            (Language::English, [100, 1000, 1_000_000, 1_000_000_000]),
        ] {
            let rest = 2 + u64::from(rest) % (scales[scale] - 2);
            prop_assume!(![22, 32, 71].contains(&rest)); // doubtful alone
            let words = |n: u64| Number::whole(n).words(language);
            let spoken = format!("{}, {}", words(count * scales[scale]), words(rest));
            prop_assert_eq!(written(&spoken, language), spoken);
        }
    }

    #[test]
    fn a_number_that_is_said_twice_is_no_other(part in 8..396_u64, scale in 0..4_usize) {
        let name = ["", " ਸੌ", " ਹਜ਼ਾਰ", " ਲੱਖ"][scale];
        let scale = [1, 100, 1000, 100_000][scale];
        prop_assume!(scale != 100 || part % 40 != 0);
        let words = Number::Quarters(part).words(Language::Panjabi);
        let spoken = format!("{words} {words}{name} ਰੁਪਏ");
        let each = plain(&Number::Quarters(part * scale));
        prop_assert_eq!(value(&written(&spoken, Language::Panjabi)), format!("{each}-{each} ਰੁਪਏ"), "{}", spoken);
    }

    #[test]
    fn times_have_their_hours_and_minutes(from in 4..52_u64, to in 4..52_u64) {
        let time = |quarters: u64| match (quarters / 4, 15 * (quarters % 4)) {
            (hour, 0) => hour.to_string(),
            (hour, minute) => format!("{hour}:{minute}"),
        };
        prop_assume!(from != to);
        let words = |quarters| Number::Quarters(quarters).words(Language::Panjabi);
        for (spoken, expected) in [
            (format!("{} ਵਜੇ ਆਓ", words(from)), format!("{} ਵਜੇ ਆਓ", time(from))),
            (format!("{} ਤੋਂ {} ਵਜੇ ਤੱਕ", words(from), words(to)), format!("{} ਤੋਂ {} ਵਜੇ ਤੱਕ", time(from), time(to))),
        ] {
            prop_assert_eq!(written(&spoken, Language::Panjabi), expected, "{}", spoken);
        }
    }

    #[test]
    fn figures_stand_one_behind_another(
        text in "((ਇੱਕ|ਦੋ|ਪੰਜ|ਦਸ|ਉੱਨੀ|ਵੀਹ|ਸੌ|ਹਜ਼ਾਰ|ਲੱਖ|ਡੇਢ|ਅੱਧਾ|ਸਾਢੇ|ਸਵਾ|ਪੌਣੇ|ਦਸ਼ਮਲਵ|ਡਬਲ|ਰੁਪਏ|ਪੈਸੇ|ਵਜੇ|ਫ਼ੀ|ਸਦੀ|ਪੰਜਵੀਂ|ਪਹਿਲੀ|ਮਾਰਚ|ਤੋਂ|ਅਤੇ|ਨੰਬਰ|ਘਰ)[ ,-]{1,2}){0,12}\
        |((one|two|ten|twelve|nineteen|fifty|hundred|thousand|lakh|and|a|half|quarter|past|to|o'clock|point|double|triple|rupees|paise|per|cent|May|third|fiftieth|hundredth|of|home|twenties|5)[ ,-]{1,2}){0,12}",
    ) {
        for language in [Language::Panjabi, Language::English] {
            let figures = figures(&text, language);
            prop_assert!(figures.iter().all(|figure| figure.start < figure.end));
            prop_assert!(figures.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", figures);
        }
    }
}
