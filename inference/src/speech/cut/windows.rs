//! Cuts a recording into windows that are short enough for a model, while the recording is being decoded.
//! Windows are cut at pauses; where there is no pause, they overlap.
//!
//! Only one window is in memory at a time, so the memory use does not grow with the length of the recording.

use std::{iter, ops::Range};

use serde::{Deserialize, Serialize};

use super::{
    loudness::{Loudness, STEP, powers},
    runs,
};
use crate::speech::{features::SAMPLE_RATE, words::seconds};

/// Length of the longest window, samples. The memory that attention needs grows with its square, and the text of
/// longer windows is no better.
const LONGEST: usize = 14 * SAMPLE_RATE;
/// The overlap of two windows between which there is no pause, samples.
pub(super) const OVERLAP: usize = 4 * SAMPLE_RATE;
/// A window that is not the recording's last one is cut at the earliest this many samples after its
/// beginning.
const SHORTEST: usize = 8 * SAMPLE_RATE;
/// The shortest pause, steps (0.3 s).
const PAUSE: usize = 15;
/// The silence that is kept at each end of a window, steps (0.3 s).
const MARGIN: usize = 15;
/// A mean square below this is silence in any recording (-70 dB of full scale).
const SILENCE: f32 = 1e-7;
/// A mean square below this share of a window's loud parts is a pause (-35 dB).
const PAUSE_SHARE: f32 = 3.2e-4;

/// A part of a recording that a model processes at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The position of the first sample in the recording, a multiple of the chunker's grid.
    pub start: usize,
    /// The number of samples at the beginning that the window before also contains.
    pub(crate) overlap: usize,
    /// The pauses before which or after which there is sound, samples from the beginning. The first one begins at 0
    /// and ends at the onset of sound.
    pub(crate) pauses: Vec<Range<usize>>,
    /// The samples, at 16 kHz.
    pub samples: Vec<f32>,
    /// By how much the samples were made louder than they are in the recording, dB.
    pub gain_db: f32,
}

impl Window {
    /// The end of the window in the recording, seconds.
    pub fn end_s(&self) -> f64 {
        seconds(self.start + self.samples.len())
    }
}

/// From where the windows of a recording can be cut again without the sound before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowStart {
    /// The position in the recording, samples.
    pub sample: usize,
    /// Whether a part of the recording before it was loud enough not to be amplified.
    is_loud: bool,
}

impl WindowStart {
    /// The start of sound at this position of which nothing is known before.
    pub const fn at(sample: usize) -> Self {
        Self { sample, is_loud: false }
    }
}

/// Cuts a recording into windows while it is being decoded.
#[derive(Debug)]
pub struct Chunker {
    /// Windows begin at multiples of this many samples, so that the output frames of overlapping windows
    /// coincide.
    grid: usize,
    /// The position of the buffer's first sample in the recording.
    start: usize,
    /// The number of samples at the beginning of the buffer that the last window also contains.
    overlap: usize,
    buffer: Vec<f32>,
    loudness: Loudness,
}

impl Chunker {
    /// The length of the longest window, seconds.
    pub const LONGEST_S: usize = LONGEST / SAMPLE_RATE;

    /// A chunker for a model with `grid` samples from one output frame to the next.
    pub fn new(grid: usize) -> Self {
        Self::from(grid, WindowStart::default())
    }

    /// A chunker that goes on from where another one began a window. The window before it is not known, so it overlaps with none.
    pub fn from(grid: usize, start: WindowStart) -> Self {
        let buffer = Vec::with_capacity(LONGEST + SAMPLE_RATE);
        let loudness = Loudness { is_loud: start.is_loud };
        Self { grid: grid.max(1), start: start.sample, overlap: 0, buffer, loudness }
    }

    /// The start of the next window, and the position behind the sound that the windows before it have.
    pub const fn next_start(&self) -> (WindowStart, usize) {
        let start = WindowStart { sample: self.start, is_loud: self.loudness.is_loud };
        (start, self.start + self.overlap)
    }

