//! The words that a translation may have: those of a list, and names of the source in the letters of the target.
//!
//! A network that writes pieces of words joins some of them to words that no language has ("danged", "theheb"). The list is
//! a finite-state automaton. A beam follows it letter by letter and begins nothing that cannot become a word.

use std::{fmt, sync::Arc};

use fst::raw::{CompiledAddr, Fst};

use super::{
    spelling::{Positions, Spelling},
    tokens::Tokens,
};
use crate::text::continues_a_word;

/// The value of a word that the training texts have so often that it is translated and never spelled.
pub(super) const COMMON: u64 = 1;

/// The list, in small letters, and the texts of the tokens.
pub(super) struct Words {
    list: Fst<Vec<u8>>,
    /// By token, in which a special token is a space.
    texts: Vec<String>,
}

/// What the translation of one text may consist of.
#[derive(Debug, Clone)]
pub(super) struct SourceWords {
    words: Arc<Words>,
    /// The words of the source that may be names: rare ones, with a capital where its text has any.
    names: Vec<Spelling>,
}

/// How far a translation is within its last word.
#[derive(Clone)]
pub(super) struct Place {
    n_letters: usize,
    /// Whether names may begin with a small letter, because the translation is in small letters.
    is_small: bool,
    /// The state of the list; `None` where none of its words begins so.
    state: Option<CompiledAddr>,
    /// For each name of the source; empty where none may be.
    spelled: Vec<Positions>,
}

impl Words {
    /// `list` is a map of the crate fst, from words to [`COMMON`] or another value.
    pub(super) fn new(list: Vec<u8>, tokens: &Tokens) -> Result<Self, String> {
        let list = Fst::new(list).and_then(|list| list.verify().map(|()| list)).map_err(|e| e.to_string())?;
        let mut texts = Vec::new();
        for (token, piece) in tokens.pieces() {
            let Ok(token) = usize::try_from(token) else { continue };
            if texts.len() <= token {
                texts.resize(token + 1, " ".to_owned());
            }
            if !tokens.is_special(&piece) {
                texts[token] = piece.replace('▁', " ");
            }
        }
        Ok(Self { list, texts })
    }

    /// What the translation of this text may consist of.
    pub(super) fn of(self: &Arc<Self>, text: &str) -> SourceWords {
        let has_capitals = text.contains(char::is_uppercase);
        let is_name = |word: &&str| {
            let value = self.list.get(word.to_lowercase());
            let is_common = value.is_some_and(|value| value.value() == COMMON);
            let is_small = has_capitals && word.starts_with(char::is_lowercase);
            !(is_common || is_small)
        };
        let words = text.split(|c| !is_letter(c)).filter(is_name);
        SourceWords { words: self.clone(), names: words.filter_map(Spelling::of).collect() }
    }

    fn text(&self, token: i64) -> &str {
        usize::try_from(token).ok().and_then(|token| self.texts.get(token)).map_or(" ", String::as_str)
    }
}

impl SourceWords {
    /// Where a translation of these tokens is.
    pub(super) fn place(&self, tokens: &[i64]) -> Place {
        let has_end = |token: &i64| self.words.text(*token).contains(|c| !is_letter(c));
        let last = tokens.iter().rposition(has_end).unwrap_or(0);
        let is_small =
            tokens.iter().flat_map(|token| self.words.text(*token).chars()).find(|c| is_letter(*c));
        let start = self.start(is_small.is_none_or(char::is_lowercase));
        let letters = tokens[last..].iter().flat_map(|token| self.words.text(*token).chars());
        letters.fold(start.clone(), |at, c| if is_letter(c) { self.after(&at, c) } else { start.clone() })
    }

    /// Whether a translation at this place may go on with a token.
    pub(super) fn allow(&self, place: &Place, token: i64) -> bool {
        let mut reached = None;
        for c in self.words.text(token).chars() {
            let here = reached.as_ref().unwrap_or(place);
            if is_letter(c) {
                reached = Some(self.after(here, c));
            } else if here.n_letters == 0 || self.is_listed(here) || self.is_spelled(here) {
                reached = Some(self.start(here.is_small));
            } else {
                return false;
            }
        }
        reached.is_none_or(|at| at.state.is_some() || at.spelled.iter().any(|at| at.is_possible()))
    }

    /// Where a word begins.
    fn start(&self, is_small: bool) -> Place {
        let spelled = self.names.iter().map(Spelling::start).collect();
        Place { n_letters: 0, is_small, state: Some(self.words.list.root().addr()), spelled }
    }

