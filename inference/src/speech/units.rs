//! A model's units of text: `vocab.txt` comes in; tokens' text goes out.

use crate::{Manifest, ManifestError};

/// Stands before a word, in a unit.
pub(crate) const WORD: char = '▁';
const BLANK: &str = "<blk>";

/// The units of an acoustic model, in the order of its outputs.
#[derive(Debug, Clone)]
pub struct Units {
    texts: Vec<String>,
    blank: usize,
}

impl Units {
    /// Reads `text index` a line, as NeMo exports have it; `<blk>` is the blank.
    pub(crate) fn read(manifest: &Manifest) -> Result<Self, ManifestError> {
        let bytes = manifest.read("vocab")?;
        let wrong = |what: String| manifest.inconsistent(format!("its vocab: {what}"));
        let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
        let mut texts: Vec<(usize, String)> = Vec::new();
        for (line, n) in text.lines().zip(1..) {
            let (unit, index) = line
                .rsplit_once(' ')
                .ok_or_else(|| wrong(format!("line {n} is {line:?}, expected a unit and its index")))?;
            let index = index.parse().map_err(|e| wrong(format!("line {n}: {index:?}: {e}")))?;
            texts.push((index, unit.to_owned()));
        }
        texts.sort();
        if texts.iter().zip(0..).any(|((index, _), expected)| *index != expected) {
            return Err(wrong("its indices are not 0, 1, 2 …".to_owned()));
        }
        let texts: Vec<String> = texts.into_iter().map(|(_, unit)| unit).collect();
        let blank = texts.iter().position(|unit| unit == BLANK);
        let blank = blank.ok_or_else(|| wrong(format!("it has no {BLANK}")))?;
        Ok(Self { texts, blank })
    }

    /// How many.
    pub(crate) const fn len(&self) -> usize {
        self.texts.len()
    }

    /// The one that stands for nothing.
    pub(crate) const fn blank(&self) -> usize {
        self.blank
    }

    /// Whether a unit is a space and nothing else.
    pub(crate) fn is_space(&self, unit: usize) -> bool {
        self.text(unit).chars().eq([WORD])
    }

    /// A unit's text; a leading [`WORD`] says that it begins one.
    pub(crate) fn text(&self, unit: usize) -> &str {
        self.texts.get(unit).map_or("", String::as_str)
    }
}
