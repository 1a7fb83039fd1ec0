//! Numbers that are spelt in every way are read as themselves.

use super::{Language, Number, find, panjabi};

/// Random choices: the upper bits of Knuth's linear congruential generator.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap()]
    }
}

/// The spellings of each number below 100.
fn small() -> Vec<Vec<&'static str>> {
    let mut small = vec![Vec::new(); 100];
    for (form, meaning) in panjabi::forms() {
        if let super::Meaning::Small(n) = meaning {
            small[usize::try_from(n).unwrap()].push(form);
        }
    }
    for forms in &mut small {
        forms.sort_unstable();
    }
    small
}

struct Panjabi {
    small: Vec<Vec<&'static str>>,
    choices: Choices,
}

impl Panjabi {
    fn small(&mut self, n: u64) -> String {
        self.choices.of(&self.small[usize::try_from(n).unwrap()]).to_owned()
    }

    fn words(&mut self, n: u64) -> String {
        let quarters = [(6, "ਡੇਢ"), (6, "ਡੇੜ੍ਹ"), (10, "ਢਾਈ")];
        for scale in [100_000_000_000, 1_000_000_000, 10_000_000, 100_000, 1000, 100] {
            let fraction = quarters.iter().find(|(quarters, _)| n * 4 == quarters * scale);
            let names: &[&str] = match scale {
                100_000_000_000 => &["ਖਰਬ"],
                1_000_000_000 => &["ਅਰਬ", "ਬਿਲੀਅਨ"],
                10_000_000 => &["ਕਰੋੜ", "ਕ੍ਰੋੜ"],
                100_000 => &["ਲੱਖ", "ਲਖ"],
                1000 => &["ਹਜ਼ਾਰ", "ਹਜਾਰ"],
                _ => &["ਸੌ"],
            };
            if let Some((_, fraction)) = fraction.filter(|_| self.choices.below(2) == 0) {
                return format!("{fraction} {}", self.choices.of(names));
            }
            let whole = 4 * n / scale;
            let name = self.choices.of(names);
            if (4 * n).is_multiple_of(scale) && (4..400).contains(&whole) && self.choices.below(2) == 0 {
                let n = whole / 4;
                match whole % 4 {
                    1 if n > 1 => return format!("ਸਵਾ {} {name}", self.small(n)),
                    1 => return format!("ਸਵਾ {name}"),
                    2 if n > 2 => return format!("ਸਾਢੇ {} {name}", self.small(n)),
                    3 if n < 99 => return format!("ਪੌਣੇ {} {name}", self.small(n + 1)),
                    _ => (),
                }
            }
            if n >= scale {
                let head = format!("{} {name}", self.words(n / scale));
                return if n.is_multiple_of(scale) {
                    head
                } else {
                    format!("{head} {}", self.words(n % scale))
                };
            }
        }
        self.small(n)
    }

    /// The words of a number, of which 1100 to 9900 may be so many hundred.
    fn any(&mut self, n: u64) -> String {
        let hundreds = n / 100;
        if (11..100).contains(&hundreds) && !hundreds.is_multiple_of(10) && self.choices.below(2) == 0 {
            let head = format!("{} ਸੌ", self.small(hundreds));
            return if n.is_multiple_of(100) { head } else { format!("{head} {}", self.small(n % 100)) };
        }
        self.words(n)
    }
}

struct English(Choices);

impl English {
    fn below_hundred(&mut self, n: u64) -> String {
        let words = Number::whole(n).words(Language::English);
        let between = self.0.of(&["-", " ", ""]);
        words.replace('-', between)
    }

    fn words(&mut self, n: u64) -> String {
        if n < 100 {
            return self.below_hundred(n);
        }
        let scales: &[(u64, &str)] = match self.0.below(2) {
            0 => &[
                (1_000_000_000_000, "trillion"),
                (1_000_000_000, "billion"),
                (1_000_000, "million"),
                (1000, "thousand"),
                (100, "hundred"),
            ],
            _ => &[(10_000_000, "crore"), (100_000, "lakh"), (1000, "thousand"), (100, "hundred")],
        };
        let (scale, name) = scales.iter().find(|(scale, _)| n >= *scale).unwrap();
        let one = n / scale == 1 && self.0.below(2) == 0;
        let head = if one { format!("a {name}") } else { format!("{} {name}", self.words(n / scale)) };
        match n % scale {
            0 => head,
            rest @ 1..100 if self.0.below(2) == 0 => format!("{head} and {}", self.below_hundred(rest)),
            rest => format!("{head} {}", self.inner(rest)),
        }
    }

    /// The words of what stands behind a scale, which begin with no article.
    fn inner(&mut self, n: u64) -> String {
        let words = self.words(n);
        words.strip_prefix("a ").map_or(words.clone(), |rest| format!("one {rest}"))
    }
}

fn is_read_as(words: &str, n: u64, language: Language) {
    let runs = find(words, language);
    let numbers: Vec<&Number> = runs.iter().flat_map(super::Run::said).map(|said| &said.number).collect();
    let is_year = matches!(numbers[..], [Number::Year(year)] if *year == n);
    assert!(runs.len() == 1 && (is_year || numbers == [&Number::whole(n)]), "{words} is {n}: {runs:?}");
    assert!(runs[0].is_whole, "{words}");
}

#[test]
fn every_number_to_a_hundred_thousand_and_others_are_read_in_all_spellings() {
    let mut panjabi = Panjabi { small: small(), choices: Choices(1) };
    let mut english = English(Choices(2));
    let mut others = Choices(3);
    let mut to_ten_trillion = || {
        let limit = 10_u64.pow(u32::try_from(6 + others.below(8)).unwrap());
        others.below(limit)
    };
    let random: Vec<u64> = (0..100_000).map(|_| to_ten_trillion()).collect();
    for n in (0..=100_000).chain(random) {
        is_read_as(&panjabi.any(n), n, Language::Panjabi);
        is_read_as(&english.words(n), n, Language::English);
    }
}

#[test]
fn each_spelling_is_read_behind_a_hundred_and_before_one() {
    for (n, forms) in (0..).zip(small()) {
        for form in forms {
            if n > 0 {
                is_read_as(&format!("ਦੋ ਸੌ {form}"), 200 + n, Language::Panjabi);
                is_read_as(&format!("{form} ਹਜ਼ਾਰ"), 1000 * n, Language::Panjabi);
            }
        }
    }
}
