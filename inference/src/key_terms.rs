//! Key terms: words that a caller expects in a recording come in; how far a text that is being found is in one of them goes
//! out, so that a search can prefer it.
//!
//! A term counts only as whole words, from a space on. A search adds a bonus for each letter of a text that may become a term, and takes it
//! back when the text turns out to be another one (shallow fusion with a trie, as in Zhao et al., "Shallow-Fusion
//! End-to-End Contextual Biasing", 2019).

use std::{collections::HashMap, sync::Arc};

use crate::text::folded;

/// The root of the trie.
const ROOT: u32 = 0;

/// The terms of a request, as a trie of their letters. Without terms nothing is preferred.
#[derive(Debug, Clone, Default)]
pub struct KeyTerms {
    terms: Arc<[String]>,
    nodes: Arc<[Node]>,
}

#[derive(Debug, Default)]
struct Node {
    children: HashMap<char, u32>,
    /// Whether a term ends here.
    is_end: bool,
}

/// How far a text is in a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The node that the last letters lead to. `None` within a word that is no term.
    node: Option<u32>,
    /// The letters of the term that the text is in, which may still be another word.
    n_open: u32,
    /// The letters of all whole terms before.
    n_kept: u32,
}

impl Progress {
    /// At the beginning of a text.
    pub(crate) const START: Self = Self { node: Some(ROOT), n_open: 0, n_kept: 0 };

    /// How many letters have a bonus.
    pub(crate) const fn n_letters(self) -> u32 {
        self.n_kept + self.n_open
    }

    /// How many letters of whole terms there are.
    pub(crate) const fn n_kept(self) -> u32 {
        self.n_kept
    }

    /// Whether the text is in a term.
    pub(crate) const fn is_in_term(self) -> bool {
        self.n_open > 0
    }
}

impl KeyTerms {
    /// The trie of these terms. A term that begins with a small letter may begin with a capital too.
    pub fn new(terms: &[String]) -> Self {
        let mut nodes = Vec::new();
        for term in terms {
            let term = folded(term);
            let mut letters = term.chars();
            let capital = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters);
            insert(&mut nodes, capital);
            insert(&mut nodes, term.chars());
        }
        Self { terms: terms.into(), nodes: nodes.into() }
    }

    /// Some of the terms.
    pub(crate) fn only(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        Self::new(&self.terms.iter().filter(|term| is_kept(term)).cloned().collect::<Vec<_>>())
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Where a text is after some more letters.
    pub(crate) fn step(&self, from: Progress, letters: impl IntoIterator<Item = char>) -> Progress {
        letters.into_iter().fold(from, |at, letter| self.after(at, letter))
    }

    /// Where a text is when it ends.
    pub(crate) fn end(&self, at: Progress) -> Progress {
        let is_term = at.node.and_then(|node| self.nodes.get(node as usize)).is_some_and(|node| node.is_end);
        let n_kept = if is_term { at.n_letters() } else { at.n_kept };
        Progress { node: Some(ROOT), n_open: 0, n_kept }
    }

    fn after(&self, at: Progress, letter: char) -> Progress {
        let node = at.node.and_then(|node| self.nodes.get(node as usize));
        let next = node.and_then(|node| node.children.get(&letter)).copied();
        match (is_letter(letter), next) {
            (true, Some(next)) => Progress { node: Some(next), n_open: at.n_open + 1, ..at },
            (true, None) => Progress { node: None, n_open: 0, ..at },
            // A longer term may begin with a whole one.
            (false, Some(next)) if node.is_some_and(|node| node.is_end) => {
                Progress { node: Some(next), ..self.end(at) }
            }
            (false, Some(next)) => Progress { node: Some(next), ..at },
            (false, None) if letter.is_whitespace() => self.end(at),
            (false, None) => Progress { node: None, ..self.end(at) },
        }
    }

    /// Calls `found` with the next letters of each term that a text may be in, from one to `longest` of them.
    pub(crate) fn continuations(&self, at: Progress, longest: usize, mut found: impl FnMut(&str)) {
        let mut open = vec![(at.node, String::new(), 0)];
        while let Some((node, letters, n)) = open.pop() {
            let Some(node) = node.and_then(|node| self.nodes.get(node as usize)) else { continue };
            if n > 0 {
                found(&letters);
            }
            if n < longest {
                let further =
                    |(letter, next): (&char, &u32)| (Some(*next), format!("{letters}{letter}"), n + 1);
                open.extend(node.children.iter().map(further));
            }
        }
    }
}

fn insert(nodes: &mut Vec<Node>, term: impl Iterator<Item = char>) {
    if nodes.is_empty() {
        nodes.push(Node::default());
    }
    let mut at = ROOT as usize;
    for letter in term {
        let new = u32::try_from(nodes.len()).unwrap_or(ROOT);
        let next = *nodes[at].children.entry(letter).or_insert(new);
        if next == new {
            nodes.push(Node::default());
        }
        at = next as usize;
    }
    nodes[at].is_end = true;
}

/// Whether a character is part of a word. Signs of Gurmukhi such as the virama are.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || ('\u{a00}'..='\u{a7f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many letters have a bonus after each letter of a text, and when it ends.
    fn letters(terms: &[&str], text: &str) -> Vec<u32> {
        let terms = KeyTerms::new(&terms.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        let mut at = Progress::START;
        let mut found: Vec<u32> = text
            .chars()
            .map(|letter| {
                at = terms.step(at, [letter]);
                at.n_letters()
            })
            .collect();
        found.push(terms.end(at).n_letters());
        found
    }

    #[test]
    fn a_bonus_is_taken_back_when_the_text_leaves_a_term() {
        assert_eq!(letters(&["abc"], "abc"), [1, 2, 3, 3]);
        assert_eq!(letters(&["abc"], "abx abc"), [1, 2, 0, 0, 1, 2, 3, 3]);
        assert_eq!(letters(&["abc"], "ab ab"), [1, 2, 0, 1, 2, 0], "the term is not whole");
        assert_eq!(letters(&["abc"], "abcd"), [1, 2, 3, 0, 0], "the word goes on");
        assert_eq!(letters(&["abc"], "xabc"), [0; 5], "the word begins before");
        assert_eq!(letters(&["abc"], "Abc's"), [1, 2, 3, 3, 3, 3]);
        assert_eq!(letters(&[], "abc"), [0; 4]);
    }

    #[test]
    fn a_term_of_several_words_may_begin_with_another_term() {
        assert_eq!(letters(&["ab cd"], "ab cd"), [1, 2, 2, 3, 4, 4]);
        assert_eq!(letters(&["ab cd"], "ab ce"), [1, 2, 2, 3, 0, 0]);
        assert_eq!(letters(&["ab", "ab cd"], "ab ce"), [1, 2, 2, 3, 2, 2], "the first word is kept");
        assert_eq!(letters(&["a-b"], "a-b a"), [1, 1, 2, 2, 3, 2]);
    }

    #[test]
    fn letters_with_a_dot_below_are_spelt_in_one_way() {
        assert_eq!(letters(&["\u{a36}"], "ਸ\u{a3c}"), [1, 2, 2]);
    }
}
