//! Cuts a long recording into pieces that the server accepts, each at the quietest place: samples come in, second by
//! second, and pieces go out.

use akhar_worker::Recording;

/// Samples in a second.
pub(super) const RATE: usize = Recording::RATE as usize;
/// The shortest piece that is cut off, samples: 40 s.
const SHORTEST: usize = 40 * RATE;
/// The longest piece, samples: 60 s. As a WAV file it has 1.92 MB.
const LONGEST: usize = 60 * RATE;
/// The length of the place that must be quiet, samples: 0.2 s, about the pause between two phrases.
const PAUSE: usize = RATE / 5;
/// The distance between the places that are compared, samples: 10 ms.
const STEP: usize = RATE / 100;
/// A place is a pause if its energy is at most this share of the mean: 6 dB below it.
const PAUSE_SHARE: f64 = 0.25;

/// A part of a recording.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Samples of the recording before this piece.
    pub(super) start: usize,
    /// Samples from -1 to 1, at 16 kHz.
    pub(super) samples: Vec<f32>,
    /// Whether it ends in a pause, or with the recording.
    pub(super) ends_in_pause: bool,
}

/// Cuts one recording.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// Samples of the pieces that are cut off.
    start: usize,
    /// Samples that are in no piece yet.
    rest: Vec<f32>,
}

impl Cutter {
    /// Takes the next samples, at most a minute of them. Returns a piece if there are enough for one.
    pub(super) fn push(&mut self, samples: &[f32]) -> Option<Piece> {
        self.rest.extend_from_slice(samples);
        if self.rest.len() <= LONGEST {
            return None;
        }
        let cut = quietest(&self.rest);
        Some(self.take(&cut))
    }

    /// The pieces of the rest.
    pub(super) fn finish(mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while !self.rest.is_empty() {
            let end = Cut { at: self.rest.len(), is_pause: true };
            let cut = if self.rest.len() > LONGEST { quietest(&self.rest) } else { end };
            pieces.push(self.take(&cut));
        }
        pieces
    }

    fn take(&mut self, cut: &Cut) -> Piece {
        let rest = self.rest.split_off(cut.at);
        let samples = std::mem::replace(&mut self.rest, rest);
        let piece = Piece { start: self.start, samples, ends_in_pause: cut.is_pause };
        self.start += cut.at;
        piece
    }
}

/// Where a piece ends.
struct Cut {
    /// Samples in the piece.
    at: usize,
    is_pause: bool,
}

/// The middle of the quietest place between the shortest and the longest piece; of equally quiet places the last one, so
/// that pieces are long. `samples` must be longer than the longest piece.
fn quietest(samples: &[f32]) -> Cut {
    let energy = |part: &[f32]| part.iter().map(|x| f64::from(x * x)).sum::<f64>();
    let steps: Vec<f64> = samples[SHORTEST..LONGEST].chunks(STEP).map(energy).collect();
    let n = PAUSE / STEP;
    let mean: f64 = steps.iter().sum::<f64>() * share(n, steps.len());
    let places = steps.windows(n).map(|place| place.iter().sum::<f64>()).enumerate();
    let quietest = places.reduce(|best, place| if place.1 <= best.1 { place } else { best });
    let (first, energy) = quietest.unwrap_or_default();
    Cut { at: SHORTEST + first * STEP + PAUSE / 2, is_pause: energy <= mean * PAUSE_SHARE }
}

impl Piece {
    /// The time of the piece's start in the recording, seconds.
    pub(super) fn start_s(&self) -> f64 {
        seconds(self.start)
    }

    /// The time of the piece's end in the recording, seconds.
    pub(super) fn end_s(&self) -> f64 {
        seconds(self.start + self.samples.len())
    }

