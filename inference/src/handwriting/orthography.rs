//! Divides text into lines, words and cells. A cell is a letter with its signs, in the order in which they
//! are written.
//!
//! Signs are grouped as chapter 12 of the Unicode Standard describes Gurmukhi. The vowel sign ਿ stands before
//! its letter, and a consonant after a virama is written small below the letter. A sign without a letter gets
//! a cell of its own.

use std::collections::HashMap;

use crate::text::folded;

const NUKTA: char = '\u{0A3C}';
const SIHARI: char = '\u{0A3F}';
const VIRAMA: char = '\u{0A4D}';
const YAKASH: char = '\u{0A75}';
const ZWNJ: char = '\u{200C}';
const ZWJ: char = '\u{200D}';
/// The glyph for code points without a character of their own.
const NO_CHARACTER: &str = "□";
/// The largest number of signs of one kind in a cell. Real words have at most two.
const MAX_SIGNS: usize = 3;
/// Where most signs are attached to their letter.
const MIDDLE: f32 = 0.5;
/// The scale of a letter that is written below another one.
const SUBJOINED: f32 = 0.5;

/// The glyphs that a model can write: from the text of each glyph to its index in the model.
#[derive(Debug, Clone)]
pub struct Glyphs(HashMap<String, usize>);

/// One glyph of a cell: its index in the model's table, and its scale relative to a full-size letter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScaledGlyph {
    pub(crate) glyph: usize,
    pub(crate) scale: f32,
    /// Where a sign is attached to its letter: 0 is the letter's left edge, and 1 its right edge.
    pub(crate) at: f32,
}

/// A letter with the signs around it. A cell of signs without a letter has no base.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// The sign ਿ, which stands before the letter and is written before it.
    pub(crate) before: Option<ScaledGlyph>,
    pub(crate) base: Option<ScaledGlyph>,
    /// Signs above and below the letter. The model's shapes say which of the two they are.
    pub(crate) signs: Vec<ScaledGlyph>,
    /// The signs ਾ, ੀ and ਃ, which stand after the letter.
    pub(crate) after: Vec<ScaledGlyph>,
}

/// The cells between two spaces, and the number of spaces before them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) n_spaces: u8,
    pub(crate) cells: Vec<Cell>,
}

/// A text that is divided into cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// One entry for each line of the text itself, before line breaks are added.
    pub(crate) lines: Vec<Vec<Word>>,
}

impl Glyphs {
    /// Makes the table from the texts of the model's glyphs, in the model's order. `None` if the glyph □ is
    /// missing, which is written for characters that the model does not know.
    pub fn new(names: &[String]) -> Option<Self> {
        let table: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
        table.contains_key(NO_CHARACTER).then_some(Self(table))
    }

    fn find(&self, name: &str) -> Option<ScaledGlyph> {
        self.0.get(name).map(|&glyph| ScaledGlyph { glyph, scale: 1.0, at: attachment(name) })
    }

    fn of(&self, c: char) -> ScaledGlyph {
        // Dashes of the same lengths.
        let c = match c {
            '\u{2010}' | '\u{2011}' => '-',
            '\u{2012}' => '–',
            '\u{2015}' => '—',
            c => c,
        };
        let known = self.find(c.encode_utf8(&mut [0; 4]));
        known.or_else(|| self.find(NO_CHARACTER)).unwrap_or(ScaledGlyph { glyph: 0, scale: 1.0, at: MIDDLE })
    }
}

/// The position of a character in its cell.
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

/// The role of a character, from the Indic syllabic and positional categories of the Unicode Character
/// Database.
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

/// Where a sign is attached. The middles of the signs ਂ, ੰ and ੱ stand at 0.75 to 0.80 in the typefaces Anek Gurmukhi, Baloo
/// Paaji 2, Mukta Mahee, Noto Sans, Noto Serif and Tiro Gurmukhi: more to the left, ੰ looks like the hook of ੀ.
fn attachment(sign: &str) -> f32 {
    match sign {
        "\u{0A02}" | "\u{0A70}" | "\u{0A71}" => 0.77,
        _ => MIDDLE,
    }
}

const fn is_consonant(c: char) -> bool {
    matches!(c, '\u{0A15}'..='\u{0A39}' | '\u{0A59}'..='\u{0A5E}')
}

impl Text {
    /// Divides a text into cells, in its one spelling of letters that look alike. A character that the model does not know
    /// becomes □.
    pub fn read(text: &str, glyphs: &Glyphs) -> Self {
        let mut reading = Reading { lines: vec![Vec::new()], word: Word::default() };
        let text = folded(text);
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let next = characters.peek().copied();
            match role(c) {
                Role::Newline => reading.end_line(),
                Role::Space => reading.space(),
                Role::Joiner => (),
                Role::Base => reading.cell_with(|cell| cell.base = Some(glyphs.of(c))),
                Role::Before => {
                    reading.attach(|cell| fill(&mut cell.before, glyphs.of(c)));
                }
                Role::After => reading.attach(|cell| push(&mut cell.after, glyphs.of(c))),
                Role::Sign => reading.attach(|cell| push(&mut cell.signs, glyphs.of(c))),
                Role::Virama => {
                    let below = next
                        .filter(|n| is_consonant(*n) && reading.has_letter())
                        .map(|n| glyphs.subjoined(n));
                    if below.is_some() {
                        characters.next();
                    }
                    let sign = below.unwrap_or_else(|| glyphs.of(c));
                    reading.attach(|cell| push(&mut cell.signs, sign));
                }
            }
        }
        reading.end_word();
        while reading.lines.pop_if(|line| line.is_empty()).is_some() {}
        Self { lines: reading.lines }
    }

    /// The indices of all glyphs of the text, in the order of writing.
    pub fn glyphs(&self) -> Vec<usize> {
        self.lines.iter().flatten().flat_map(|w| &w.cells).flat_map(Cell::parts).map(|p| p.glyph).collect()
    }
}

impl Glyphs {
    /// The glyph of a consonant that is written below another letter: its subjoined form, or the full letter
    /// at a small scale if there is none.
    fn subjoined(&self, consonant: char) -> ScaledGlyph {
        let form = if consonant == '\u{0A2F}' { YAKASH.to_string() } else { format!("{VIRAMA}{consonant}") };
        self.find(&form).unwrap_or(ScaledGlyph { scale: SUBJOINED, ..self.of(consonant) })
    }
}

impl Cell {
    /// The glyphs of the cell in the order of writing.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &ScaledGlyph> {
        self.before.iter().chain(&self.base).chain(&self.after).chain(&self.signs)
    }
}

/// Puts a sign into an empty slot. `None` if the slot is taken.
fn fill(slot: &mut Option<ScaledGlyph>, sign: ScaledGlyph) -> Option<()> {
    slot.is_none().then(|| *slot = Some(sign))
}

/// Adds a sign to a list. `None` if the list is full.
fn push(signs: &mut Vec<ScaledGlyph>, sign: ScaledGlyph) -> Option<()> {
    (signs.len() < MAX_SIGNS).then(|| signs.push(sign))
}

/// The lines that are complete so far, and the word that is being read.
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

    /// Adds a sign to the last cell, or to a new cell if the last one has no room for it.
    fn attach(&mut self, mut add: impl FnMut(&mut Cell) -> Option<()>) {
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
