//! The words of a recording as they are written: words come in, and segments with their texts go out.

use std::{collections::VecDeque, ops::Range};

use akhar_inference::speech::{TimedText, divided, segments, text};

use super::{error::OperationError, language_engine::Recognising, punctuation::Writer};

/// A recording as it is written.
pub(super) struct Written {
    pub(super) segments: Vec<TimedText>,
    /// The words of each segment.
    pub(super) words: Vec<Vec<TimedText>>,
    /// The segments as the translator reads them.
    pub(super) sources: Vec<String>,
}

/// Divides all words of a recording into segments, and writes them.
pub(super) async fn written(
    words: &[TimedText],
    seconds: f64,
    writer: Option<&mut Writer>,
    spent: &mut Recognising,
) -> Result<Written, OperationError> {
    let mut segments = segments(words, seconds);
    let (words, sources) = if let Some(writer) = writer {
        spent.model += writer.read(words, true).await?;
        writer.finish(words, &mut segments)
    } else {
        let of_segments = divided(words).into_iter().map(|range| words[range].to_vec());
        (of_segments.collect(), segments.iter().map(|s| s.text.clone()).collect())
    };
    Ok(Written { segments, words, sources })
}

/// Takes the segments that nothing changes any more, with their words as they are written.
pub(super) async fn finished(
    waiting: &mut VecDeque<(Range<usize>, TimedText)>,
    words: &[TimedText],
    writer: Option<&mut Writer>,
    spent: &mut Recognising,
) -> Result<Vec<TimedText>, OperationError> {
    let Some(writer) = writer else {
        return Ok(waiting.drain(..).map(|(_, segment)| segment).collect());
    };
    spent.model += writer.read(words, false).await?;
    let n = waiting.iter().take_while(|(range, _)| range.end <= writer.n_ready(words.len())).count();
    let written = |(range, segment): (Range<usize>, TimedText)| TimedText {
        text: text(&writer.words(words, range)),
        ..segment
    };
    Ok(waiting.drain(..n).map(written).collect())
}
