//! Joins the transcriptions of a recording's pieces.

use akhar_client::{ProbablyWrongBody, SegmentBody, TranscriptionBody, Warnings, WordBody};
use uuid::Uuid;

/// The transcription of a recording, or of a piece of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Transcript {
    pub(super) body: TranscriptionBody,
    /// The length of the recording, seconds.
    pub(super) duration_s: f64,
    /// The jobs that made it, in the order of their pieces.
    pub(super) jobs: Vec<Uuid>,
    pub(super) warnings: Warnings,
    /// The expected share of letters that are right, if the server tells it.
    pub(super) confidence: Option<f64>,
    /// The language, if it was detected.
    pub(super) language: Option<String>,
}

impl Transcript {
    /// The language that was detected by what is said.
    pub(super) fn detected(&self) -> Option<&str> {
        self.language.as_deref().filter(|_| !self.body.transcription.is_empty())
    }
}

/// A piece's place in its recording, seconds, and its transcript.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    /// Whether it ends in a pause, or with the recording.
    pub(super) ends_in_pause: bool,
    pub(super) transcript: Transcript,
}

/// Joins the parts of one recording, which are in order. Times become those of the whole recording.
pub(super) fn join(parts: Vec<Part>) -> Transcript {
    let duration_s = parts.last().map_or(0.0, |part| part.end_s);
    let mut whole = Transcript {
        body: empty(&parts),
        duration_s,
        jobs: Vec::new(),
        warnings: Warnings::default(),
        confidence: confidence(&parts),
        language: language(&parts).map(str::to_owned),
    };
    let said_of_all = said_of_all(&parts);
    for Part { start_s, end_s, ends_in_pause, transcript } in parts {
        let mut body = transcript.body;
        if !ends_in_pause {
            without_stop(&mut body);
        }
        append(&mut whole.body.transcription, &body.transcription);
        if let (Some(all), Some(text)) = (&mut whole.body.translation, &body.translation) {
            append(all, text);
        }
        if let (Some(all), Some(segments)) = (&mut whole.body.timestamps, body.timestamps) {
            let later = |time_s| later(time_s, start_s, end_s);
            let word = |word: WordBody| WordBody { start: later(word.start), end: later(word.end), ..word };
            let segment = |segment: SegmentBody| SegmentBody {
                start: later(segment.start),
                end: later(segment.end),
                words: segment.words.map(|words| words.into_iter().map(word).collect()),
                ..segment
            };
            all.extend(segments.into_iter().map(segment));
        }
        whole.jobs.extend(transcript.jobs);
        let Warnings { general, probably_wrong, .. } = transcript.warnings;
        let general = general
            .into_iter()
            .filter(|text| !said_of_all.contains(text))
            .map(|text| format!("in the part from {start_s:.1} s to {end_s:.1} s: {text}"));
        whole.warnings.general.extend(general);
        let later = |part: ProbablyWrongBody| ProbablyWrongBody {
            start: later(part.start, start_s, end_s),
            end: later(part.end, start_s, end_s),
            ..part
        };
        whole.warnings.probably_wrong.extend(probably_wrong.into_iter().map(later));
    }
    whole.warnings.general.extend(said_of_all);
    whole
}

/// Merges the transcripts of the channels of a recording: their segments by their starts.
pub(super) fn merge(channels: Vec<Transcript>) -> Transcript {
    let parts = (1..).zip(channels).map(|(number, mut transcript)| {
        for segment in transcript.body.timestamps.iter_mut().flatten() {
            segment.channel = Some(number);
        }
        Part { start_s: 0.0, end_s: transcript.duration_s, ends_in_pause: true, transcript }
    });
    let mut whole = join(parts.collect());
    let mut segments = whole.body.timestamps.take().unwrap_or_default();
    segments.sort_by(|a, b| a.start.total_cmp(&b.start));
    let texts = |text: fn(&SegmentBody) -> Option<&str>| {
        let mut all = String::new();
        segments.iter().filter_map(text).for_each(|text| append(&mut all, text));
        all
    };
    whole.body.transcription = texts(|segment| Some(&segment.transcription));
    whole.body.translation = whole.body.translation.map(|_| texts(|segment| segment.translation.as_deref()));
    whole.body.timestamps = Some(segments);
    whole
}

