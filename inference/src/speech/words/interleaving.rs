//! The segments of channels that are read at the same time: those of each channel come in when they are finished, and all go
//! out in the order of their starts, each as soon as none can come before it.

use std::collections::VecDeque;

/// Times of segments are rounded to milliseconds, those of words are not.
const ROUNDING_S: f64 = 0.001;

/// The segments that have not gone out yet.
#[derive(Debug)]
pub struct Interleaving<S> {
    channels: Vec<Channel<S>>,
    /// The start of a segment, seconds.
    start: fn(&S) -> f64,
}

#[derive(Debug)]
struct Channel<S> {
    segments: VecDeque<S>,
    /// No further segment of the channel starts before, seconds.
    next_s: f64,
    /// How far the channel is read, seconds.
    read_s: f64,
}

impl<S> Interleaving<S> {
    /// Without segments, for this number of channels. `start` gives the start of a segment, seconds.
    pub fn new(n_channels: usize, start: fn(&S) -> f64) -> Self {
        let channel = |_| Channel { segments: VecDeque::new(), next_s: 0.0, read_s: 0.0 };
        Self { channels: (0..n_channels).map(channel).collect(), start }
    }

    /// Adds the further segments of a channel, by its number from 0. No later one of this channel starts before `next_s`.
    /// Returns the segments, of any channel, that go out next.
    pub fn add(&mut self, channel: usize, segments: impl IntoIterator<Item = S>, next_s: f64) -> Vec<S> {
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.segments.extend(segments);
            channel.next_s = next_s;
        }
        let mut ready = Vec::new();
        while let Some(segment) = self.next() {
            ready.push(segment);
        }
        ready
    }

    /// Takes the segment that starts first, of several the one of the lowest channel, unless another can still come before it.
    fn next(&mut self) -> Option<S> {
        let start = |channel: &Channel<S>| channel.segments.front().map(self.start);
        let waiting = self.channels.iter().enumerate().filter_map(|(nth, c)| Some((nth, start(c)?)));
        let (first, start_s) = waiting.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let mut others = self.channels.iter().filter(|channel| channel.segments.is_empty());
        let is_certain = others.all(|channel| channel.next_s > start_s + ROUNDING_S);
        if is_certain { self.channels.get_mut(first)?.segments.pop_front() } else { None }
    }

    /// Notes how far a channel is read, seconds. Returns the mean of all channels.
    pub fn read(&mut self, channel: usize, read_s: f64) -> f64 {
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.read_s = read_s;
        }
        let n = f64::from(u32::try_from(self.channels.len()).unwrap_or(u32::MAX));
        self.channels.iter().map(|channel| channel.read_s).sum::<f64>() / n
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A channel, and when its segment starts and ends, seconds.
    type Segment = (u8, f64, f64);

    fn start(segment: &Segment) -> f64 {
        segment.1
    }

    #[test]
    fn a_segment_goes_out_when_none_can_come_before_it() {
        let mut all = Interleaving::new(2, start);
        assert_eq!(all.add(0, [(1, 1.0, 2.0)], 2.5), []);
        assert_eq!(all.add(1, [], 1.0), [], "one of the second channel can start at the same time");
        assert_eq!(all.add(1, [], 1.5), [(1, 1.0, 2.0)]);
        let second = (2, 1.5, 4.0);
        assert_eq!(all.add(1, [second], 4.0), [second]);
        assert_eq!(all.add(0, [(1, 5.0, 6.0)], f64::INFINITY), []);
        assert_eq!(all.add(1, [], f64::INFINITY), [(1, 5.0, 6.0)]);
        assert!((all.read(0, 3.0) - 1.5).abs() < 1e-9 && (all.read(1, 1.0) - 2.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_starts_and_of_the_channels(
            lengths in prop::collection::vec(prop::collection::vec((0_u16..3000, 1_u16..3000), 0..8), 1..4),
            turns in prop::collection::vec(0_usize..4, 0..40),
        ) {
            // Of each channel the pause before and the length of each segment, in milliseconds.
            let of_channel = |(nth, lengths): (u8, &Vec<(u16, u16)>)| {
                let mut ms = 0_u32;
                let segments = lengths.iter().map(|(pause, length)| {
                    let start = ms + u32::from(*pause);
                    ms = start + u32::from(*length);
                    (nth, f64::from(start) / 1e3, f64::from(ms) / 1e3)
                });
                segments.collect::<VecDeque<_>>()
            };
            let mut channels: Vec<_> = (0..).zip(&lengths).map(of_channel).collect();
            let mut expected = channels.iter().flatten().copied().collect::<Vec<_>>();
            expected.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            let mut all = Interleaving::new(channels.len(), start);
            let mut given = Vec::new();
            for nth in turns {
                let Some(channel) = channels.get_mut(nth) else { continue };
                let next = channel.pop_front();
                let next_s = channel.front().map_or(f64::INFINITY, start);
                given.extend(all.add(nth, next, next_s));
            }
            for (nth, channel) in channels.into_iter().enumerate() {
                given.extend(all.add(nth, channel, f64::INFINITY));
            }
            prop_assert_eq!(given, expected);
        }
    }
}
