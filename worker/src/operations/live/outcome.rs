//! The outcome of a session: all that it has said comes in.

use akhar_requests::{
    Outcome, Segment, SubtitleSize,
    live::{LiveEvent, LiveUtterance},
};

use super::super::shown::thousandths;

/// The outcome of a session of so many seconds, as that of a recording.
pub(super) fn outcome(said: &[LiveEvent], seconds: f64) -> Outcome {
    let utterances: Vec<&LiveUtterance> = utterances(said).collect();
    let joined = |texts: Vec<&str>| texts.join(" ");
    let translations: Vec<&str> = utterances.iter().filter_map(|u| u.translation.as_deref()).collect();
    let mut warnings: Vec<String> = Vec::new();
    for warning in utterances.iter().flat_map(|utterance| &utterance.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let mut languages = utterances.iter().map(|utterance| utterance.language);
    let first = languages.next().flatten();
    Outcome::Transcription {
        transcription: joined(utterances.iter().map(|utterance| utterance.text.as_str()).collect()),
        translation: (!translations.is_empty()).then(|| joined(translations)),
        confidence: confidence(&utterances),
        language: first.filter(|first| languages.all(|language| language == Some(*first))),
        timestamps: Some(segments(said).collect()),
        words: Some(utterances.iter().flat_map(|utterance| utterance.words.iter().cloned()).collect()),
        segments: Vec::new(),
        seconds,
        warnings,
        probably_wrong: Vec::new(),
        subtitles: SubtitleSize::default(),
    }
}

/// The segments of what is said so far.
pub(super) fn segments(said: &[LiveEvent]) -> impl Iterator<Item = Segment> {
    utterances(said).map(segment)
}

/// The utterances that have a text.
fn utterances(said: &[LiveEvent]) -> impl Iterator<Item = &LiveUtterance> {
    said.iter().filter_map(|event| match event {
        LiveEvent::Completed(utterance) if !utterance.text.is_empty() => Some(utterance),
        _ => None,
    })
}

/// The mean over the letters.
#[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^52 letters")]
fn confidence(utterances: &[&LiveUtterance]) -> Option<f64> {
    let weighted = utterances.iter().map(|u| Some((u.confidence?, u.text.chars().count() as f64)));
    let weighted: Vec<(f64, f64)> = weighted.collect::<Option<_>>()?;
    let n_letters: f64 = weighted.iter().map(|(_, n)| n).sum();
    let sum: f64 = weighted.iter().map(|(confidence, n)| confidence * n).sum();
    (n_letters > 0.0).then(|| thousandths(sum / n_letters))
}

fn segment(utterance: &LiveUtterance) -> Segment {
    #[expect(clippy::cast_precision_loss, reason = "a session is short")]
    let seconds = |ms: u64| ms as f64 / 1e3;
    let (first, last) = (utterance.words.first(), utterance.words.last());
    Segment {
        start: first.map_or(seconds(utterance.start_ms), |word| word.start),
        end: last.map_or(seconds(utterance.end_ms), |word| word.end),
        transcription: utterance.text.clone(),
        translation: utterance.translation.clone(),
        confidence: utterance.confidence,
        channel: None,
    }
}

#[cfg(test)]
mod tests {
    use akhar_requests::{Language, Word};

    use super::*;

    fn utterance(item: u32, text: &str, confidence: Option<f64>) -> LiveEvent {
        let word = Word { text: text.to_owned(), start: 1.2, end: 1.5, confidence, channel: None };
        let words = if text.is_empty() { Vec::new() } else { vec![word] };
        let text = text.to_owned();
        let warnings = vec!["odd".to_owned()];
        let (language, translation) = (Some(Language::Panjabi), Some(text.to_uppercase()));
        LiveEvent::Completed(LiveUtterance {
            item,
            lang: Language::Panjabi,
            start_ms: 1000,
            end_ms: 2000,
            text,
            words,
            confidence,
            language,
            translation,
            warnings,
        })
    }

    #[test]
    fn utterances_become_the_segments_of_a_recording() {
        let said = [
            utterance(1, "aaa", Some(0.5)),
            utterance(2, "", None),
            utterance(3, "b", Some(0.9)),
            LiveEvent::Cleared,
        ];
        let Outcome::Transcription {
            transcription,
            translation,
            timestamps,
            words,
            warnings,
            confidence,
            language,
            ..
        } = outcome(&said, 3.0)
        else {
            panic!("a transcription");
        };
        assert_eq!((transcription.as_str(), translation.as_deref()), ("aaa b", Some("AAA B")));
        assert_eq!((confidence, language, warnings.len()), (Some(0.6), Some(Language::Panjabi), 1));
        let times: Vec<(f64, f64)> = timestamps.unwrap().iter().map(|s| (s.start, s.end)).collect();
        assert_eq!((times, words.unwrap().len()), (vec![(1.2, 1.5); 2], 2));
    }
}
