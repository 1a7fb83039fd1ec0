//! Transducers of the NeMo layouts, with durations (TDT) and without (RNNT): windows' features come in, in
//! batches; tokens come out.
//!
//! At each frame the joint network says a token or nothing, and with durations how many frames to go on;
//! what it remembers changes only when something is said.

use super::{
    Units,
    config::Config,
    decoder::{Reading, Token},
    features::{Features, batch},
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    runtime::{Kept, Session, Tensor},
    scores::highest,
};

/// Tokens a frame may have at most.
const MAX_TOKENS: usize = 10;

/// A loaded transducer.
pub(crate) struct Transducer {
    encoder: Session,
    joint: Session,
    units: Units,
    config: Config,
    /// Layers and width of what the joint network remembers.
    memory: [i64; 2],
    has_durations: bool,
}

/// What the joint network says at a frame.
struct Said {
    unit: usize,
    /// Frames to go on.
    duration: usize,
    memory: [Kept; 2],
}

impl Transducer {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let config = Config::read(manifest)?;
        let encoder = runtime.open(&manifest.id, &manifest.read("encoder")?, n_threads)?;
        let joint = runtime.open(&manifest.id, &manifest.read("decoder")?, 1)?;
        let memory = match joint.input("input_states_1").as_deref() {
            Some(&[layers, _, width]) if layers > 0 && width > 0 => [layers, width],
            other => {
                let what = format!("its decoder's input_states_1 is {other:?}, expected [layers, _, width]");
                return Err(joint.layout_error(what).into());
            }
        };
        let has_durations = manifest.layout == Layout::NemoTdt;
        Ok(Self { encoder, joint, units: Units::read(manifest)?, config, memory, has_durations })
    }

    pub(super) const fn config(&self) -> &Config {
        &self.config
    }

    /// Reads windows of at least one frame each, encoded together.
    pub(crate) fn read(&mut self, windows: &[&Features]) -> Result<Vec<Reading>, RuntimeError> {
        let batch = batch(windows);
        let inputs = vec![
            ("audio_signal", Tensor::F32(&batch.shape, &batch.signal)),
            ("length", Tensor::I64(&batch.shape[..1], &batch.lengths)),
        ];
        let [encoded, lengths] = self.encoder.run(inputs, ["outputs", "encoded_lengths"])?;
        let &[n, width, n_frames] = &encoded.shape[..] else {
            return Err(self.encoder.layout_error(format!("gave outputs {:?}", encoded.shape)));
        };
        if n != windows.len() || lengths.values.len() != n {
            let what = format!(
                "gave outputs {:?} and {:?} for {} windows",
                encoded.shape,
                lengths.shape,
                windows.len()
            );
            return Err(self.encoder.layout_error(what));
        }
        let blocks = encoded.values.chunks_exact((width * n_frames).max(1));
        blocks
            .zip(&lengths.values)
            .map(|(block, length)| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a few thousand frames"
                )]
                let n_valid = (*length as usize).min(n_frames);
                self.decode(block, n_frames, n_valid)
            })
            .collect()
    }

    /// Tokens of one window's encoding, `[width, frames]`.
    fn decode(&mut self, block: &[f32], n_frames: usize, n_valid: usize) -> Result<Reading, RuntimeError> {
        let mut tokens = Vec::new();
        let mut blanks = vec![true; n_valid];
        let mut last = self.units.blank();
        let mut memory: Option<[Kept; 2]> = None;
        let (mut t, mut n_said) = (0, 0);
        while t < n_valid {
            let frame: Vec<f32> = block.iter().skip(t).step_by(n_frames).copied().collect();
            let said = self.say(&frame, last, memory.as_ref())?;
            let is_blank = said.unit == self.units.blank();
            if !is_blank {
                let end = (t + said.duration.max(1)).min(n_valid);
                blanks[t..end].fill(false);
                tokens.push(Token { text: self.units.text(said.unit).to_owned(), frame: t, end });
                (last, memory) = (said.unit, Some(said.memory));
                n_said += 1;
            }
            if said.duration > 0 {
                t += said.duration;
                n_said = 0;
            } else if is_blank || n_said == MAX_TOKENS {
                t += 1;
                n_said = 0;
            }
        }
        Ok(Reading { tokens, blanks })
    }

    /// One step: what follows `last` at a frame.
    fn say(&mut self, frame: &[f32], last: usize, memory: Option<&[Kept; 2]>) -> Result<Said, RuntimeError> {
        let [layers, width] = self.memory;
        let nothing = vec![0.0; usize::try_from(layers * width).unwrap_or(0)];
        let state_shape = [layers, 1, width];
        let state =
            |n: usize| memory.map_or(Tensor::F32(&state_shape, &nothing), |kept| Tensor::Kept(&kept[n]));
        let frame_shape = [1, i64::try_from(frame.len()).unwrap_or(i64::MAX), 1];
        let target = [i32::try_from(last).unwrap_or(i32::MAX)];
        let inputs = vec![
            ("encoder_outputs", Tensor::F32(&frame_shape, frame)),
            ("targets", Tensor::I32(&[1, 1], &target)),
            ("target_length", Tensor::I32(&[1], &[1])),
            ("input_states_1", state(0)),
            ("input_states_2", state(1)),
        ];
        let kept = self.joint.keep(inputs, &["outputs", "output_states_1", "output_states_2"])?;
        let Ok([outputs, first, second]) = <[Kept; 3]>::try_from(kept) else {
            return Err(self.joint.layout_error("gave another number of outputs"));
        };
        let scores = self.joint.read(&outputs)?.values;
        let n_units = self.units.len();
        let n_durations = scores.len().checked_sub(n_units);
        let fits = n_durations.is_some_and(|n| (n > 0) == self.has_durations);
        let Some((units, durations)) = scores.split_at_checked(n_units).filter(|_| fits) else {
            let kind = if self.has_durations { "and some durations" } else { "and no durations" };
            let what = format!("gave {} scores, expected those of {n_units} units {kind}", scores.len());
            return Err(self.joint.layout_error(what));
        };
        Ok(Said { unit: highest(units), duration: highest(durations), memory: [first, second] })
    }
}
