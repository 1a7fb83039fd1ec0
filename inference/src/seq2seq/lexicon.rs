//! Names that a translation copies in the script of its language.

use std::collections::HashMap;

use crate::{numbers::Language, text::continues_a_word};

/// Names with their forms in both languages.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    english: HashMap<String, String>,
    panjabi: HashMap<String, String>,
}

impl Lexicon {
    /// The number of words of a form.
    const LONGEST: usize = 3;

    /// Parses rows of English, Panjabi and `both`, `en` or `pa`, with tabs between. Of several rows with one form, the
    /// first is used.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lexicon = Self::default();
        for (n, line) in text.lines().enumerate() {
            let fault = || {
                let expected = "expected English, Panjabi and one of both, en, pa, with tabs between";
                format!("line {} is {line:?}: {expected}", n + 1)
            };
            let [en, pa, way] = line.split('\t').collect::<Vec<_>>().try_into().map_err(|_| fault())?;
            if !["both", "en", "pa"].contains(&way) {
                return Err(fault());
            }
            if way != "pa" {
                lexicon.english.entry(en.to_owned()).or_insert_with(|| pa.to_owned());
            }
            if way != "en" {
                lexicon.panjabi.entry(pa.to_owned()).or_insert_with(|| en.to_owned());
            }
        }
        Ok(lexicon)
    }

    /// The length in bytes of the longest name at the start of a text, and its form in the other language.
    pub(super) fn find(&self, text: &str, language: Language) -> Option<(usize, &str)> {
        let forms = match language {
            Language::English => &self.english,
            Language::Panjabi => &self.panjabi,
        };
        let mut ends = Vec::new();
        let mut end = 0;
        for _ in 0..Self::LONGEST {
            let word: usize =
                text[end..].chars().take_while(|c| continues_a_word(*c)).map(char::len_utf8).sum();
            if word == 0 {
                break;
            }
            end += word;
            ends.push(end);
            if !text[end..].starts_with(' ') {
                break;
            }
            end += 1;
        }
        ends.into_iter().rev().find_map(|end| Some((end, forms.get(&text[..end])?.as_str())))
    }
}
