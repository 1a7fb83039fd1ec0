//! Reads a model's units of text from `vocab.txt`.

use std::{collections::HashSet, ops::Range};

use crate::{
    manifest::{Manifest, ManifestError},
    speech::words::WORD,
};

/// The names that exporters give the blank.
const BLANKS: [&str; 2] = ["<blk>", "<blank>"];
/// Units that are no text. If the first one is the first unit of a list without a blank, it is the blank, as in fairseq2.
const SPECIAL: [&str; 4] = ["<s>", "<pad>", "</s>", "<unk>"];

/// The number of units of the models that `AI4Bharat` trained for 22 languages at once: 256 for each language, then a blank
/// that they share.
pub(crate) const N_INDIC: usize = 22 * 256 + 1;
/// Their units for Panjabi.
pub(crate) const INDIC_PANJABI: Range<usize> = 3840..4096;

/// The units of an acoustic model, in the order of its outputs.
#[derive(Debug, Clone)]
pub struct Units {
    texts: Vec<String>,
    blank: usize,
}

impl Units {
    /// Reads the file with the role `vocab`. Each line has a unit and its index, as in NeMo exports, or a unit alone. An
    /// index alone is that of the space. The blank is `<blk>`, `<blank>` or `<s>` in the first line; otherwise it comes after
    /// the last unit. Of a model for 22 languages, only the units for Panjabi and the blank are kept.
    pub(crate) fn read(manifest: &Manifest) -> Result<Self, ManifestError> {
        let bytes = manifest.read("vocab")?;
        Self::parse(bytes)
            .map_err(|what| manifest.inconsistent(format!("the model's vocab is not valid: {what}")))
    }

    /// Parses the file, or says what is wrong in it.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        let has_indices = text.lines().next().is_some_and(|line| line.contains(' '));
        let mut numbered: Vec<(usize, &str)> = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let at = n + 1;
            numbered.push(if has_indices {
                indexed(line).map_err(|expected| format!("line {at} {expected}"))?
            } else if line.is_empty() || line.contains(' ') {
                return Err(format!("line {at} is {line:?}, expected a unit without spaces, as in line 1"));
            } else {
                (n, line)
            });
        }
        numbered.sort_unstable();
        if numbered.iter().zip(0..).any(|((index, _), expected)| *index != expected) {
            return Err("expected the indices 0, 1, 2, … without gaps and repeats".to_owned());
        }
        let is_first = |(index, unit): &(usize, &str)| *index == 0 && *unit == SPECIAL[0];
        let named = numbered.iter().position(|(_, unit)| BLANKS.contains(unit));
        let named = named.or_else(|| numbered.iter().position(is_first));
        let mut texts: Vec<String> = numbered.into_iter().map(|(_, unit)| text_of(unit)).collect();
        let mut blank = named.unwrap_or_else(|| {
            texts.push(BLANKS[0].to_owned());
            texts.len() - 1
        });
        if texts.len() == N_INDIC && blank == N_INDIC - 1 {
            texts = [&texts[INDIC_PANJABI], &texts[blank..]].concat();
            blank = INDIC_PANJABI.len();
        }
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

    /// The letters of a unit, in which [`WORD`] is a space.
    pub(crate) fn letters(&self, unit: usize) -> impl Iterator<Item = char> {
        self.text(unit).chars().map(|letter| if letter == WORD { ' ' } else { letter })
    }

    /// All letters that the units can spell, without the space.
    pub(crate) fn alphabet(&self) -> HashSet<char> {
        let texts = (0..self.len()).filter(|unit| *unit != self.blank);
        texts.flat_map(|unit| self.text(unit).chars()).filter(|letter| *letter != WORD).collect()
    }
}

/// The index and the unit in a line that has an index, or what is expected instead.
fn indexed(line: &str) -> Result<(usize, &str), String> {
    let (unit, index) = match line.rsplit_once(' ') {
        Some(parts) => parts,
        None if line.parse::<usize>().is_ok() => ("", line),
        None => return Err(format!("is {line:?}, expected a unit, a space and its index")),
    };
    let index = index.parse().map_err(|e| format!("has the index {index:?}: {e}"))?;
    Ok((index, unit))
}

/// What a unit of the list adds to a text.
fn text_of(unit: &str) -> String {
    match unit {
        unit if unit.trim().is_empty() => WORD.to_string(),
        unit if SPECIAL.contains(&unit) => String::new(),
        unit => unit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<String>, String> {
        Units::parse(text.as_bytes().to_vec()).map(|units| {
            assert_eq!(units.text(units.blank()), units.texts[units.blank()]);
            units.texts
        })
    }

    #[test]
    fn units_have_numbers_or_the_order_of_the_lines_and_the_blank_may_be_left_out() {
        assert_eq!(parse("a 1\n<blk> 2\n▁ 0\n").unwrap(), ["▁", "a", "<blk>"]);
        assert_eq!(parse("<blank> 0\na 1\n").unwrap(), ["<blank>", "a"]);
        assert_eq!(parse("▁\na\n").unwrap(), ["▁", "a", "<blk>"]);
        assert_eq!(parse("a\n<blank>\n").unwrap(), ["a", "<blank>"]);
    }

    #[test]
    fn a_list_of_fairseq2_has_its_blank_first_and_a_space() {
        let units = |space: &str| {
            let text = format!("<s> 0\n<pad> 1\n</s> 2\n<unk> 3\n{space}\na 5\n1 6\n");
            Units::parse(text.into_bytes()).unwrap()
        };
        for space in ["  4", " 4", "4"] {
            let units = units(space);
            assert_eq!((units.blank(), units.len()), (0, 7));
            assert_eq!(units.texts[1..], ["", "", "", "▁", "a", "1"], "special units are no text");
        }
        assert_eq!(parse("▁ 0\n<s> 1\n").unwrap(), ["▁", "", "<blk>"], "only the first unit is the blank");
        assert_eq!(parse("<s> 0\n<blk> 1\n").unwrap(), ["", "<blk>"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("a 0\nb\n", "line 2 is \"b\", expected a unit, a space and its index"),
            ("a\nb 1\n", "line 2 is \"b 1\", expected a unit without spaces"),
            ("a x\n", "line 1 has the index \"x\""),
            ("a 0\nb 2\n", "without gaps"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
