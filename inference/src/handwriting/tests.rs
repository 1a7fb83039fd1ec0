//! Tests of orthography and layout. Every glyph is a zigzag here, as tall and as wide as glyphs of its kind.
//! The tests of the whole service use the real model.

use proptest::prelude::*;

use super::{
    geometry::{BODY, Point, extent},
    *,
};
use crate::manifest::Manifest;

fn names() -> Vec<String> {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/handwriting-pa.toml");
    Manifest::load(&manifest).unwrap().glyphs
}

fn glyphs() -> Glyphs {
    Glyphs::new(&names()).unwrap()
}

/// A zigzag between two corners, which are in units of the body's height.
fn zigzag([left, top]: Point, [right, bottom]: Point) -> Vec<Point> {
    let point = |i: u8| {
        let x = left + (right - left) * f32::from(i) / 11.0;
        [x * BODY, if i.is_multiple_of(2) { top } else { bottom } * BODY]
    };
    (0..12).map(point).collect()
}

fn shape(name: &str) -> Shape {
    let corners = match name.chars().next_back() {
        Some('ਿ') => ([-0.05, -0.3], [0.6, 1.0]),
        Some('ੀ') => ([-0.6, -0.3], [0.05, 1.0]),
        Some('ਾ' | '।' | '॥' | 'ਃ') => ([-0.03, 0.0], [0.03, 1.0]),
        Some('ੁ' | 'ੂ' | '਼' | '੍' | 'ੵ') => ([-0.2, 1.1], [0.2, 1.3]),
        Some('ਂ' | 'ੰ' | 'ੱ' | 'ੇ' | 'ੈ' | 'ੋ' | 'ੌ' | 'ਁ' | 'ੑ') => {
            ([-0.2, -0.3], [0.2, -0.05])
        }
        _ if name.starts_with('੍') => ([-0.2, 1.1], [0.2, 1.4]),
        _ => ([0.0, 0.0], [0.7, 1.0]),
    };
    let hangs = name.chars().all(|c| ('ਅ'..='ਹ').contains(&c) || matches!(c, 'ਾ' | 'ਿ' | 'ੀ'));
    let head = if hangs { vec![[corners.0[0] * BODY, corners.1[0] * BODY]] } else { Vec::new() };
    Shape { strokes: vec![zigzag(corners.0, corners.1)], head }
}

const PAGE: Page =
    Page { line_space: 125.0, char_space: 35.0, word_space: 75.0, width: 550.0, length: 550.0 };

fn write(text: &str, page: &Page, seed: u64) -> Sheet {
    let (names, glyphs) = (names(), glyphs());
    let text = Text::read(text, &glyphs);
    let shapes: Vec<Shape> = text.glyphs().iter().map(|&g| shape(&names[g])).collect();
    lay_out(&text, &shapes, page, Hand::new(seed))
}

/// The glyphs of each cell of the first line's words, in the order of writing.
fn cells(text: &str) -> Vec<Vec<String>> {
    let names = names();
    let text = Text::read(text, &glyphs());
    let cells = text.lines.iter().flatten().flat_map(|w| &w.cells);
    cells.map(|c| c.parts().map(|p| names[p.glyph].clone()).collect()).collect()
}

fn right(sheet: &Sheet) -> f32 {
    extent(sheet.strokes.iter().flatten()).unwrap()[1]
}

fn bottom(sheet: &Sheet) -> f32 {
    sheet.strokes.iter().flatten().map(|p| p[1]).fold(0.0, f32::max)
}

#[test]
fn signs_are_in_the_cell_of_their_letter_and_sihari_comes_before_it() {
    assert_eq!(cells("ਕਿ"), [["ਿ", "ਕ"]]);
    assert_eq!(cells("ਸੀਂ"), [["ਸ", "ੀ", "ਂ"]]);
    assert_eq!(cells("ਗ਼ੁੰਮ"), [vec!["ਗ", "਼", "ੁ", "ੰ"], vec!["ਮ"]]);
}