    /// Where a letter leads.
    fn after(&self, place: &Place, letter: char) -> Place {
        let is_name = place.n_letters > 0 || place.is_small || !letter.is_lowercase();
        let letter = letter.to_lowercase().next().unwrap_or(letter);
        let list = &self.words.list;
        let state = letter.encode_utf8(&mut [0; 4]).bytes().try_fold(place.state, |state, byte| {
            let node = list.node(state?);
            Some(node.find_input(byte).map(|n| node.transition_addr(n)))
        });
        let names = self.names.iter().zip(&place.spelled).filter(|_| is_name);
        let spelled = names.map(|(name, at)| name.after(*at, letter)).collect();
        Place { n_letters: place.n_letters + 1, state: state.flatten(), spelled, ..*place }
    }

    /// Whether the word that ends here is in the list.
    fn is_listed(&self, place: &Place) -> bool {
        place.state.is_some_and(|state| self.words.list.node(state).is_final())
    }

    /// Whether the word that ends here is one of the source.
    fn is_spelled(&self, place: &Place) -> bool {
        self.names.iter().zip(&place.spelled).any(|(name, at)| name.is_whole(*at))
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").field("n_words", &self.list.len()).finish_non_exhaustive()
    }
}

fn is_letter(c: char) -> bool {
    continues_a_word(c) && !c.is_numeric() && c != '_'
}

#[cfg(test)]
impl SourceWords {
    /// The words of a text, for a list, which is in order, and for the texts of tokens.
    pub(super) fn test(list: &[(&str, u64)], texts: &[&str], text: &str) -> Self {
        let list = Fst::from_iter_map(list.iter().copied()).unwrap();
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        Arc::new(Words { list, texts }).of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[(&str, u64)] =
        &[("dangled", 0), ("shop", 0), ("t", 0), ("the", 0), ("ਡੰਗ", COMMON), ("ਨੂੰ", 0)];
    /// The first one ends a text.
    const TEXTS: &[&str] = &[
        " ", " the", " Shop", "s", " d", "ang", "led", "ed", ".", " G", "ur", "man", "jot", " gur", "'t",
        "7", " ਨੂ", "ੰ",
    ];

    /// Whether the tokens with these texts may follow one another, up to the end.
    fn allowed(source: &str, texts: &[&str]) -> bool {
        let words = SourceWords::test(LIST, TEXTS, source);
        let token = |text: &&str| TEXTS.iter().zip(0..).find(|(t, _)| *t == text).unwrap().1;
        let tokens: Vec<i64> = texts.iter().map(token).chain([0]).collect();
        (0..tokens.len()).all(|n| words.allow(&words.place(&tokens[..n]), tokens[n]))
    }

    #[test]
    fn a_translation_has_words_of_the_list() {
        assert!(allowed("ਸੱਪ", &[" the", " Shop", " d", "ang", "led", "."]));
        assert!(allowed("ਸੱਪ", &[" the", "'t", "7", ".", " Shop"]));
        assert!(allowed("snake", &[" ਨੂ", "ੰ"]));
        for wrong in [&[" d", "ang", "ed"][..], &[" Shop", "s"], &[" d", "ang", "."], &[" d", "ang"], &[" ਨੂ"]]
        {
            assert!(!allowed("ਡੰਗ", wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_of_the_source_is_spelled() {
        let name = &[" the", " G", "ur", "man", "jot", "."];
        assert!(allowed("ਗੁਰਮਨਜੋਤ ਦਾ", name));
        assert!(!allowed("ਗੁਰਮਨ ਦਾ", name));
        assert!(!allowed("ਗੁਰਮਨਜੋਤ", &[" the", " G", "ur", "man"]));
        // It has a capital, unless the whole translation has none.
        assert!(!allowed("ਗੁਰਮਨਜੋਤ", &[" Shop", " gur", "man", "jot"]));
        assert!(allowed("ਗੁਰਮਨਜੋਤ", &[" the", " gur", "man", "jot"]));
        // A common word is no name, and neither is a small one beside capitals.
        assert!(!allowed("ਡੰਗ", &[" d", "ang"]));
        let names = |text| SourceWords::test(LIST, TEXTS, text).names.len();
        assert_eq!((names("Gurmanjot eats peanuts"), names("gurmanjot eats peanuts")), (1, 2));
    }
}
