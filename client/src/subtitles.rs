//! Writes the segments of a transcription as subtitles: `SubRip` (SRT) or `WebVTT`. The translation of a segment is the
//! second line of its cue.

use std::fmt::Write as _;

use crate::SegmentBody;

/// Subtitles in the `SubRip` format: numbered cues with times as `00:01:02,345`. Ends with a line break unless empty.
///
/// The format has no specification. This follows what its players read: UTF-8, a number, times, text, an empty line.
pub fn srt(segments: &[SegmentBody]) -> String {
    let mut text = String::new();
    for (nth, segment) in cues(segments).enumerate() {
        let (start, end) = (time(segment.start, ','), time(segment.end, ','));
        // Writing to a String does not fail.
        let _ = write!(text, "{}\n{start} --> {end}\n{}\n\n", nth + 1, lines(segment));
    }
    text
}

/// Subtitles in the `WebVTT` format (<https://www.w3.org/TR/webvtt1/>), with times as `00:01:02.345`.
pub fn vtt(segments: &[SegmentBody]) -> String {
    let mut text = "WEBVTT\n".to_owned();
    for segment in cues(segments) {
        let (start, end) = (time(segment.start, '.'), time(segment.end, '.'));
        let escaped = lines(segment).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // Writing to a String does not fail.
        let _ = write!(text, "\n{start} --> {end}\n{escaped}\n");
    }
    text
}

/// The segments that a player can show: those with a text. An empty line would end a cue.
fn cues(segments: &[SegmentBody]) -> impl Iterator<Item = &SegmentBody> {
    segments.iter().filter(|segment| !segment.transcription.trim().is_empty())
}

/// The transcription and the translation, each in one line.
fn lines(segment: &SegmentBody) -> String {
    let texts = [Some(&*segment.transcription), segment.translation.as_deref()].into_iter().flatten();
    let lines = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A time in hours, minutes, seconds and milliseconds. Negative times count as 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is at least 0, and casts saturate"
)]
fn time(seconds: f64, separator: char) -> String {
    let ms = (seconds.max(0.0) * 1e3).round() as u64;
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}{separator}{:03}", ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start: f64, end: f64, transcription: &str) -> SegmentBody {
        SegmentBody { start, end, transcription: transcription.to_owned(), ..SegmentBody::default() }
    }

    #[test]
    fn cues_are_numbered_and_have_times() {
        let segments = [segment(0.24, 1.36, "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"), segment(3599.9996, 36_000.0, "ਹਾਂ")];
        assert_eq!(
            srt(&segments),
            "1\n00:00:00,240 --> 00:00:01,360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n2\n01:00:00,000 --> 10:00:00,000\nਹਾਂ\n\n"
        );
        assert_eq!(
            vtt(&segments),
            "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n01:00:00.000 --> 10:00:00.000\nਹਾਂ\n"
        );
    }

    #[test]
    fn a_recording_without_speech_has_no_cues() {
        assert_eq!(srt(&[]), "");
        assert_eq!(vtt(&[]), "WEBVTT\n");
    }

    #[test]
    fn the_translation_is_the_second_line() {
        let translated = |translation: &str| SegmentBody {
            translation: Some(translation.to_owned()),
            ..segment(0.0, 1.0, "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ")
        };
        let segments = [translated("Hello\n& welcome"), translated(" ")];
        assert_eq!(
            srt(&segments),
            "1\n00:00:00,000 --> 00:00:01,000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nHello & welcome\n\n\
             2\n00:00:00,000 --> 00:00:01,000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n"
        );
        assert_eq!(
            vtt(&segments[..1]),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nHello &amp; welcome\n"
        );
    }

    #[test]
    fn text_cannot_end_a_cue_or_be_markup() {
        let segments = [segment(0.0, 1.0, "a\n\nb <i>c</i> & -->"), segment(1.0, 2.0, " ")];
        assert_eq!(
            vtt(&segments),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na b &lt;i&gt;c&lt;/i&gt; &amp; --&gt;\n"
        );
        assert_eq!(srt(&segments), "1\n00:00:00,000 --> 00:00:01,000\na b <i>c</i> & -->\n\n");
    }
}