#[test]
fn a_consonant_after_a_virama_is_written_below() {
    assert_eq!(cells("ਪ੍ਰੀਤ"), [vec!["ਪ", "ੀ", "੍ਰ"], vec!["ਤ"]]);
    assert_eq!(cells("ਪੜ੍ਹ"), [vec!["ਪ"], vec!["ੜ", "੍ਹ"]]);
    assert_eq!(cells("ਕ੍ਯ"), [["ਕ", "ੵ"]]);
    // A consonant without a subjoined form is written small. A joiner keeps the virama visible.
    let small = Text::read("ਕ੍ਤ", &glyphs());
    assert!(small.lines[0][0].cells[0].signs[0].scale < 1.0);
    assert_eq!(cells("ਕ੍\u{200C}ਤ"), [vec!["ਕ", "੍"], vec!["ਤ"]]);
}

#[test]
fn signs_without_a_letter_get_a_cell_of_their_own() {
    assert_eq!(cells("ਿ"), [["ਿ"]]);
    assert_eq!(cells("੍ਕ"), [vec!["੍"], vec!["ਕ"]]);
    assert_eq!(cells("ਕੰੰੰੰ"), [vec!["ਕ", "ੰ", "ੰ", "ੰ"], vec!["ੰ"]]);
    assert_eq!(cells("\u{0A00}x"), [["□"], ["□"]]);
}

#[test]
fn a_word_has_one_headline_with_a_gap_at_a_letter_that_has_none() {
    let headlines = |text: &str| {
        let flat = |s: &&Vec<Point>| {
            let ys = s.iter().map(|p| p[1]);
            ys.clone().fold(f32::MIN, f32::max) - ys.fold(f32::MAX, f32::min) < 12.0
        };
        write(text, &PAGE, 3).strokes.iter().filter(flat).count()
    };
    assert_eq!(headlines("ਕਰਮ"), 1);
    assert_eq!(headlines("ਕਿਰਾਮੀ"), 1);
    assert_eq!(headlines("ਕਰ ਮਰ"), 2);
    assert_eq!(headlines("ਕ੧ਰ"), 2);
}

/// The root mean square distance of a stroke from the line between its ends.
fn unevenness(stroke: &[Point]) -> f32 {
    let (from, to) = (stroke[0], stroke[stroke.len() - 1]);
    let height = |x: f32| from[1] + (to[1] - from[1]) * (x - from[0]) / (to[0] - from[0]);
    let squares = stroke.iter().map(|p| (p[1] - height(p[0])).powi(2));
    #[expect(clippy::cast_precision_loss, reason = "a few hundred points")]
    let n = stroke.len() as f32;
    (squares.sum::<f32>() / n).sqrt()
}

#[test]
fn headlines_are_uneven_and_letters_hang_from_them() {
    let mut uneven = 0;
    for seed in 0..40 {
        // ਾ has one straight stem, whose top is on the headline.
        let sheet = write("ਾਾਾਾਾਾ", &PAGE, seed);
        let (headline, stems) = sheet.strokes.split_last().unwrap();
        uneven += u8::from(unevenness(headline) > 0.3);
        assert!(unevenness(headline) < 0.1 * BODY);
        for stem in stems {
            let nearest = |p: &Point| {
                headline.iter().map(|h| (h[0] - p[0]).hypot(h[1] - p[1])).fold(f32::MAX, f32::min)
            };
            let gap = stem.iter().map(nearest).fold(f32::MAX, f32::min);
            assert!(gap < 2.5, "the stroke does not touch the headline: {gap}");
        }
    }
    assert!(uneven > 30, "{uneven} of 40");
}

#[test]
fn signs_above_are_written_after_the_headline_and_signs_below_before_it() {
    let sheet = write("ਕੁਰੇ", &PAGE, 4);
    let tops: Vec<f32> =
        sheet.strokes.iter().map(|s| s.iter().map(|p| p[1]).fold(f32::MAX, f32::min)).collect();
    let headline = 100.0 - BODY;
    // ਕ, ੁ, ਰ, the headline, ੇ
    assert_eq!(tops.len(), 5);
    assert!(tops[1] > 100.0, "{tops:?}");
    assert!((tops[3] - headline).abs() < 6.0, "{tops:?}");
    assert!(tops[4] < headline - 6.0, "{tops:?}");
}

