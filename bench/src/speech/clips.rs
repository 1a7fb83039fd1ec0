//! The clips that are measured, and their errors.

use std::{fs, path::Path};

use akhar_tests::{
    figures::{Row, count},
    speech::distance,
};

/// A recording and its true transcript.
pub(super) struct Clip {
    pub(super) bytes: Vec<u8>,
    pub(super) text: String,
    /// For some words, the index of the word and its start, seconds.
    pub(super) starts: Vec<(usize, f64)>,
}

/// Reads the clips in a folder's `clips.tsv`, which has `file`, `text` and, if known, `word_starts` as
/// `word:seconds`.
pub(super) fn clips(folder: &Path) -> Vec<Clip> {
    let table = fs::read_to_string(folder.join("clips.tsv")).expect("a folder with clips.tsv");
    let clip = |line: &str| {
        let mut columns = line.split('\t');
        let mut column = || columns.next().unwrap_or_default().to_owned();
        let (name, text, starts) = (column(), column(), column());
        let start = |pair: &str| {
            let (word, seconds) = pair.split_once(':')?;
            Some((word.parse().ok()?, seconds.parse().ok()?))
        };
        let bytes = fs::read(folder.join(&name)).expect("the clip");
        Clip { bytes, text, starts: starts.split(' ').filter_map(start).collect() }
    };
    table.lines().skip(1).map(clip).collect()
}

/// The number of wrong symbols and of all symbols in the true transcript.
#[derive(Default)]
pub(super) struct Errors {
    n_wrong: usize,
    n_all: usize,
}

impl Errors {
    pub(super) fn add<T: PartialEq>(&mut self, said: &[T], recognised: &[T]) {
        self.n_wrong += distance(said, recognised);
        self.n_all += said.len();
    }

    pub(super) fn percent(&self) -> f64 {
        100.0 * count(self.n_wrong) / count(self.n_all.max(1))
    }
}

/// Character and word errors of several recordings.
#[derive(Default)]
pub(super) struct Quality {
    pub(super) characters: Errors,
    words: Errors,
}

impl Quality {
    pub(super) fn add(&mut self, said: &str, recognised: &str) {
        let characters = |text: &str| text.chars().collect::<Vec<char>>();
        self.characters.add(&characters(said), &characters(recognised));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        self.words.add(&words(said), &words(recognised));
    }

    pub(super) fn row(&self) -> Row {
        vec![
            ("cer_percent", self.characters.percent()),
            ("characters", count(self.characters.n_all)),
            ("wer_percent", self.words.percent()),
            ("words", count(self.words.n_all)),
        ]
    }
}

/// A text as `clips.tsv` has it: English in lower case and without punctuation, Panjabi as it is.
pub(super) fn spoken(text: &str, lang: &str) -> String {
    if lang != "en" {
        return text.to_owned();
    }
    let letter = |c: char| match c {
        '’' => '\'',
        c if c.is_alphanumeric() || c == '\'' => c,
        _ => ' ',
    };
    let plain: String = text.to_lowercase().chars().map(letter).collect();
    let words = plain.split(' ').map(|word| word.trim_matches('\''));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
