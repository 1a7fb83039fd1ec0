//! Resamples mono from the rate of a file to 16 kHz, without a delay and without a change in length.

use std::fmt::Display;

use rubato::{Fft, FixedSync, Indexing, Resampler as _, audioadapter_buffers::direct::InterleavedSlice};

use super::sound::RATE;
use crate::decode::undecodable::Undecodable;

/// Length of the filter in samples at the lower of the two rates. The pass band ends at about 7.7 kHz at 16
/// kHz.
const FILTER: usize = 512;

/// Filters from this length on may be odd, because a filter of twice the length would be too long.
const MAX_ODD: usize = 4096;

/// Resamples a stream in chunks.
pub(super) struct Resampler {
    /// `None` if the stream already has 16 kHz.
    fft: Option<Fft<f32>>,
    rate: u32,
    /// Input samples that do not fill a chunk yet.
    pending: Vec<f32>,
    /// The output of one chunk.
    chunk: Vec<f32>,
    /// Samples of the filter's delay that are still to be removed from the start of the output.
    n_delay: usize,
    /// The chunks of digital silence before the next one.
    n_silent: u32,
    n_in: u64,
    n_out: u64,
}

impl Resampler {
    pub(super) fn new(rate: u32) -> Result<Self, Undecodable> {
        let fft = if rate == RATE {
            None
        } else {
            let fft =
                |n: usize| Fft::new(rate as usize, RATE as usize, n, 1, FixedSync::Both).map_err(failed);
            let first = fft(FILTER * rate.max(RATE) as usize / RATE as usize)?;
            // A filter of odd length reports a delay that is half a sample off.
            match first.input_frames_next() {
                n if n % 2 == 1 && n < MAX_ODD => Some(fft(n + 1)?),
                _ => Some(first),
            }
        };
        let n_chunk = fft.as_ref().map_or(0, rubato::Resampler::output_frames_max);
        let n_delay = fft.as_ref().map_or(0, rubato::Resampler::output_delay);
        Ok(Self {
            fft,
            rate,
            pending: Vec::new(),
            chunk: vec![0.0; n_chunk],
            n_delay,
            n_silent: 0,
            n_in: 0,
            n_out: 0,
        })
    }

    /// Takes the next input samples and appends the output that is ready to `out`.
    pub(super) fn push(&mut self, samples: &[f32], out: &mut Vec<f32>) -> Result<(), Undecodable> {
        self.n_in += samples.len() as u64;
        let Some(fft) = &self.fft else {
            out.extend_from_slice(samples);
            return Ok(());
        };
        self.pending.extend_from_slice(samples);
        let n_chunk = fft.input_frames_next();
        let n_whole = self.pending.len() / n_chunk * n_chunk;
        for start in (0..n_whole).step_by(n_chunk) {
            self.process(start, n_chunk, u64::MAX, out)?;
        }
        self.pending.drain(..n_whole);
        Ok(())
    }

    /// Appends the rest of the output. Its total length is then the input's length times the ratio of the
    /// rates.
    pub(super) fn finish(&mut self, out: &mut Vec<f32>) -> Result<(), Undecodable> {
        let n_all = (self.n_in * u64::from(RATE) + u64::from(self.rate) / 2) / u64::from(self.rate);
        while self.fft.is_some() && self.n_out < n_all {
            self.process(0, self.pending.len(), n_all, out)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Resamples `n` samples of `pending` from `start` on, as one chunk padded with silence. Appends the
    /// output to `out` until the total length is `n_all`.
    fn process(&mut self, start: usize, n: usize, n_all: u64, out: &mut Vec<f32>) -> Result<(), Undecodable> {
        let Some(fft) = &mut self.fft else { return Ok(()) };
        let n_pending = self.pending.len();
        let is_silent = self.pending[start..start + n].iter().all(|sample| *sample == 0.0);
        self.n_silent = if is_silent { self.n_silent.saturating_add(1) } else { 0 };
        // The filter is two chunks long, so silence after silence gives silence and changes nothing.
        if self.n_silent > 2 && self.n_delay == 0 {
            let n_wanted = usize::try_from(n_all - self.n_out).unwrap_or(usize::MAX);
            let n_given = self.chunk.len().min(n_wanted);
            self.n_out += n_given as u64;
            out.resize(out.len() + n_given, 0.0);
            return Ok(());
        }
        let input = InterleavedSlice::new(&self.pending, 1, n_pending).map_err(failed)?;
        let n_chunk = self.chunk.len();
        let mut output = InterleavedSlice::new_mut(&mut self.chunk, 1, n_chunk).map_err(failed)?;
        let part = Indexing::new().input_offset(start).partial_len(n);
        let (_, n_given) = fft.process_into_buffer(&input, &mut output, Some(&part)).map_err(failed)?;
        let n_skipped = self.n_delay.min(n_given);
        self.n_delay -= n_skipped;
        let n_wanted = usize::try_from(n_all - self.n_out).unwrap_or(usize::MAX);
        let kept = &self.chunk[n_skipped..n_given];
        let kept = &kept[..kept.len().min(n_wanted)];
        self.n_out += kept.len() as u64;
        out.extend_from_slice(kept);
        Ok(())
    }
}

/// Converts rubato's errors about buffer sizes. They are not expected here, but a file must not stop a
/// worker.
fn failed(error: impl Display) -> Undecodable {
    Undecodable::new("undecodable", format!("the sound cannot be resampled to 16 kHz: {error}"))
}
