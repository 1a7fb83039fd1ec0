//! All texts of the pages, in each language. A language without one of the texts does not compile.
//!
//! `{n}`, `{of}` and `{name}` in a text are replaced.

mod english;
mod panjabi;
mod texts;

use english::ENGLISH;
use panjabi::PANJABI;
pub(super) use texts::{Text, Units};

use crate::ui::language::Language;

impl Language {
    /// All texts of the operations page.
    pub(in crate::ui::ops) const fn text(self) -> &'static Text {
        match self {
            Self::English => &ENGLISH,
            Self::Panjabi => &PANJABI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ENGLISH, PANJABI};

    #[test]
    fn the_languages_replace_the_same_parts() {
        let parts = |text: &super::Text| {
            let text = format!("{:?}", (&text.notices, &text.alerts, &text.overview, &text.jobs));
            ["{n}", "{of}", "{name}"].map(|part| text.matches(part).count())
        };
        assert_eq!(parts(&ENGLISH), parts(&PANJABI));
        assert!(parts(&ENGLISH).iter().all(|n| *n > 0));
    }

    #[test]
    fn panjabi_is_written_in_gurmukhi() {
        // `Debug` escapes the vowel signs, so only letters count.
        let n_letters = |text: &super::Text| {
            let text = format!("{text:?}");
            text.chars().filter(|c| ('\u{a05}'..='\u{a39}').contains(c)).count()
        };
        assert_eq!(n_letters(&ENGLISH), 0);
        assert!(n_letters(&PANJABI) > 1000, "{}", n_letters(&PANJABI));
    }
}
