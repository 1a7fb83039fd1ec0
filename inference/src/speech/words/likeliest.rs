//! Which language is spoken: the evidence for the text that each language's model writes of the same sound comes in, and the
//! model whose text is clearly likelier right goes out.
//!
//! Each model's calibrated odds make the models comparable, although their evidence is not. `speech.measure.languages`
//! measures how often the language is right.

use super::evidence::Evidence;
use crate::{generation::Confidence, speech::features::SAMPLE_RATE};

/// How much sound the texts should be of, samples: two seconds. Shorter ones tell less.
pub const ENOUGH_SAMPLES: usize = 2 * SAMPLE_RATE;
/// The logarithm of how many times the odds of the likeliest text are at least those of any other.
const CLEAR: f64 = 0.5;
/// The logarithm of the odds of a text from which on it needs no comparison. What a model writes of another language is far
/// from it, and what it writes of its own at least as often beyond.
const CERTAIN: f64 = 3.0;
/// The logarithm of the odds of a text below which it may be of another language. Nine of ten texts of a model's own language by
/// synthetic voices are beyond.
const UNSURE: f64 = 1.0;
/// The logarithm of the odds that a text has at least, also if the model wrote none. Calibration tells nothing so far out.
const LOWEST: f64 = -9.0;

/// The place of the text that is clearly the likeliest. `None` if there is no text, or another is about as likely.
pub fn likeliest(texts: &[(Evidence, Confidence)]) -> Option<usize> {
    let mut places: Vec<(usize, f64)> = texts.iter().map(log_odds).enumerate().collect();
    places.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    match places[..] {
        [(place, best), (_, next), ..] => (best - next >= CLEAR).then_some(place),
        _ => None,
    }
}

/// Whether a text is so likely that it is of the language of its model, whatever the other models write.
pub fn is_certain(text: &(Evidence, Confidence)) -> bool {
    log_odds(text) >= CERTAIN
}

/// Whether a text may be of another language.
pub fn is_unsure(text: &(Evidence, Confidence)) -> bool {
    log_odds(text) < UNSURE
}

fn log_odds((evidence, confidence): &(Evidence, Confidence)) -> f64 {
    let found = evidence.means().map(|(acoustic, language)| confidence.log_odds(acoustic, language));
    found.map_or(LOWEST, |found| found.max(LOWEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Confidence = Confidence::of_weights(0.0, 1.0, 0.0);

    #[test]
    fn only_a_text_that_is_clearly_likelier_is_chosen() {
        let text = |log_odds| (Evidence::letter(log_odds, 0.0), PLAIN);
        let none = (Evidence::default(), PLAIN);
        assert_eq!(likeliest(&[text(1.0), text(0.4)]), Some(0));
        assert_eq!(likeliest(&[text(1.0), text(1.6)]), Some(1));
        assert_eq!(likeliest(&[text(1.0), text(0.6)]), None);
        assert_eq!(likeliest(&[none, text(-2.0)]), Some(1));
        assert_eq!(likeliest(&[none, text(-20.0)]), None, "neither is likely at all");
        assert_eq!(likeliest(&[none, none]), None);
        assert_eq!(likeliest(&[text(1.0)]), None);
        assert_eq!([text(UNSURE), text(0.9), none].map(|text| is_unsure(&text)), [false, true, true]);
        assert_eq!(
            [text(CERTAIN), text(CERTAIN - 0.01), none].map(|text| is_certain(&text)),
            [true, false, false]
        );
    }

    #[test]
    fn each_model_has_its_own_calibration() {
        let generous = Confidence { intercept: 3.0, ..PLAIN };
        let texts = [(Evidence::letter(1.0, 0.0), PLAIN), (Evidence::letter(-1.0, 0.0), generous)];
        assert_eq!(likeliest(&texts), Some(1));
    }
}
