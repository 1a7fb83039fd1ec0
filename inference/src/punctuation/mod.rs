//! Finds the marks of a transcript: words and the pauses between them come in, and what stands behind each word comes out.

mod pieces;

use pieces::{N_PIECES, rows};

use crate::{
    cast::dimension,
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError, Session, Tensor},
};

/// How many words before and behind a word its mark depends on.
pub const CONTEXT: usize = 32;

/// What stands behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// A comma.
    Comma,
    /// A danda, or in English a full stop.
    Stop,
    /// A question mark.
    Question,
}

impl Mark {
    /// In the order of the model's scores.
    const ALL: [Self; 4] = [Self::None, Self::Comma, Self::Stop, Self::Question];
}

/// A word as it is spoken, in NFC.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenWord {
    /// The word.
    pub text: String,
    /// The pause behind it, seconds; `None` behind the last word.
    pub pause_s: Option<f64>,
}

/// A loaded model with the layout `word-tagger`.
pub struct Tagger {
    session: Session,
}

impl Tagger {
    /// Loads the model and runs it once. `n_threads` is the number of threads that one run may use.
    ///
    /// # Errors
    ///
    /// When the manifest has another layout, its file is missing or has another hash, or the model cannot be run.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::WordTagger)?;
        let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
        let mut tagger = Self { session };
        tagger.scores(&[SpokenWord { text: "ਹੈ".to_owned(), pause_s: None }])?;
        Ok(tagger)
    }

    /// The likeliest mark behind each word. Words that are further away than [`CONTEXT`] do not change it.
    ///
    /// # Errors
    ///
    /// When the run fails, or the model gives a wrong number of scores.
    pub fn marks(&mut self, words: &[SpokenWord]) -> Result<Vec<Mark>, RuntimeError> {
        let scores = self.scores(words)?;
        let best = |scores: &[f32; 4]| {
            let best = scores.iter().zip(Mark::ALL).max_by(|(a, _), (b, _)| a.total_cmp(b));
            best.map_or(Mark::None, |(_, mark)| mark)
        };
        let mut marks: Vec<Mark> = scores.iter().map(best).collect();
        // The end of a recording ends a sentence.
        if let (Some(SpokenWord { pause_s: None, .. }), Some(last), Some([_, _, stop, question])) =
            (words.last(), marks.last_mut(), scores.last())
        {
            *last = if question > stop { Mark::Question } else { Mark::Stop };
        }
        Ok(marks)
    }

    /// The score of each mark behind each word.
    fn scores(&mut self, words: &[SpokenWord]) -> Result<Vec<[f32; 4]>, RuntimeError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let pieces: Vec<i32> = words.iter().flat_map(|word| rows(&word.text)).collect();
        #[expect(clippy::cast_possible_truncation, reason = "pauses are short")]
        let pauses: Vec<f32> =
            words.iter().map(|word| word.pause_s.map_or(-1.0, |pause| pause.max(0.0) as f32)).collect();
        let shape = [words.len(), N_PIECES].map(dimension);
        let inputs =
            vec![("grams", Tensor::I32(&shape, &pieces)), ("pauses", Tensor::F32(&shape[..1], &pauses))];
        let [scores] = self.session.run(inputs, ["scores"])?;
        let (rows, rest) = scores.values.as_chunks();
        if rows.len() != words.len() || !rest.is_empty() {
            let found = scores.values.len();
            let what = format!("it gave {found} scores for {} words: expected 4 for each", words.len());
            return Err(self.session.layout_error(what));
        }
        Ok(rows.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::testing::{golden, root, runtime};

    #[derive(Deserialize)]
    struct Case {
        words: Vec<String>,
        pauses: Vec<f64>,
        grams: Vec<Vec<i32>>,
        scores: Vec<[f32; 4]>,
    }

    #[test]
    fn scores_are_those_of_the_reference() {
        let manifest = Manifest::load(&root().join("models/punctuation-pa-en.toml")).unwrap();
        let mut tagger = Tagger::load(runtime(), &manifest, 1).unwrap();
        let cases: Vec<Case> = golden("punctuation/golden.json");
        for Case { words, pauses, grams, scores } in cases {
            let pauses = pauses.iter().map(|pause| (*pause >= 0.0).then_some(*pause));
            let words: Vec<SpokenWord> =
                words.into_iter().zip(pauses).map(|(text, pause_s)| SpokenWord { text, pause_s }).collect();
            for (word, grams) in words.iter().zip(grams) {
                assert_eq!(rows(&word.text)[..], grams, "{}", word.text);
            }
            for (found, expected) in tagger.scores(&words).unwrap().iter().zip(&scores) {
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-3, "{found} {expected}");
                }
            }
        }
    }
}
