//! Runs the handwriting model, which gives the strokes of glyphs in one handwriting style.

use std::collections::HashMap;

use super::{
    geometry::{BODY, Point},
    hand::{Hand, MAX_DEVIATIONS, Rng, normal},
    orthography::Glyphs,
};
use crate::{
    cast::dimension,
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Array, Runtime, RuntimeError, Session, Tensor},
};

/// The purpose of the random numbers of the first glyph ([`Hand::rng`]). The others follow it.
const FIRST_GLYPH: u64 = 1000;
/// The part of the variance of a drawing that all drawings of the glyph in a text have in common. So the two
/// ਕ of a text are more alike than two ਕ of the same style in two texts, as with people.
const IN_COMMON: f32 = 0.4;

/// The shape of one glyph, in page units: y = 0 at the headline and 52 at the baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The strokes in the order of writing. The points of a stroke are evenly spaced in time.
    pub(crate) strokes: Vec<Vec<Point>>,
    /// The intervals of x in which the glyph hangs from the headline.
    pub(crate) head: Vec<[f32; 2]>,
}

/// A loaded model with the `glyph-strokes` layout.
pub struct Writer {
    session: Session,
    glyphs: Glyphs,
    n_style: usize,
    n_variation: usize,
}

impl Writer {
    /// Loads the model and runs it once, so that the first request is not slowed down by set-up. `n_threads`
    /// is the number of threads that one run may use.
    ///
    /// # Errors
    ///
    /// When the manifest has another layout or lacks the glyph □, its file is missing or has another hash, or
    /// the model cannot be run.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::GlyphStrokes)?;
        let glyphs = Glyphs::new(&manifest.glyphs)
            .ok_or_else(|| manifest.inconsistent("its list of glyphs must contain □".to_owned()))?;
        let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
        let n_style = session.width_of("style")?;
        let n_variation = session.width_of("variation")?;
        let mut writer = Self { session, glyphs, n_style, n_variation };
        let all: Vec<usize> = (0..manifest.glyphs.len()).collect();
        writer.shape(&all, Hand::new(0))?;
        Ok(writer)
    }

    /// The glyphs that the model can write.
    pub const fn glyphs(&self) -> &Glyphs {
        &self.glyphs
    }

    /// The shapes of glyphs in one handwriting style, one for each of `glyphs` (indices in the model's
    /// table). A glyph that occurs several times gets a slightly different shape each time.
    ///
    /// # Errors
    ///
    /// When the run fails, or the outputs do not have the shapes of the layout.
    pub fn shape(&mut self, glyphs: &[usize], hand: Hand) -> Result<Vec<Shape>, RuntimeError> {
        if glyphs.is_empty() {
            return Ok(Vec::new());
        }
        let n = [dimension(glyphs.len())];
        let ids: Vec<i64> = glyphs.iter().map(|&g| dimension(g)).collect();
        let style = normals(self.n_style, &mut hand.rng(1));
        let variation = variation(glyphs, self.n_variation, hand);
        let style_shape = [1, dimension(self.n_style)];
        let variation_shape = [n[0], dimension(self.n_variation)];
        let inputs = vec![
            ("glyph", Tensor::I64(&n, &ids)),
            ("style", Tensor::F32(&style_shape, &style)),
            ("variation", Tensor::F32(&variation_shape, &variation)),
        ];
        let [points, present, head] = self.session.run(inputs, ["points", "present", "head"])?;
        shapes(glyphs.len(), &points, &present, &head).map_err(|what| self.session.layout_error(what))
    }
}

/// `n` numbers for the variation of each drawing: a part that belongs to the glyph, and a part of its own. The
/// variances add up to 1.
fn variation(glyphs: &[usize], n: usize, hand: Hand) -> Vec<f32> {
    let mut common: HashMap<usize, Vec<f32>> = HashMap::new();
    let mut rng = hand.rng(2);
    let mut variation = Vec::with_capacity(n * glyphs.len());
    for &glyph in glyphs {
        let purpose = FIRST_GLYPH.wrapping_add(glyph as u64);
        let common = common.entry(glyph).or_insert_with(|| normals(n, &mut hand.rng(purpose)));
        let own = |common: &f32| {
            let mixed = IN_COMMON.sqrt() * common + (1.0 - IN_COMMON).sqrt() * normal(&mut rng);
            mixed.clamp(-MAX_DEVIATIONS, MAX_DEVIATIONS)
        };
        variation.extend(common.iter().map(own));
    }
    variation
}

fn normals(n: usize, rng: &mut Rng) -> Vec<f32> {
    (0..n).map(|_| normal(rng)).collect()
}

/// Converts the model's outputs, `points` [N, S, P, 2], `present` [N, S] and `head` [N, H, 2], into shapes.
fn shapes(n: usize, points: &Array, present: &Array, head: &Array) -> Result<Vec<Shape>, String> {
    let (&[n_points, n_strokes, per_stroke, 2], &[_, n_spans, 2]) = (&points.shape[..], &head.shape[..])
    else {
        return Err(format!(
            "expected points of the shape [N, S, P, 2] and head of the shape [N, H, 2], found {:?} and {:?}",
            points.shape, head.shape
        ));
    };
    if n_points != n || per_stroke < 2 || present.shape != [n, n_strokes] || head.shape[0] != n {
        return Err(format!(
            "for {n} glyphs it gave points, present and head of the shapes {:?}, {:?} and {:?}: \
             expected [{n}, S, P, 2] with P of at least 2, [{n}, S] and [{n}, H, 2]",
            points.shape, present.shape, head.shape
        ));
    }
    if !points.values.iter().chain(&head.values).all(|v| v.is_finite()) {
        return Err("it gave a number that is not finite".to_owned());
    }
    let pairs = |values: &[f32]| -> Vec<Point> {
        values.as_chunks::<2>().0.iter().map(|[a, b]| [a * BODY, b * BODY]).collect()
    };
    let glyph = |i: usize| {
        let stroke = |s: usize| {
            let from = (i * n_strokes + s) * per_stroke * 2;
            pairs(&points.values[from..from + per_stroke * 2])
        };
        let strokes =
            (0..n_strokes).filter(|s| present.values[i * n_strokes + s] > 0.5).map(stroke).collect();
        let mut spans = pairs(&head.values[i * n_spans * 2..(i + 1) * n_spans * 2]);
        spans.retain(|[from, to]| from < to);
        spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Shape { strokes, head: spans }
    };
    Ok((0..n).map(glyph).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_of_one_glyph_have_a_part_of_their_variation_in_common() {
        let numbers = variation(&[7, 8, 7], 4000, Hand::new(3));
        let mean = |a: usize, b: usize| {
            let drawing = |k: usize| &numbers[4000 * k..4000 * (k + 1)];
            drawing(a).iter().zip(drawing(b)).map(|(a, b)| a * b).sum::<f32>() / 4000.0
        };
        // Numbers beyond two standard deviations are drawn again, so the variance is 0.77 instead of 1.
        assert!((mean(0, 0) - 0.77).abs() < 0.05, "{}", mean(0, 0));
        assert!((mean(0, 2) / mean(0, 0) - IN_COMMON).abs() < 0.05, "{}", mean(0, 2));
        assert!(mean(0, 1).abs() < 0.05, "{}", mean(0, 1));
    }
}
