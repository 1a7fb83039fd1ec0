//! Writes the segments of a transcription as subtitles: `SubRip` (SRT) or `WebVTT`. The translation of a segment stands below
//! its transcription.

mod cues;
mod parts;

use std::fmt::Write as _;

pub use cues::Layout;

use crate::SegmentBody;
use cues::cues;

/// Subtitles in the `SubRip` format: numbered cues with times as `00:01:02,345`. Ends with a line break unless empty.
///
/// The format has no specification. This follows what its players read: UTF-8, a number, times, text, an empty line.
pub fn srt(segments: &[SegmentBody], layout: Layout) -> String {
    let mut text = String::new();
    for (nth, cue) in cues(segments, layout).iter().enumerate() {
        let (start, end) = (time(cue.start, ','), time(cue.end, ','));
        // Writing to a String does not fail.
        let _ = write!(text, "{}\n{start} --> {end}\n{}\n\n", nth + 1, cue.lines.join("\n"));
    }
    text
}

/// Subtitles in the `WebVTT` format (<https://www.w3.org/TR/webvtt1/>), with times as `00:01:02.345`.
pub fn vtt(segments: &[SegmentBody], layout: Layout) -> String {
    let mut text = "WEBVTT\n".to_owned();
    for cue in cues(segments, layout) {
        let (start, end) = (time(cue.start, '.'), time(cue.end, '.'));
        let escaped = cue.lines.join("\n").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // Writing to a String does not fail.
        let _ = write!(text, "\n{start} --> {end}\n{escaped}\n");
    }
    text
}

/// A time in hours, minutes, seconds and milliseconds.
fn time(ms: u64, separator: char) -> String {
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
            srt(&segments, Layout::default()),
            "1\n00:00:00,240 --> 00:00:01,360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n2\n01:00:00,000 --> 10:00:00,000\nਹਾਂ\n\n"
        );
        assert_eq!(
            vtt(&segments, Layout::default()),
            "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n01:00:00.000 --> 10:00:00.000\nਹਾਂ\n"
        );
    }

    #[test]
    fn a_recording_without_speech_has_no_cues() {
        assert_eq!(srt(&[], Layout::default()), "");
        assert_eq!(vtt(&[], Layout::default()), "WEBVTT\n");
    }

    #[test]
    fn the_translation_is_the_second_line() {
        let translated = |start: f64, translation: &str| SegmentBody {
            translation: Some(translation.to_owned()),
            ..segment(start, start + 2.0, "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ")
        };
        let segments = [translated(0.0, "Hello\n& welcome"), translated(2.0, " ")];
        assert_eq!(
            srt(&segments, Layout::default()),
            "1\n00:00:00,000 --> 00:00:02,000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nHello & welcome\n\n\
             2\n00:00:02,000 --> 00:00:04,000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n"
        );
        assert_eq!(
            vtt(&segments[..1], Layout::default()),
            "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nHello &amp; welcome\n"
        );
    }

    #[test]
    fn text_cannot_end_a_cue_or_be_markup() {
        let segments = [segment(0.0, 2.0, "a\n\nb <i>c</i> & -->"), segment(2.0, 3.0, " ")];
        assert_eq!(
            vtt(&segments, Layout::default()),
            "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\na b &lt;i&gt;c&lt;/i&gt; &amp; --&gt;\n"
        );
        assert_eq!(
            srt(&segments, Layout::default()),
            "1\n00:00:00,000 --> 00:00:02,000\na b <i>c</i> & -->\n\n"
        );
    }
}