    /// The start of the last window that has all sound from `position` on, by the further samples of the recording. It is the same
    /// one whether or not it was looked for at earlier positions before.
    pub fn last_start(mut self, samples: &[f32], position: usize) -> WindowStart {
        let (mut last, _) = self.next_start();
        for piece in samples.chunks(SHORTEST) {
            self.push(piece);
            let (start, known) = self.next_start();
            if known > position {
                break;
            }
            last = start;
        }
        last
    }

    /// Takes the next samples of the recording, and returns the windows that are complete now.
    pub fn push(&mut self, piece: &[f32]) -> Vec<Window> {
        self.buffer.extend_from_slice(piece);
        let mut windows = Vec::new();
        while self.buffer.len() > LONGEST {
            let (samples, gain_db) = self.loudness.audible(&self.buffer[..LONGEST]);
            let (end, overlap) = self.cut(&samples);
            windows.extend(self.window(&samples[..end], gain_db));
            self.advance(end - overlap, overlap);
        }
        windows
    }

    /// Ends the recording, and returns the last window if there is any sound in it.
    pub fn finish(mut self) -> Option<Window> {
        let (samples, gain_db) = self.loudness.audible(&self.buffer);
        self.window(&samples, gain_db)
    }

    /// The end of the next window, and the overlap with the window after it, samples. `samples`: the longest window.
    fn cut(&self, samples: &[f32]) -> (usize, usize) {
        let powers = powers(samples);
        let gate = gate(&powers);
        let best = runs::longest(SHORTEST / STEP..powers.len(), |i| powers[i] < gate);
        if best.len() >= PAUSE {
            (self.on_grid(usize::midpoint(best.start, best.end) * STEP), 0)
        } else {
            (self.on_grid(LONGEST), self.on_grid(OVERLAP))
        }
    }

    /// The window of the samples at the buffer's beginning, without the silence at its ends. `None` if it is all
    /// silence.
    fn window(&self, samples: &[f32], gain_db: f32) -> Option<Window> {
        let powers = powers(samples);
        let pause = gate(&powers);
        let silence = pause.min(SILENCE * 10.0);
        let first = powers.iter().position(|p| *p > silence)?;
        let last = powers.iter().rposition(|p| *p > silence)?;
        let onset = powers.iter().position(|p| *p > pause).unwrap_or(first);
        let from = self.on_grid(first.saturating_sub(MARGIN) * STEP);
        let to = ((last + 1 + MARGIN) * STEP).min(samples.len());
        let samples = samples[from..to].to_vec();
        let overlap = self.overlap.saturating_sub(from);
        let within = |steps: &Range<usize>| {
            (steps.start * STEP).saturating_sub(from)..(steps.end * STEP).saturating_sub(from)
        };
        let inner = inner_pauses(&powers[..=last], onset, pause);
        let pauses = iter::once(&(0..onset)).chain(&inner).map(within).collect();
        Some(Window { start: self.start + from, overlap, pauses, samples, gain_db })
    }

    fn advance(&mut self, by: usize, overlap: usize) {
        self.buffer.drain(..by);
        self.start += by;
        self.overlap = overlap;
    }

    const fn on_grid(&self, sample: usize) -> usize {
        sample / self.grid * self.grid
    }
}

/// The runs of at least [`PAUSE`] steps from `onset` on whose power is below the gate, and which end before the last
/// step.
fn inner_pauses(powers: &[f32], onset: usize, gate: f32) -> Vec<Range<usize>> {
    let mut pauses = Vec::new();
    let mut start = onset;
    for (step, power) in powers.iter().enumerate().skip(onset) {
        if *power >= gate {
            if step - start >= PAUSE {
                pauses.push(start..step);
            }
            start = step + 1;
        }
    }
    pauses
}