/// Takes away the stop that the end of a piece has, because its last sentence goes on in the next one.
fn without_stop(body: &mut TranscriptionBody) {
    let last = body.timestamps.iter_mut().flatten().next_back();
    let word =
        last.map(|segment| (&mut segment.transcription, segment.words.iter_mut().flatten().next_back()));
    let (segment, word) =
        word.map_or((None, None), |(text, word)| (Some(text), word.map(|word| &mut word.word)));
    for text in [Some(&mut body.transcription), segment, word].into_iter().flatten() {
        text.truncate(text.trim_end_matches(['।', '۔', '.']).len());
    }
}

/// The warnings that every one of several parts has.
fn said_of_all(parts: &[Part]) -> Vec<String> {
    let [first, others @ ..] = parts else { return Vec::new() };
    let is_everywhere =
        |text: &&String| others.iter().all(|part| part.transcript.warnings.general.contains(text));
    let general = first.transcript.warnings.general.iter().filter(|_| !others.is_empty());
    general.filter(is_everywhere).cloned().collect()
}

/// The mean over the letters of all parts. `None` if a part with a text has none.
fn confidence(parts: &[Part]) -> Option<f64> {
    let mut n_all = 0.0;
    let mut n_right = 0.0;
    for Transcript { body, confidence, .. } in parts.iter().map(|part| &part.transcript) {
        let n_chars = body.transcription.chars().count();
        if n_chars > 0 {
            let n_chars = f64::from(u32::try_from(n_chars).unwrap_or(u32::MAX));
            n_all += n_chars;
            n_right += n_chars * (*confidence)?;
        }
    }
    (n_all > 0.0).then(|| (n_right / n_all * 1e3).round() / 1e3)
}

/// The language that was detected: if nothing is said, what the server takes then.
fn language(parts: &[Part]) -> Option<&str> {
    let mut all = parts.iter().map(|part| &part.transcript);
    all.find_map(Transcript::detected).or(parts.first()?.transcript.language.as_deref())
}

/// A body without text, with the members that all parts have.
fn empty(parts: &[Part]) -> TranscriptionBody {
    let all = |has: fn(&TranscriptionBody) -> bool| parts.iter().all(|part| has(&part.transcript.body));
    TranscriptionBody {
        transcription: String::new(),
        translation: all(|body| body.translation.is_some()).then(String::new),
        timestamps: all(|body| body.timestamps.is_some()).then(Vec::new),
        confidence: None, // the transcript has these
        language: None,
    }
}

fn append(all: &mut String, text: &str) {
    if !all.is_empty() && !text.is_empty() {
        all.push(' ');
    }
    all.push_str(text);
}

