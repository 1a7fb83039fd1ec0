//! How likely a text is right: the evidence for each of its units comes in, a probability goes out.
//!
//! The acoustic model's probabilities alone do not tell a noisy recording from one in another language, because a
//! language model makes fluent text of both. So the evidence has two parts: how sure the acoustic model is of the
//! letters, and how likely the language model finds them. Moonshine's text has the same two parts: how likely the
//! aligner, which knows no words, finds its letters, and how likely Moonshine itself finds its tokens.
//! `training/speech/whisper_ctc/calibrate.py` and `training/speech/measure/calibrate.py` fit the weights of the two.

use std::{iter::Sum, ops::AddAssign};

use crate::{cast::count, generation::Confidence};

/// The evidence for some units of text, as sums over the units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    n_letters: usize,
    /// The sum over letters of the highest probability that the acoustic model gives the letter in its frames; an
    /// aligner's is a log-probability.
    acoustic: f64,
    n_units: usize,
    /// The sum over letters and spaces of the language model's log-probability (natural logarithm); Moonshine gives its
    /// letters the mean of the window's tokens.
    language: f64,
}

impl Evidence {
    /// The evidence for one letter.
    pub(crate) const fn letter(acoustic: f64, language: f64) -> Self {
        Self { n_letters: 1, acoustic, n_units: 1, language }
    }

    /// The evidence for a space.
    pub(crate) const fn space(language: f64) -> Self {
        Self { n_letters: 0, acoustic: 0.0, n_units: 1, language }
    }

    /// The number of letters.
    pub const fn n_letters(&self) -> usize {
        self.n_letters
    }

    /// The means of the acoustic and of the language model's part; `None` without evidence for a letter.
    pub fn means(&self) -> Option<(f64, f64)> {
        (self.n_letters > 0)
            .then(|| (self.acoustic / count(self.n_letters), self.language / count(self.n_units)))
    }

    /// The expected share of right letters, 0 to 1; `None` without evidence for a letter.
    pub fn probability(&self, confidence: &Confidence) -> Option<f64> {
        let (acoustic, language) = self.means()?;
        Some(confidence.probability(acoustic, language))
    }

    /// The probability that a word with this evidence is right, 0 to 1; `None` without evidence for a letter, and if the
    /// model does not tell it.
    pub fn word_probability(&self, confidence: &Confidence) -> Option<f64> {
        let (acoustic, language) = self.means()?;
        Some(confidence.word?.probability(acoustic, language))
    }

    /// Whether there is evidence, and the text is probably wrong by it.
    pub fn is_low(&self, confidence: &Confidence) -> bool {
        self.means().is_some_and(|(acoustic, language)| confidence.is_low(acoustic, language))
    }
}

impl AddAssign for Evidence {
    fn add_assign(&mut self, other: Self) {
        self.n_letters += other.n_letters;
        self.acoustic += other.acoustic;
        self.n_units += other.n_units;
        self.language += other.language;
    }
}

impl Sum for Evidence {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIDENCE: Confidence = Confidence::of_weights(0.0, 8.0, 2.5);

    #[test]
    fn both_models_count() {
        let probability = |evidence: Evidence| evidence.probability(&CONFIDENCE).unwrap();
        assert!((probability(Evidence::letter(0.5, -1.6)) - 0.5).abs() < 1e-9);
        assert!(probability(Evidence::letter(0.9, -1.6)) > 0.9);
        assert!(probability(Evidence::letter(0.5, -3.0)) < 0.1);
        assert_eq!(Evidence::default().probability(&CONFIDENCE), None);
        assert_eq!(Evidence::space(-1.0).probability(&CONFIDENCE), None);
    }

    #[test]
    fn evidence_is_a_mean_and_a_space_has_no_sound() {
        let word = [Evidence::letter(0.8, -1.0), Evidence::letter(0.6, -2.0), Evidence::space(-3.0)];
        let sum: Evidence = word.into_iter().sum();
        let expected = 8.0 * 0.7 - 2.5 * 2.0;
        let probability = sum.probability(&CONFIDENCE).unwrap();
        assert!((probability - 1.0 / (1.0 + f64::exp(-expected))).abs() < 1e-9, "{probability}");
    }
}