/// The power below which a step is a pause: a share of the power of the loud steps, and at least [`SILENCE`].
fn gate(powers: &[f32]) -> f32 {
    let mut sorted = powers.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let loud = sorted.get(sorted.len() * 19 / 20).copied().unwrap_or_default();
    (loud * PAUSE_SHARE).max(SILENCE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GRID: usize = 1280;

    /// Seconds of a loud hum, or of silence.
    fn sound(parts: &[(bool, f32)]) -> Vec<f32> {
        let part = |(loud, seconds): &(bool, f32)| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let n = (seconds * SAMPLE_RATE as f32) as usize;
            let level = if *loud { 0.2 } else { 0.0 };
            (0..n).map(move |i| level * if i % 80 < 40 { 1.0 } else { -1.0 })
        };
        parts.iter().flat_map(part).collect()
    }

    fn windows(samples: &[f32], piece: usize) -> Vec<Window> {
        let mut chunker = Chunker::new(GRID);
        let mut windows: Vec<Window> = samples.chunks(piece).flat_map(|p| chunker.push(p)).collect();
        windows.extend(chunker.finish());
        windows
    }

    #[test]
    fn silence_gives_no_window() {
        assert_eq!(windows(&sound(&[(false, 70.0)]), 16_000), []);
        assert_eq!(windows(&[], 16_000), []);
    }

    #[test]
    fn a_long_recording_is_cut_at_pauses_and_no_sound_is_lost() {
        let samples = sound(&[
            (true, 11.0),
            (false, 0.6),
            (true, 9.0),
            (false, 0.4),
            (true, 30.0),
            (false, 9.0),
            (true, 1.0),
        ]);
        let cut = windows(&samples, 7_777);
        assert_eq!(cut, windows(&samples, 16_000), "the size of the pieces makes no difference");
        let mut covered = vec![false; samples.len()];
        for window in &cut {
            assert_eq!(window.start % GRID, 0);
            assert!(window.samples.len() <= LONGEST);
            for pause in &window.pauses {
                assert!(window.samples[pause.clone()].iter().all(|s| *s == 0.0));
                assert!(window.samples[pause.end + STEP - 1].abs() > 0.0);
            }
            let range = window.start..window.start + window.samples.len();
            assert_eq!(window.samples, samples[range.clone()]);
            covered[range].fill(true);
        }
        let missed = samples.iter().zip(&covered).filter(|(s, covered)| **s != 0.0 && !**covered).count();
        assert_eq!(missed, 0);
        assert!(cut[0].samples.len() < 13 * SAMPLE_RATE, "the first window ends at the first pause");
    }

    #[test]
    fn windows_overlap_where_there_is_no_pause() {
        let cut = windows(&sound(&[(true, 60.0)]), 16_000);
        let overlaps: Vec<usize> = cut.iter().map(|w| w.overlap / GRID).collect();
        assert_eq!(overlaps, [0, 50, 50, 50, 50, 50]);
        assert_eq!(cut[1].start, cut[0].start + cut[0].samples.len() - cut[1].overlap);
    }

    fn any_sound() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec((any::<bool>(), 0.1..9.0_f32), 1..12).prop_map(|parts| sound(&parts))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn windows_from_a_start_are_those_of_the_whole_recording(samples in any_sound(), at in 0.0..1.0_f64, earlier in 0.0..1.0_f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let share = |of: usize, at: f64| (of as f64 * at) as usize;
            let position = share(samples.len(), at);
            let before = share(position, earlier);
            let first = Chunker::new(GRID).last_start(&samples[..position], before);
            let from_first = Chunker::from(GRID, first).last_start(&samples[first.sample..], position);
            let start = Chunker::new(GRID).last_start(&samples, position);
            prop_assert_eq!(from_first, start);
            let mut chunker = Chunker::from(GRID, start);
            let mut found = chunker.push(&samples[start.sample..]);
            found.extend(chunker.finish());
            let mut all = windows(&samples, 16_000);
            all.retain(|window| window.start >= start.sample);
            for window in &mut all[..1.min(found.len())] {
                window.overlap = 0;
            }
            prop_assert_eq!(found, all);
        }
    }
}
