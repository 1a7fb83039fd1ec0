//! Writes the segments of a transcription as text to read: a paragraph a line.

use crate::SegmentBody;

/// A pause that ends a paragraph, seconds.
const PAUSE_S: f64 = 2.0;

/// The texts of segments that are in order. `text` is the transcription or the translation of a segment. A paragraph ends at
/// a pause of two seconds, and where another channel speaks, whose name it then begins with.
pub fn paragraphs<'a>(segments: &'a [SegmentBody], text: impl Fn(&'a SegmentBody) -> &'a str) -> String {
    let mut written = String::new();
    let mut before: Option<&SegmentBody> = None;
    for segment in segments.iter().filter(|segment| !text(segment).is_empty()) {
        match before {
            Some(before) if before.channel == segment.channel && segment.start - before.end < PAUSE_S => {
                written.push(' ');
            }
            before => {
                written.push_str(if before.is_some() { "\n" } else { "" });
                if let Some(channel) = segment.channel {
                    written.push_str(&channel_name(channel));
                    written.push(' ');
                }
            }
        }
        written.push_str(text(segment));
        before = Some(segment);
    }
    written
}

/// What stands before the text of a channel.
pub(crate) fn channel_name(channel: u8) -> String {
    format!("Channel {channel}:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_at_long_pauses_and_where_another_channel_speaks() {
        let segment = |start: f64, text: &str, channel| SegmentBody {
            start,
            end: start + 1.0,
            transcription: text.to_owned(),
            channel,
            ..SegmentBody::default()
        };
        let text = |segments: &[SegmentBody]| paragraphs(segments, |segment| &segment.transcription);
        assert_eq!(text(&[]), "");
        let of_one = [segment(0.0, "a", None), segment(2.9, "b", None), segment(5.9, "c", None)];
        assert_eq!(text(&of_one), "a b\nc");
        let [one, two] = [Some(1), Some(2)];
        let of_two =
            [segment(0.0, "a", one), segment(1.5, "b", one), segment(1.6, "", two), segment(2.0, "c", two)];
        assert_eq!(text(&of_two), "Channel 1: a b\nChannel 2: c");
    }
}