/// The time in a part as one of the whole recording, to the millisecond. It does not reach into the next part.
fn later(time_s: f64, start_s: f64, end_s: f64) -> f64 {
    ((time_s + start_s).min(end_s) * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use akhar_client::TextKind;
    use proptest::prelude::*;

    use super::*;

    fn part(start_s: f64, end_s: f64, segments: &[(f64, f64, &str)]) -> Part {
        let texts: Vec<&str> = segments.iter().map(|(_, _, text)| *text).collect();
        let segment = |&(start, end, text): &(f64, f64, &str)| SegmentBody {
            start,
            end,
            transcription: text.to_owned(),
            words: Some(vec![WordBody { word: text.to_owned(), start, end, confidence: Some(0.5) }]),
            ..SegmentBody::default()
        };
        let body = TranscriptionBody {
            transcription: texts.join(" "),
            timestamps: Some(segments.iter().map(segment).collect()),
            ..TranscriptionBody::default()
        };
        let jobs = vec![Uuid::now_v7()];
        let wrong = ProbablyWrongBody { text: TextKind::Transcription, start: 1.0, end: 2.5 };
        let all = "approximate".to_owned();
        let warnings = Warnings {
            general: if start_s > 0.0 { vec![all.clone(), "too quiet".to_owned()] } else { vec![all] },
            probably_wrong: vec![wrong],
            ..Warnings::default()
        };
        let confidence = (!texts.is_empty()).then_some(if start_s > 0.0 { 0.5 } else { 0.8 });
        let transcript =
            Transcript { body, duration_s: end_s - start_s, jobs, warnings, confidence, language: None };
        Part { start_s, end_s, ends_in_pause: true, transcript }
    }

    #[test]
    fn times_are_those_of_the_whole_recording() {
        let parts = [
            part(0.0, 50.5, &[(1.25, 2.0, "ਅੱਜ")]),
            part(50.5, 100.0, &[]),
            part(100.0, 130.0004, &[(0.5, 1.0, "ਮੌਸਮ"), (29.0, 31.0, "ਹੈ")]),
        ];
        let whole = join(parts.to_vec());
        assert_eq!(whole.body.transcription, "ਅੱਜ ਮੌਸਮ ਹੈ");
        assert_eq!((whole.duration_s, whole.jobs.len()), (130.0004, 3));
        let general: Vec<&str> = whole.warnings.general.iter().map(String::as_str).collect();
        let second = "in the part from 50.5 s to 100.0 s: too quiet";
        let third = "in the part from 100.0 s to 130.0 s: too quiet";
        assert_eq!(general, [second, third, "approximate"]);
        let sentences = whole.warnings.sentences();
        assert_eq!(
            sentences.last().map(String::as_str),
            Some(
                "low confidence: the transcription is probably wrong, from 1.0 s to 2.5 s, from 51.5 s to 53.0 s, from 101.0 s to 102.5 s"
            )
        );
        assert_eq!(whole.body.translation, None);
        assert_eq!(whole.confidence, Some(0.59), "three characters of 0.8, and seven of 0.5");
        let segments = whole.body.timestamps.unwrap();
        let times: Vec<_> = segments.iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(times, [(1.25, 2.0), (100.5, 101.0), (129.0, 130.0)]);
        let words = segments.iter().flat_map(|s| s.words.iter().flatten());
        assert_eq!(words.map(|w| (w.start, w.end)).collect::<Vec<_>>(), times);
    }

    #[test]
    fn a_piece_that_is_cut_within_a_sentence_has_no_stop_at_its_end() {
        let cut = Part {
            ends_in_pause: false,
            ..part(0.0, 50.0, &[(1.0, 2.0, "ਅੱਜ।"), (49.0, 50.0, "ਮੌਸਮ।")])
        };
        let whole = join(vec![cut, part(50.0, 60.0, &[(0.0, 1.0, "ਚੰਗਾ ਹੈ।")])]).body;
        assert_eq!(whole.transcription, "ਅੱਜ। ਮੌਸਮ ਚੰਗਾ ਹੈ।");
        let segments = whole.timestamps.unwrap();
        assert_eq!(segments[1].transcription, "ਮੌਸਮ");
        assert_eq!(segments[1].words.as_ref().unwrap()[0].word, "ਮੌਸਮ");
    }

    #[test]
    fn channels_are_merged_by_the_starts_of_their_segments() {
        let channel = |segments: &[(f64, f64, &str)]| part(0.0, 9.0, segments).transcript;
        let whole = merge(vec![channel(&[(0.0, 1.0, "a"), (5.0, 6.0, "c")]), channel(&[(0.5, 3.0, "b")])]);
        assert_eq!(whole.body.transcription, "a b c");
        let segments = whole.body.timestamps.unwrap();
        assert_eq!(segments.iter().map(|s| s.channel).collect::<Vec<_>>(), [Some(1), Some(2), Some(1)]);
    }

    proptest! {
        #[test]
        fn segments_stay_in_order(lengths in prop::collection::vec((0.1..60.0_f64, 0.0..1.0_f64, 0.0..1.0_f64), 1..9)) {
            let mut at = 0.0;
            let parts: Vec<Part> = lengths.iter().map(|&(length, a, b)| {
                let (start, end) = (at, at + length);
                at = end;
                part(start, end, &[(a.min(b) * length, a.max(b) * length, "ਹੈ")])
            }).collect();
            let whole = join(parts).body.timestamps.unwrap();
            let times: Vec<f64> = whole.iter().flat_map(|s| [s.start, s.end]).collect();
            prop_assert!(times.is_sorted(), "{:?}", times);
            prop_assert_eq!(whole.len(), lengths.len());
        }
    }
}
