//! Joins the transcriptions of a recording's pieces.

use akhar_client::{SegmentBody, TranscriptionBody};
use uuid::Uuid;

/// The transcription of a recording, or of a piece of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Transcript {
    pub(super) body: TranscriptionBody,
    /// The length of the recording, seconds.
    pub(super) duration_s: f64,
    /// The jobs that made it, in the order of their pieces.
    pub(super) jobs: Vec<Uuid>,
    pub(super) warnings: Vec<String>,
}

/// A piece's place in its recording, seconds, and its transcript.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    pub(super) transcript: Transcript,
}

/// Joins the parts of one recording, which are in order. Times become those of the whole recording.
pub(super) fn join(parts: Vec<Part>) -> Transcript {
    let duration_s = parts.last().map_or(0.0, |part| part.end_s);
    let mut whole = Transcript { body: empty(&parts), duration_s, jobs: Vec::new(), warnings: Vec::new() };
    for Part { start_s, end_s, transcript } in parts {
        let body = transcript.body;
        append(&mut whole.body.transcription, &body.transcription);
        if let (Some(all), Some(text)) = (&mut whole.body.translation, &body.translation) {
            append(all, text);
        }
        if let (Some(all), Some(segments)) = (&mut whole.body.timestamps, body.timestamps) {
            all.extend(segments.into_iter().map(|segment| later(segment, start_s, end_s)));
        }
        whole.jobs.extend(transcript.jobs);
        let warnings = transcript.warnings.into_iter();
        whole
            .warnings
            .extend(warnings.map(|text| format!("in the part from {start_s:.1} s to {end_s:.1} s: {text}")));
    }
    whole
}

/// A body without text, with the members that all parts have.
fn empty(parts: &[Part]) -> TranscriptionBody {
    let all = |has: fn(&TranscriptionBody) -> bool| parts.iter().all(|part| has(&part.transcript.body));
    TranscriptionBody {
        transcription: String::new(),
        translation: all(|body| body.translation.is_some()).then(String::new),
        timestamps: all(|body| body.timestamps.is_some()).then(Vec::new),
    }
}

fn append(all: &mut String, text: &str) {
    if !all.is_empty() && !text.is_empty() {
        all.push(' ');
    }
    all.push_str(text);
}

/// The segment of a part as one of the whole recording, to the millisecond. It does not reach into the next part.
fn later(segment: SegmentBody, start_s: f64, end_s: f64) -> SegmentBody {
    let time = |t: f64| ((t + start_s).min(end_s) * 1e3).round() / 1e3;
    SegmentBody { start: time(segment.start), end: time(segment.end), ..segment }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(start_s: f64, end_s: f64, segments: &[(f64, f64, &str)]) -> Part {
        let texts: Vec<&str> = segments.iter().map(|(_, _, text)| *text).collect();
        let segment = |&(start, end, text): &(f64, f64, &str)| SegmentBody {
            start,
            end,
            transcription: text.to_owned(),
            translation: None,
        };
        let body = TranscriptionBody {
            transcription: texts.join(" "),
            translation: None,
            timestamps: Some(segments.iter().map(segment).collect()),
        };
        let jobs = vec![Uuid::now_v7()];
        let warnings = vec!["too quiet".to_owned()];
        Part { start_s, end_s, transcript: Transcript { body, duration_s: end_s - start_s, jobs, warnings } }
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
        assert_eq!(whole.warnings[1], "in the part from 50.5 s to 100.0 s: too quiet");
        assert_eq!(whole.body.translation, None);
        let times: Vec<_> = whole.body.timestamps.unwrap().iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(times, [(1.25, 2.0), (100.5, 101.0), (129.0, 130.0)]);
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
