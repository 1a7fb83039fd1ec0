//! The language of a page: the one that was chosen, or the one that the browser prefers.

use axum::http::{HeaderMap, header};

use super::cookies::cookie;

/// The cookie with the language that was chosen.
pub(super) const CHOSEN: &str = "akhar_language";

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// English.
    English,
    /// Panjabi, in Gurmukhi.
    Panjabi,
}

impl Language {
    /// All languages. The first is used if the browser prefers none of them.
    pub(super) const ALL: [Self; 2] = [Self::English, Self::Panjabi];

    /// The code, as in the `lang` attribute.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Panjabi => "pa",
        }
    }

    /// The name in the language itself.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Panjabi => "ਪੰਜਾਬੀ",
        }
    }

    /// The language with this code.
    pub(super) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The language for a request.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let chosen = cookie(headers, CHOSEN).and_then(Self::from_code);
        chosen.or_else(|| preferred(headers)).unwrap_or(Self::ALL[0])
    }
}

/// The language that the Accept-Language header prefers.
fn preferred(headers: &HeaderMap) -> Option<Language> {
    let list = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    let weigh = |item: &str| {
        let mut parts = item.split(';').map(str::trim);
        let language = Language::from_code(parts.next()?.split('-').next()?)?;
        let q =
            parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse::<f32>().ok())?;
        (q > 0.0).then_some((language, q))
    };
    let weighed = list.split(',').filter_map(weigh);
    // Of those with the same weight, the first is preferred.
    weighed.reduce(|best, item| if item.1 > best.1 { item } else { best }).map(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &'static str, value: &str) -> Language {
        Language::of(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]))
    }

    #[test]
    fn the_preferred_language_is_chosen() {
        for (header, language) in [
            ("pa", Language::Panjabi),
            ("pa-IN,pa;q=0.9,en;q=0.8", Language::Panjabi),
            ("en-GB,pa;q=0.5", Language::English),
            ("de,pa;q=0.1", Language::Panjabi),
            ("pa;q=0,fr", Language::English),
            ("", Language::English),
            ("*", Language::English),
        ] {
            assert_eq!(of("accept-language", header), language, "{header}");
        }
        assert_eq!(of("cookie", "akhar_language=pa"), Language::Panjabi);
    }
}
