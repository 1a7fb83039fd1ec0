//! Finds the numbers of a text.

use std::ops::Range;

use super::{
    context::Place,
    number::{Language, Number, Said},
    panjabi,
    parse::{Reader, Token},
};

/// Numbers that stand one after another in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// The byte of the text at which the run starts.
    pub(crate) start: usize,
    /// The byte behind its end.
    pub(crate) end: usize,
    /// The tokens of the text that are its words.
    pub(super) tokens: Range<usize>,
    /// Numbers with a space between them, and the next ones behind a comma.
    pub(super) groups: Vec<Vec<Said>>,
    /// Whether its two numbers mean one or the other: ਦੋ ਤਿੰਨ ਦਿਨ.
    is_range: bool,
    /// The ending of an ordinal behind a figure, in the language of the text: th, ਵੀਂ.
    pub(crate) ending: &'static str,
}

impl Run {
    /// The run in words of a language.
    pub(crate) fn words(&self, language: Language) -> String {
        let between = if self.is_range && language == Language::English { " or " } else { " " };
        let group = |said: &Vec<Said>| {
            said.iter().map(|said| said.number.words(language)).collect::<Vec<_>>().join(between)
        };
        self.groups.iter().map(group).collect::<Vec<_>>().join(", ")
    }
}

/// The runs of numbers in a text, in order. The text is in NFC.
pub(crate) fn find(text: &str, language: Language) -> Vec<Run> {
    runs(&Token::all(text, |word| language.meaning(word)), language)
}

/// The runs of numbers in the words of a text.
pub(super) fn runs(tokens: &[Token<'_>], language: Language) -> Vec<Run> {
    let reader = Reader::new(tokens, language);
    let mut runs: Vec<Run> = Vec::new();
    let mut last_end = None;
    let mut at = 0;
    while at < tokens.len() {
        let Some((end, said)) = reader.run(at) else {
            at += 1;
            continue;
        };
        let (first, last) = (&tokens[at], &tokens[end - 1]);
        let place = Place::new(tokens, at..end, language);
        let said = place.read(said);
        let is_list = last_end == Some(at) && first.before.trim_end() == ",";
        if is_list
            && is_small(&said)
            && let Some(run) = runs.last_mut().filter(|run| run.groups.iter().all(|group| is_small(group)))
        {
            run.end = last.end;
            run.tokens.end = end;
            run.groups.push(said);
        } else if place.is_number(&said) {
            runs.push(Run {
                start: first.start,
                end: last.end,
                tokens: at..end,
                is_range: place.is_range(&said),
                ending: match (language, &said[..]) {
                    (Language::English, [Said { number: Number::Ordinal(_), .. }]) => "th",
                    (Language::Panjabi, [Said { number: Number::Ordinal(_), .. }]) => {
                        panjabi::ending(last.text)
                    }
                    _ => "",
                },
                groups: vec![said],
            });
        } else {
            at = end;
            continue;
        }
        last_end = Some(end);
        at = end;
    }
    runs
}

fn is_small(said: &[Said]) -> bool {
    said.iter().all(|said| said.number.small().is_some())
}