#[test]
fn a_tippi_stands_over_the_right_half_of_its_letter_and_a_vowel_sign_over_the_middle() {
    // The letter is written first, and the sign last.
    let share = |text: &str| {
        let sheet = write(text, &PAGE, 1);
        let ends = |stroke: Option<&Vec<Point>>| extent(stroke.into_iter().flatten()).unwrap();
        let ([left, right], sign) = (ends(sheet.strokes.first()), ends(sheet.strokes.last()));
        (f32::midpoint(sign[0], sign[1]) - left) / (right - left)
    };
    for (text, expected) in [("ਗੰ", 0.77), ("ਕੱ", 0.77), ("ਗੇ", 0.5)] {
        let found = share(text);
        assert!((found - expected).abs() < 0.1, "{text}: {found}");
    }
}

#[test]
fn a_short_stroke_is_slower_than_a_long_one() {
    let sheet = write("ਕ ਕਰਮ", &PAGE, 4);
    let fastest = |stroke: &Vec<Point>| {
        stroke.windows(2).map(|w| (w[0][0] - w[1][0]).hypot(w[0][1] - w[1][1])).fold(0.0, f32::max)
    };
    let speeds: Vec<f32> = sheet.strokes.iter().map(fastest).collect();
    // ਕ, its headline; ਕ, ਰ, ਮ, their headline
    assert!(speeds[1] < 0.95 * speeds[5], "{speeds:?}");
}

#[test]
fn a_long_text_continues_on_further_pages() {
    let sheet = write("ਕ\nਕ\nਕ\nਕ\nਕ", &PAGE, 1);
    assert_eq!(sheet.n_pages, 2);
    assert!(bottom(&sheet) > PAGE.length && bottom(&sheet) < 2.0 * PAGE.length);
    assert_eq!(write("ਕ\nਕ\nਕ\nਕ\n\n\n", &PAGE, 1).n_pages, 1, "empty lines at the end need no page");
}

#[test]
fn each_spacing_parameter_moves_ink_further_apart() {
    let set = |change: fn(&mut Page, f32), by: f32| {
        let mut page = Page { width: 900.0, ..PAGE };
        change(&mut page, by);
        write("ਕਰ ਮਰ\nਕ", &page, 5)
    };
    let [mut char, mut word, mut line] = [0.0f32; 3];
    for step in 0..6u8 {
        let by = f32::from(step);
        let sheets = [
            set(|p, by| p.char_space = 30.0 + 4.0 * by, by),
            set(|p, by| p.word_space = 70.0 + 6.0 * by, by),
            set(|p, by| p.line_space = 120.0 + 6.0 * by, by),
        ];
        let [a, b, c] = [right(&sheets[0]), right(&sheets[1]), bottom(&sheets[2])];
        assert!(a > char && b > word && c > line, "step {step}: {a} {b} {c}");
        (char, word, line) = (a, b, c);
    }
    let narrow = write("ਕਰਮ ਕਰਮ ਕਰਮ ਕਰਮ", &Page { width: 300.0, ..PAGE }, 5);
    let wide = write("ਕਰਮ ਕਰਮ ਕਰਮ ਕਰਮ", &Page { width: 950.0, ..PAGE }, 5);
    assert!(bottom(&narrow) > bottom(&wide));
}

#[test]
fn the_same_seed_writes_the_same_strokes_and_another_seed_others() {
    let sheet = write("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", &PAGE, 9);
    assert_eq!(sheet, write("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", &PAGE, 9));
    assert_ne!(sheet, write("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", &PAGE, 10));
}

#[test]
fn a_picture_has_white_paper_and_ink_of_the_requested_colour_and_width() {
    let sheet = write("ਕਰ", &PAGE, 2);
    let inked = |width| {
        let bytes = png(&sheet, Ink::GREEN, width).unwrap();
        let mut decoder = ::png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(::png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (550, 550));
        let pixels = pixels.as_chunks::<3>().0;
        assert_eq!(pixels[0], [255; 3]);
        assert!(pixels.contains(&Ink::GREEN.0));
        pixels.iter().filter(|p| **p != [255; 3]).count()
    };
    let [thin, thick] = [inked(1.0), inked(8.0)];
    assert!(2 * thin < thick, "{thin} {thick}");
}

