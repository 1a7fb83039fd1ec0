//! Entry points for the fuzz targets of `tests/fuzz/`: each takes bytes from outside and uses all that they give.
//! They are not part of the program.

#![expect(clippy::missing_panics_doc, reason = "a target panics on a defect")]

use std::sync::LazyLock;

use crate::{
    catalogue,
    handwriting::{Glyphs, Hand, Ink, Page, Shape, Text, lay_out, png},
    manifest::Manifest,
    seq2seq::Tokens,
    speech::Units,
};

/// The bundled model's glyphs.
static GLYPHS: LazyLock<Option<Glyphs>> = LazyLock::new(|| {
    let manifest: Manifest = toml::from_str(include_str!("../../models/handwriting-pa.toml")).ok()?;
    Glyphs::new(&manifest.glyphs)
});

/// A tokenizer with the normalizer and the pieces of a published model.
static TOKENIZER: LazyLock<Option<Tokens>> = LazyLock::new(|| {
    Tokens::parse(include_bytes!("../../tests/fixtures/seq2seq/m2m100/tokenizer.json")).ok()
});

/// Parses an operator's catalogue, and makes the manifest of each entry.
pub fn catalogue(text: &str) {
    let Ok(entries) = catalogue::parse("fuzz.toml", text) else { return };
    for entry in entries {
        let hashes = vec!["0".repeat(64); entry.files.len()];
        let _manifest_or_reason = entry.manifest("fuzz", &hashes).map_err(|e| e.to_string());
    }
}

/// Parses a manifest.
pub fn manifest(text: &str) {
    if let Ok(manifest) = toml::from_str::<Manifest>(text) {
        let _paths: Vec<_> = manifest.files.iter().map(|file| manifest.path_of(file)).collect();
        let _part = manifest.part("aligner-", manifest.layout);
        let _unfit = manifest.unfit().to_string();
    }
}

/// Parses a `tokenizer.bin`, and turns all of its tokens and some others into text.
pub fn tokenizer_bin(bytes: &[u8]) {
    if bytes.starts_with(b"{") {
        return;
    }
    if let Ok(tokens) = Tokens::parse(bytes) {
        let all: Vec<i64> = (-1..i64::try_from(bytes.len()).unwrap_or(i64::MAX)).collect();
        let text = tokens.text(&all).unwrap_or_default();
        let _id = tokens.find(&text);
    }
}

/// Turns a text into the tokens of a `tokenizer.json`, and back.
pub fn tokenizer_text(text: &str) {
    let Some(tokens) = TOKENIZER.as_ref() else { return };
    if let Ok(ids) = tokens.of(text) {
        let _text = tokens.text(&ids);
    }
}

/// Parses a `vocab.txt`.
pub fn vocab(bytes: &[u8]) {
    if let Ok(units) = Units::parse(bytes.to_vec()) {
        assert!(units.blank() < units.len());
        let _spaces = (0..=units.len()).filter(|unit| units.is_space(*unit)).count();
    }
}

/// Writes a text by hand: divides it into cells, places them on pages and draws them. The first bytes choose the
/// spacings, the next ones the shapes that the model gives; the rest is the text.
pub fn handwriting(data: &[u8]) {
    let (Some(glyphs), Some((spacings, rest))) = (GLYPHS.as_ref(), data.split_first_chunk::<6>()) else {
        return;
    };
    let Some((numbers, text)) = rest.split_first_chunk::<32>() else { return };
    let text: String = String::from_utf8_lossy(text).chars().take(100).collect();
    let within = |byte: u8, from: f32, to: f32| from + f32::from(byte) / 255.0 * (to - from);
    let [line, char, word, width, length, pen] = *spacings;
    let page = Page {
        line_space: within(line, 120.0, 150.0),
        char_space: within(char, 30.0, 50.0),
        word_space: within(word, 70.0, 100.0),
        width: within(width, 300.0, 950.0),
        length: within(length, 300.0, 950.0),
    };
    let hand = Hand::new(u64::from(line) << 8 | u64::from(char));
    let text = Text::read(&text, glyphs);
    let shapes: Vec<Shape> = text.glyphs().into_iter().map(|glyph| shape(glyph, numbers)).collect();
    let sheet = lay_out(&text, &shapes, &page, hand);
    assert!(sheet.strokes.iter().flatten().flatten().all(|n| n.is_finite()));
    let _points = sheet.points_json();
    if !pen.is_multiple_of(4) {
        return; // points are much faster than pictures
    }
    let _picture_or_reason = png(&sheet, Ink::BLUE, within(pen, 1.0, 8.0)).map_err(|e| e.to_string());
}

/// A shape of a glyph made of these numbers: up to three strokes, and one interval of the headline.
fn shape(glyph: usize, numbers: &[u8; 32]) -> Shape {
    // A model's output lies within about two letters' heights of the letter.
    let number = |at: usize| f32::from(numbers[(at + glyph) % numbers.len()]) - 128.0;
    let n_strokes = usize::from(numbers[glyph % numbers.len()] % 4);
    let stroke = |s: usize| (0..8).map(|p| [number(16 * s + 2 * p), number(16 * s + 2 * p + 1)]).collect();
    let head = [number(1), number(2)];
    Shape {
        strokes: (0..n_strokes).map(stroke).collect(),
        head: if head[0] < head[1] { vec![head] } else { Vec::new() },
    }
}
