//! Prints why each clip's text should be right, as `training/speech/measure/calibrate.py` and `words.py` read it.

use std::path::Path;

use akhar_inference::speech::{TimedText, segments};
use akhar_tests::figures::count;
use serde_json::json;

use super::clips::{Transcriber, clips, samples};

/// Prints a line of JSON for each wav file of a folder: its `file`, what is `spoken` in it, the `text` that the model
/// writes, of each segment with evidence the number of letters and the means of both models, and of each word its text and
/// the same.
pub(crate) fn evidence_of(folder: &Path, lang: &str) {
    let mut transcriber = Transcriber::open(lang);
    for clip in clips(folder) {
        let Some(samples) = samples(&clip.bytes) else { continue };
        let words = transcriber.transcribe(&samples);
        let found = segments(&words, count(samples.len()) / 16_000.0);
        let of_segment = |segment: &TimedText| {
            let (acoustic, language) = segment.evidence.means()?;
            Some(json!([segment.evidence.n_letters(), acoustic, language]))
        };
        let evidence: Vec<_> = found.iter().filter_map(of_segment).collect();
        let texts: Vec<&str> = found.iter().map(|segment| segment.text.as_str()).collect();
        let text = texts.join(" ");
        let of_word = |word: &TimedText| {
            let (acoustic, language) = word.evidence.means().unwrap_or_default();
            json!([word.text, word.evidence.n_letters(), acoustic, language])
        };
        let words: Vec<_> = words.iter().map(of_word).collect();
        println!(
            "{}",
            json!({"file": clip.name, "spoken": clip.text, "text": text, "segments": evidence, "words": words})
        );
    }
}
