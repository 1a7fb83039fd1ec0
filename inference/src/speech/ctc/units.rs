//! Reads a model's units of text from `vocab.txt`.

use crate::{
    manifest::{Manifest, ManifestError},
    speech::words::WORD,
};

const BLANK: &str = "<blk>";

/// The units of an acoustic model, in the order of its outputs.
#[derive(Debug, Clone)]
pub struct Units {
    texts: Vec<String>,
    blank: usize,
}

impl Units {
    /// Reads the file with the role `vocab`, which has `text index` on each line, as in NeMo exports. `<blk>`
    /// is the blank.
    pub(crate) fn read(manifest: &Manifest) -> Result<Self, ManifestError> {
        let bytes = manifest.read("vocab")?;
        Self::parse(bytes)
            .map_err(|what| manifest.inconsistent(format!("the model's vocab is not valid: {what}")))
    }

    /// Parses the file, or says what is wrong in it.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        let mut texts: Vec<(usize, String)> = Vec::new();
        for (line, n) in text.lines().zip(1..) {
            let (unit, index) = line
                .rsplit_once(' ')
                .ok_or_else(|| format!("line {n} is {line:?}, expected a unit, a space and its index"))?;
            let index = index.parse().map_err(|e| format!("line {n} has the index {index:?}: {e}"))?;
            texts.push((index, unit.to_owned()));
        }
        texts.sort();
        if texts.iter().zip(0..).any(|((index, _), expected)| *index != expected) {
            return Err("expected the indices 0, 1, 2, … without gaps and repeats".to_owned());
        }
        let texts: Vec<String> = texts.into_iter().map(|(_, unit)| unit).collect();
        let blank = texts.iter().position(|unit| unit == BLANK);
        let blank = blank.ok_or_else(|| format!("expected a line for the blank, {BLANK}"))?;
        Ok(Self { texts, blank })
    }

    /// The number of units, with the blank.
    pub(crate) const fn len(&self) -> usize {
        self.texts.len()
    }

    /// The index of the blank.
    pub(crate) const fn blank(&self) -> usize {
        self.blank
    }

    /// Whether a unit is only a space.
    pub(crate) fn is_space(&self, unit: usize) -> bool {
        self.text(unit).chars().eq([WORD])
    }

    /// The text of a unit. [`WORD`] at its beginning means that it begins a word.
    pub(crate) fn text(&self, unit: usize) -> &str {
        self.texts.get(unit).map_or("", String::as_str)
    }
}