    /// The piece as a WAV file with one channel, 16 kHz and 16 bits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a piece is short, and the cast of a float saturates"
    )]
    pub(super) fn wav(&self) -> Vec<u8> {
        let n_bytes = self.samples.len() as u32 * 2;
        let mut file = Vec::with_capacity(44 + n_bytes as usize);
        file.extend(b"RIFF");
        file.extend((36 + n_bytes).to_le_bytes());
        file.extend(b"WAVEfmt ");
        file.extend(16_u32.to_le_bytes()); // bytes of the format
        file.extend(1_u16.to_le_bytes()); // PCM
        file.extend(1_u16.to_le_bytes()); // channels
        file.extend(Recording::RATE.to_le_bytes());
        file.extend((2 * Recording::RATE).to_le_bytes()); // bytes in a second
        file.extend(2_u16.to_le_bytes()); // bytes of a frame
        file.extend(16_u16.to_le_bytes()); // bits
        file.extend(b"data");
        file.extend(n_bytes.to_le_bytes());
        file.extend(self.samples.iter().flat_map(|x| ((x * 32767.0).round() as i16).to_le_bytes()));
        file
    }
}

/// The length of `n` samples, seconds.
pub(crate) fn seconds(n: usize) -> f64 {
    share(n, RATE)
}

#[expect(clippy::cast_precision_loss, reason = "a recording has fewer samples than 2^52")]
fn share(n: usize, of: usize) -> f64 {
    n as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(samples: &[f32]) -> Vec<Piece> {
        let mut cutter = Cutter::default();
        let mut pieces: Vec<Piece> = samples.chunks(RATE).filter_map(|second| cutter.push(second)).collect();
        pieces.extend(cutter.finish());
        pieces
    }

    /// A hum of this many samples that is silent around these places.
    fn hum(n: usize, pauses: &[usize]) -> Vec<f32> {
        let mut samples = vec![0.25; n];
        for &pause in pauses {
            let end = (pause + PAUSE / 2).min(n);
            samples[pause.saturating_sub(PAUSE / 2).min(end)..end].fill(0.0);
        }
        samples
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn pieces_are_the_whole_recording_in_order_and_fit(
            n in 0..250 * RATE,
            pauses in prop::collection::vec(0..250 * RATE, 0..8),
        ) {
            let samples = hum(n, &pauses.iter().map(|at| at % n.max(1)).collect::<Vec<_>>());
            let pieces = pieces(&samples);
            let joined: Vec<f32> = pieces.iter().flat_map(|piece| piece.samples.iter().copied()).collect();
            prop_assert_eq!(joined, samples);
            let mut at = 0;
            for (nth, piece) in pieces.iter().enumerate() {
                prop_assert_eq!(piece.start, at);
                at += piece.samples.len();
                prop_assert!(piece.samples.len() <= LONGEST && !piece.samples.is_empty());
                prop_assert!(piece.samples.len() >= SHORTEST || nth + 1 == pieces.len());
                prop_assert!(piece.wav().len() <= akhar_client::MAX_RECORDING_BYTES);
            }
        }
    }

    #[test]
    fn a_piece_ends_in_the_middle_of_a_pause() {
        let pauses = [47 * RATE, 95 * RATE + RATE / 2];
        let pieces = pieces(&hum(130 * RATE, &pauses));
        let starts: Vec<usize> = pieces.iter().map(|piece| piece.start).collect();
        assert_eq!(starts.len(), 3);
        for (start, pause) in starts[1..].iter().zip(pauses) {
            assert!(start.abs_diff(pause) <= STEP, "{start} instead of {pause}");
        }
        assert!(pieces.iter().all(|piece| piece.ends_in_pause));
    }

    #[test]
    fn a_piece_without_a_pause_says_so() {
        let pieces = pieces(&hum(70 * RATE, &[]));
        assert_eq!(pieces.iter().map(|piece| piece.ends_in_pause).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_silent_recording_has_pieces_as_long_as_possible() {
        let pieces = pieces(&vec![0.0; 150 * RATE]);
        assert!(pieces[0].samples.len() > LONGEST - PAUSE, "{}", pieces[0].samples.len());
    }

    #[test]
    fn a_piece_is_a_wav_file() {
        let wav = Piece { start: 0, samples: vec![0.0, 1.0, -1.0, 2.0], ends_in_pause: true }.wav();
        assert_eq!((&wav[..4], &wav[8..16], wav.len()), (&b"RIFF"[..], &b"WAVEfmt "[..], 52));
        assert_eq!(&wav[44..], [0, 0, 0xff, 0x7f, 0x01, 0x80, 0xff, 0x7f]);
    }
}
