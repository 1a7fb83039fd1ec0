//! The language of a recording, as clients of OpenAI's API name it.

use akhar_requests::Language;
use serde_json::json;

use crate::{
    input::value::{Rule, Value, rule},
    problems::Code,
};

/// The codes of ISO 639 and the English names of a language, in lower case. The first one is the shortest code.
const NAMES: [(Language, &[&str]); 2] = [
    (Language::Panjabi, &["pa", "pan", "panjabi", "punjabi"]),
    (Language::English, &["en", "eng", "english"]),
];
/// The script of Panjabi that the models do not write.
const SHAHMUKHI: &str = "arab";

/// A language that is spoken: a tag of BCP 47 such as `pa-IN`, or a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpokenLanguage(pub(crate) Language);

impl Value for SpokenLanguage {
    fn rule() -> Rule {
        let names: Vec<&str> = NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        rule(
            format!(
                "one of {}, or one with a region or script, such as pa-IN, pa-Guru or en-GB",
                names.join(", ")
            ),
            json!({"type": "string", "examples": ["pa", "en-GB", "punjabi"]}),
        )
    }

    /// Case does not matter. Of a tag, the part before the first hyphen decides.
    fn parse(text: &str) -> Result<Self, Code> {
        let text = text.to_ascii_lowercase();
        let mut parts = text.split(['-', '_']);
        let first = parts.next().unwrap_or_default();
        let is_subtag = |part: &str| {
            (1..=8).contains(&part.len())
                && part.bytes().all(|b| b.is_ascii_alphanumeric())
                && part != SHAHMUKHI
        };
        let found = NAMES.iter().find(|(_, names)| names.contains(&first));
        found.filter(|_| parts.all(is_subtag)).map(|(language, _)| Self(*language)).ok_or(Code::NotAChoice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_names_are_languages() {
        let of = |text: &str| SpokenLanguage::parse(text).map(|language| language.0);
        for text in ["pa", "PA", "pa-IN", "pa_IN", "pa-Guru", "pa-Guru-IN", "pan", "Punjabi", "panjabi"] {
            assert_eq!(of(text), Ok(Language::Panjabi), "{text}");
        }
        for text in ["en", "en-GB", "en-us", "ENG", "English"] {
            assert_eq!(of(text), Ok(Language::English), "{text}");
        }
        for text in ["", "-", "fr", "pa-", "pa-Arab", "pa IN", "auto", "hi-IN", "pa-ਗੁਰ", "en-0123456789"]
        {
            assert_eq!(of(text), Err(Code::NotAChoice), "{text}");
        }
        let refused = SpokenLanguage::check("language", "fr-FR").unwrap_err().remove(0).detail;
        assert!(refused.contains("pa, pan, panjabi, punjabi, en, eng, english"), "{refused}");
    }
}
