//! What is said in a recording: its words come in, with the channel that they are said in; its segments go out, those of all
//! channels in the order of their starts.

use super::{segments::timed, word::TimedText};

/// A segment of which everything is known but its translation.
#[derive(Debug, Clone)]
pub struct Utterance {
    /// The segment, with its text as it is written.
    pub segment: TimedText,
    /// Its text as the translator reads it.
    pub source: String,
    /// Its words.
    pub words: Vec<TimedText>,
    /// The number of its channel, from 1. `None` if the channels are mixed.
    pub channel: Option<u8>,
}

/// What is said in a recording, or in one of its channels.
#[derive(Debug, Default)]
pub struct Recognised {
    /// In the order of their starts.
    pub utterances: Vec<Utterance>,
    /// The length of the recording.
    pub seconds: f64,
    /// What is unusual about the recording.
    pub warnings: Vec<String>,
}

/// The segments with their words. `seconds` is the length of the recording.
pub fn utterances(
    segments: Vec<TimedText>,
    sources: Vec<String>,
    words: &[Vec<TimedText>],
    channel: Option<u8>,
    seconds: f64,
) -> Vec<Utterance> {
    let mut all = timed(&words.concat(), seconds).into_iter();
    let utterance = |((segment, source), words): ((TimedText, String), &Vec<TimedText>)| Utterance {
        segment,
        source,
        words: all.by_ref().take(words.len()).collect(),
        channel,
    };
    segments.into_iter().zip(sources).zip(words).map(utterance).collect()
}

impl Recognised {
    /// Adds what is said in another channel.
    pub fn add(&mut self, mut other: Self) {
        other.utterances.append(&mut self.utterances);
        // Of segments that start together, that of the lower channel is first.
        other
            .utterances
            .sort_by(|a, b| a.segment.start.total_cmp(&b.segment.start).then(a.channel.cmp(&b.channel)));
        *self = other; // a file has the same warnings for each of its channels
    }
}
