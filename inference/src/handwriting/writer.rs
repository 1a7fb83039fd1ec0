//! The model of a hand: glyphs come in; the strokes one hand makes of them come out.

use rand::{SeedableRng as _, rngs::SmallRng};
use rand_distr::{Distribution as _, StandardNormal};

use super::{
    geometry::{BODY, Point},
    orthography::Glyphs,
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    runtime::{Array, Session, Tensor},
};

/// Styles and variations further out than this many standard deviations are drawn again: no hand of the
/// training data lies there.
const FURTHEST: f32 = 2.0;

/// One writer, made from a seed: the same seed writes the same text the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hand {
    seed: u64,
}

/// A glyph as one hand wrote it once. Page units; y = 0 at the headline, 52 at the baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// Strokes in the order they are written, each of points evenly spaced in time.
    pub(crate) strokes: Vec<Vec<Point>>,
    /// From where to where it hangs from the headline.
    pub(crate) head: Vec<[f32; 2]>,
}

/// A loaded model of the `glyph-strokes` layout.
pub struct Writer {
    session: Session,
    glyphs: Glyphs,
    n_style: usize,
    n_variation: usize,
}

impl Hand {
    /// The writer of this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Random numbers for one purpose, which do not depend on how many another draws.
    pub(crate) fn rng(self, purpose: u64) -> SmallRng {
        SmallRng::seed_from_u64(self.seed ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A standard normal number, never further than `FURTHEST` from zero.
pub(crate) fn normal(rng: &mut SmallRng) -> f32 {
    loop {
        let z: f32 = StandardNormal.sample(rng);
        if z.abs() <= FURTHEST {
            return z;
        }
    }
}

impl Writer {
    /// Loads the model and runs it once, so that the first caller does not pay for set-up.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::GlyphStrokes)?;
        let glyphs = Glyphs::new(&manifest.glyphs)
            .ok_or_else(|| manifest.inconsistent("its glyphs lack □".to_owned()))?;
        let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
        let (n_style, n_variation) = (session.width_of("style")?, session.width_of("variation")?);
        let mut writer = Self { session, glyphs, n_style, n_variation };
        let all: Vec<usize> = (0..manifest.glyphs.len()).collect();
        writer.shape(&all, Hand::new(0))?;
        Ok(writer)
    }

    /// What it can write.
    pub const fn glyphs(&self) -> &Glyphs {
        &self.glyphs
    }

    /// Shapes each glyph by one hand, each a little differently every time it comes.
    pub fn shape(&mut self, glyphs: &[usize], hand: Hand) -> Result<Vec<Shape>, RuntimeError> {
        if glyphs.is_empty() {
            return Ok(Vec::new());
        }
        let dimension = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let n = [dimension(glyphs.len())];
        let ids: Vec<i64> = glyphs.iter().map(|&g| dimension(g)).collect();
        let style = normals(self.n_style, &mut hand.rng(1));
        let variation = normals(self.n_variation * glyphs.len(), &mut hand.rng(2));
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

fn normals(n: usize, rng: &mut SmallRng) -> Vec<f32> {
    (0..n).map(|_| normal(rng)).collect()
}

/// Cuts the model's outputs into shapes.
fn shapes(n: usize, points: &Array, present: &Array, head: &Array) -> Result<Vec<Shape>, String> {
    let (&[n_points, n_strokes, per_stroke, 2], &[_, n_spans, 2]) = (&points.shape[..], &head.shape[..])
    else {
        return Err(format!("gave points {:?} and head {:?}", points.shape, head.shape));
    };
    if n_points != n || per_stroke < 2 || present.shape != [n, n_strokes] || head.shape[0] != n {
        return Err(format!(
            "gave points {:?}, present {:?}, head {:?} for {n} glyphs",
            points.shape, present.shape, head.shape
        ));
    }
    if !points.values.iter().chain(&head.values).all(|v| v.is_finite()) {
        return Err("gave a number that is not finite".to_owned());
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