/// The ink of an SVG of a sheet, from 0 to 255 for each pixel: its paths, drawn with round ends and corners.
fn drawn(svg: &str, [width, height]: [u32; 2]) -> Vec<u8> {
    use tiny_skia::{LineCap, LineJoin, Mask, PathBuilder, Stroke, Transform};

    let mut mask = Mask::new(width, height).unwrap();
    for path in svg.split("<path stroke-width=\"").skip(1) {
        let (pen, path) = path.split_once("\" d=\"M").unwrap();
        let mut line = PathBuilder::new();
        for (i, point) in path.split('"').next().unwrap().split('L').enumerate() {
            let (x, y) = point.split_once(' ').unwrap();
            let [x, y] = [x, y].map(|n| n.parse().unwrap());
            if i == 0 { line.move_to(x, y) } else { line.line_to(x, y) }
        }
        let pen = Stroke {
            width: pen.parse().unwrap(),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let outline = line.finish().unwrap().stroke(&pen, 1.0).unwrap();
        mask.fill_path(&outline, tiny_skia::FillRule::Winding, true, Transform::identity());
    }
    mask.data().to_vec()
}

#[test]
fn an_svg_looks_like_the_png() {
    let page = Page { width: 300.5, length: 300.0, ..PAGE };
    let sheet = write("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nਕਰ", &page, 3);
    for width in [1.0, 2.5, 8.0] {
        let bytes = png(&sheet, Ink([0; 3]), width).unwrap();
        let mut decoder = ::png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(::png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let svg = svg(&sheet, Ink([0; 3]), width);
        assert!(svg.contains(&format!("viewBox=\"0 0 {} {}\"", info.width, info.height)), "{svg}");
        let inked = drawn(&svg, [info.width, info.height]);
        let differences = pixels.chunks(3).zip(&inked).map(|(pixel, ink)| (255 - pixel[0]).abs_diff(*ink));
        let sum: u32 = differences.map(u32::from).sum();
        let n_inked = inked.iter().map(|ink| u32::from(*ink > 0)).sum::<u32>();
        // Where two paths of an SVG meet, the edge of the line is drawn twice and a little darker, and the PNG has only
        // 16 shades.
        assert!(sum < 20 * n_inked, "width {width}: {} on average", sum / n_inked);
    }
}

/// The characters outside the block that a text may have.
const OTHERS: &str = " \n।॥.,?!-()'\":;/%‘’“”…‐‑‒–—―₹0123456789\u{200C}\u{200D}";

#[test]
fn every_character_outside_the_block_has_a_glyph_of_its_own() {
    let glyphs = glyphs();
    let of = |text: &str| Text::read(text, &glyphs).glyphs();
    let unknown = of("x");
    let drawn = OTHERS.chars().filter(|c| !" \n\u{200C}\u{200D}".contains(*c));
    for c in drawn {
        let found = of(&c.to_string());
        assert!(found.len() == 1 && found != unknown, "{c:?}");
    }
}

fn allowed() -> impl Strategy<Value = char> {
    prop_oneof![
        8 => proptest::char::range('\u{0A00}', '\u{0A7F}'),
        2 => proptest::sample::select(OTHERS.chars().collect::<Vec<_>>()),
    ]
}

proptest! {
    #[test]
    fn every_allowed_text_stays_inside_every_allowed_page(
        text in proptest::collection::vec(allowed(), 2..=100),
        seed: u64,
        line_space in 120.0f32..=150.0,
        char_space in 30.0f32..=50.0,
        word_space in 70.0f32..=100.0,
        width in 300.0f32..=950.0,
        length in 300.0f32..=950.0,
    ) {
        let text: String = text.into_iter().collect();
        let page = Page { line_space, char_space, word_space, width, length };
        let sheet = write(&text, &page, seed);
        let inside = 0.0..=width;
        let height = length * f32::from(sheet.n_pages);
        for stroke in &sheet.strokes {
            prop_assert!(stroke.len() >= 2);
            for [x, y] in stroke {
                prop_assert!(inside.contains(x) && (0.0..=height).contains(y), "{x} {y}");
            }
            for pair in stroke.windows(2) {
                let step = (pair[0][0] - pair[1][0]).hypot(pair[0][1] - pair[1][1]);
                prop_assert!(step <= 2.0, "{step}");
            }
        }
    }
}
