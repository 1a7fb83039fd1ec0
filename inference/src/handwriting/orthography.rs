//! Text comes in; lines of words of cells come out: each cell a letter with the signs that cling to it, in
//! the order a hand writes them.
//!
//! Signs are grouped as the Unicode Standard describes Gurmukhi (chapter 12): the vowel sign ਿ stands
//! before its letter, a consonant after a virama is written small below, and whatever has no letter to
//! cling to gets an empty cell of its own.

use std::collections::HashMap;

const NUKTA: char = '\u{0A3C}';
const SIHARI: char = '\u{0A3F}';
const VIRAMA: char = '\u{0A4D}';
const YAKASH: char = '\u{0A75}';
const ZWNJ: char = '\u{200C}';
const ZWJ: char = '\u{200D}';
/// Written for a code point of the block that stands for no character.
const NO_CHARACTER: &str = "□";
/// Signs of a kind that cling to one letter; real words have two at most.
const MAX_SIGNS: usize = 3;
/// How large a letter is written below another.
const SUBJOINED: f32 = 0.5;

/// The glyphs a model writes, by what they stand for.
#[derive(Debug, Clone)]
pub struct Glyphs(HashMap<String, usize>);

/// One glyph of a cell: its index in the model's table, and its size beside a letter's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) glyph: usize,
    pub(crate) scale: f32,
}

/// A letter, or nothing, with the signs around it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// ਿ, written and standing before the letter.
    pub(crate) before: Option<Part>,
    pub(crate) base: Option<Part>,
    /// Signs above or below, which the model's shapes tell apart.
    pub(crate) signs: Vec<Part>,
    /// ਾ, ੀ, ਃ: standing after the letter.
    pub(crate) after: Vec<Part>,
}

/// Cells no space divides, and the spaces before them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) n_spaces: u8,
    pub(crate) cells: Vec<Cell>,
}

/// Text, ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// One entry for each line the text itself has.
    pub(crate) lines: Vec<Vec<Word>>,
}

impl Glyphs {
    /// A table in the model's order. Refuses one without □, the glyph of last resort.
    pub fn new(names: &[String]) -> Option<Self> {
        let table: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
        table.contains_key(NO_CHARACTER).then_some(Self(table))
    }

    fn find(&self, name: &str) -> Option<Part> {
        self.0.get(name).map(|&glyph| Part { glyph, scale: 1.0 })
    }

    fn of(&self, c: char) -> Part {
        let known = self.find(c.encode_utf8(&mut [0; 4]));
        known.or_else(|| self.find(NO_CHARACTER)).unwrap_or(Part { glyph: 0, scale: 1.0 })
    }
}

/// Where a character stands in its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Base,
    Before,
    Sign,
    After,
    Virama,
    Joiner,
    Space,
    Newline,
}

/// Roles as the Indic syllabic and positional categories of the Unicode Character Database give them.
const fn role(c: char) -> Role {
    match c {
        ' ' => Role::Space,
        '\n' => Role::Newline,
        SIHARI => Role::Before,
        VIRAMA => Role::Virama,
        ZWJ | ZWNJ => Role::Joiner,
        '\u{0A3E}' | '\u{0A40}' | '\u{0A03}' => Role::After,
        '\u{0A01}' | '\u{0A02}' | NUKTA | '\u{0A41}' | '\u{0A42}' | '\u{0A47}' | '\u{0A48}' | '\u{0A4B}'
        | '\u{0A4C}' | '\u{0A51}' | '\u{0A70}' | '\u{0A71}' | YAKASH => Role::Sign,
        _ => Role::Base,
    }
}

const fn is_consonant(c: char) -> bool {
    matches!(c, '\u{0A15}'..='\u{0A39}' | '\u{0A59}'..='\u{0A5E}')
}

impl Text {
    /// Reads text that is in NFC and holds only what the contract allows; anything else is written as
    /// □.
    pub fn read(text: &str, glyphs: &Glyphs) -> Self {
        let mut reading = Reading { lines: vec![Vec::new()], word: Word::default() };
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let next = characters.peek().copied();
            match role(c) {
                Role::Newline => reading.end_line(),
                Role::Space => reading.space(),
                Role::Joiner => (),
                Role::Base => reading.cell_with(|cell| cell.base = Some(glyphs.of(c))),
                Role::Before => {
                    reading.cling(|cell| fill(&mut cell.before, glyphs.of(c)));
                }
                Role::After => reading.cling(|cell| push(&mut cell.after, glyphs.of(c))),
                Role::Sign => reading.cling(|cell| push(&mut cell.signs, glyphs.of(c))),
                Role::Virama => {
                    let below = next
                        .filter(|n| is_consonant(*n) && reading.has_letter())
                        .map(|n| glyphs.subjoined(n));
                    if below.is_some() {
                        characters.next();
                    }
                    let sign = below.unwrap_or_else(|| glyphs.of(c));
                    reading.cling(|cell| push(&mut cell.signs, sign));
                }
            }
        }
        reading.end_word();
        while reading.lines.pop_if(|line| line.is_empty()).is_some() {}
        Self { lines: reading.lines }
    }

    /// Every glyph to be shaped, in the order `Cell::parts` gives them.
    pub fn glyphs(&self) -> Vec<usize> {
        self.lines.iter().flatten().flat_map(|w| &w.cells).flat_map(Cell::parts).map(|p| p.glyph).collect()
    }
}

impl Glyphs {
    /// A consonant written below another: its own form, or itself made small.
    fn subjoined(&self, consonant: char) -> Part {
        let form = if consonant == '\u{0A2F}' { YAKASH.to_string() } else { format!("{VIRAMA}{consonant}") };
        self.find(&form).unwrap_or(Part { scale: SUBJOINED, ..self.of(consonant) })
    }
}

impl Cell {
    /// Its glyphs in the order a hand writes them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.before.iter().chain(&self.base).chain(&self.after).chain(&self.signs)
    }
}

/// Puts a sign where there is none yet.
fn fill(place: &mut Option<Part>, sign: Part) -> Option<()> {
    place.is_none().then(|| *place = Some(sign))
}

/// Adds a sign while there is room for it.
fn push(signs: &mut Vec<Part>, sign: Part) -> Option<()> {
    (signs.len() < MAX_SIGNS).then(|| signs.push(sign))
}

struct Reading {
    lines: Vec<Vec<Word>>,
    word: Word,
}

impl Reading {
    fn cell_with(&mut self, fill: impl FnOnce(&mut Cell)) {
        let mut cell = Cell::default();
        fill(&mut cell);
        self.word.cells.push(cell);
    }

    /// Adds a sign to the last cell, or to an empty one when that has no room for it.
    fn cling(&mut self, mut add: impl FnMut(&mut Cell) -> Option<()>) {
        if self.word.cells.last_mut().and_then(&mut add).is_none() {
            self.cell_with(|cell| {
                add(cell);
            });
        }
    }

    fn has_letter(&self) -> bool {
        self.word.cells.last().is_some_and(|cell| cell.base.is_some() && cell.signs.len() < MAX_SIGNS)
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.cells.is_empty()
            && let Some(line) = self.lines.last_mut()
        {
            line.push(word);
        }
    }

    fn space(&mut self) {
        let n_spaces = if self.word.cells.is_empty() { self.word.n_spaces } else { 0 };
        self.end_word();
        self.word.n_spaces = n_spaces.saturating_add(1);
    }

    fn end_line(&mut self) {
        self.end_word();
        self.lines.push(Vec::new());
    }
}
