//! Runs transducers with durations (TDT) as NeMo exports them: from batches of windows' features to tokens.
//!
//! At each frame, the joint network gives a token or the blank, and the number of frames to advance. The state of the prediction network changes only after a token.

#[cfg(test)]
mod golden_tests;

use std::sync::Arc;

use super::{
    SpeechModel, WindowInput, WindowOutput,
    nemo::{self, ExportConfig},
};
use crate::{
    cast::dimension,
    error::LoadError,
    manifest::Manifest,
    runtime::{RetainedTensor, Runtime, RuntimeError, Session, Tensor},
    scores::highest,
    speech::{
        ctc::Units,
        features::{Batch, Features, FrontEnd, HOP},
        words::{Clock, Token, Transcript},
    },
};

/// The largest number of tokens at one frame.
const MAX_TOKENS: usize = 10;

/// A loaded transducer.
pub(super) struct Transducer {
    encoder: Session,
    joint: Session,
    units: Units,
    config: ExportConfig,
    /// The number of layers and the width of the prediction network's state.
    state: [i64; 2],
}

/// The output of the joint network for one frame.
struct JointOutput {
    unit: usize,
    /// The number of frames to advance.
    duration: usize,
    state: [RetainedTensor; 2],
}

impl SpeechModel for Transducer {
    fn front_end(&self) -> Arc<dyn FrontEnd> {
        Arc::new(self.config.front_end())
    }

    fn clock(&self) -> Clock {
        Clock { grid: self.config.subsampling_factor * HOP, latency_s: 0.0 }
    }

    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        _language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        let features: Vec<&Features> = windows.iter().map(|window| window.features).collect();
        Ok(self.transcribe(&features)?.into_iter().map(WindowOutput::Transcript).collect())
    }
}

impl Transducer {
    pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let config = ExportConfig::read(manifest)?;
        let encoder = runtime.open(&manifest.id, manifest.graph("encoder")?, n_threads)?;
        let joint = runtime.open(&manifest.id, manifest.graph("decoder")?, 1)?;
        let state = match joint.input("input_states_1").as_deref() {
            Some(&[layers, _, width]) if layers > 0 && width > 0 => [layers, width],
            other => {
                let what = format!(
                    "the decoder's input_states_1 has the shape {other:?}, expected [layers, _, width]"
                );
                return Err(joint.layout_error(what).into());
            }
        };
        Ok(Self { encoder, joint, units: Units::read(manifest)?, config, state })
    }

    /// Transcribes windows. The encoder runs on all of them as one batch. Each window must have at least one
    /// frame.
    fn transcribe(&mut self, windows: &[&Features]) -> Result<Vec<Transcript>, RuntimeError> {
        let batch = Batch::of(windows);
        let [encoded, lengths] = self.encoder.run(nemo::inputs(&batch), ["outputs", "encoded_lengths"])?;
        let &[n, width, n_frames] = &encoded.shape[..] else {
            let what = format!("expected outputs with 3 dimensions, found the shape {:?}", encoded.shape);
            return Err(self.encoder.layout_error(what));
        };
        if n != windows.len() || lengths.values.len() != n {
            let what = format!(
                "for {0} windows it gave outputs of the shape {1:?} and encoded_lengths of the shape {2:?}: \
                 expected [{0}, width, frames] and [{0}]",
                windows.len(),
                encoded.shape,
                lengths.shape
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
                    reason = "a window has a few thousand frames"
                )]
                let n_valid = (*length as usize).min(n_frames);
                self.decode(block, n_frames, n_valid)
            })
            .collect()
    }

    /// Decodes one window's encoding, which has the shape `[width, frames]`.
    fn decode(&mut self, block: &[f32], n_frames: usize, n_valid: usize) -> Result<Transcript, RuntimeError> {
        let mut tokens = Vec::new();
        let mut blanks = vec![true; n_valid];
        let mut last = self.units.blank();
        let mut state: Option<[RetainedTensor; 2]> = None;
        let mut t = 0;
        let mut n_tokens = 0;
        while t < n_valid {
            let frame: Vec<f32> = block.iter().skip(t).step_by(n_frames).copied().collect();
            let output = self.step(&frame, last, state.as_ref())?;
            let is_blank = output.unit == self.units.blank();
            if !is_blank {
                let end = (t + output.duration.max(1)).min(n_valid);
                blanks[t..end].fill(false);
                tokens.push(Token::new(self.units.text(output.unit), t, end));
                last = output.unit;
                state = Some(output.state);
                n_tokens += 1;
            }
            if output.duration > 0 {
                t += output.duration;
                n_tokens = 0;
            } else if is_blank || n_tokens == MAX_TOKENS {
                t += 1;
                n_tokens = 0;
            }
        }
        Ok(Transcript { tokens, blanks })
    }

    /// Runs the joint network for one frame. `last` is the last token, and `state` the prediction network's
    /// state.
    fn step(
        &mut self,
        frame: &[f32],
        last: usize,
        state: Option<&[RetainedTensor; 2]>,
    ) -> Result<JointOutput, RuntimeError> {
        let [layers, width] = self.state;
        let zeros = vec![0.0; usize::try_from(layers * width).unwrap_or(0)];
        let state_shape = [layers, 1, width];
        let state_tensor = |n: usize| {
            state.map_or(Tensor::F32(&state_shape, &zeros), |retained| Tensor::Retained(&retained[n]))
        };
        let frame_shape = [1, dimension(frame.len()), 1];
        let target = [i32::try_from(last).unwrap_or(i32::MAX)];
        let inputs = vec![
            ("encoder_outputs", Tensor::F32(&frame_shape, frame)),
            ("targets", Tensor::I32(&[1, 1], &target)),
            ("target_length", Tensor::I32(&[1], &[1])),
            ("input_states_1", state_tensor(0)),
            ("input_states_2", state_tensor(1)),
        ];
        let retained = self.joint.run_retained(inputs, &["outputs", "output_states_1", "output_states_2"])?;
        let Ok([outputs, first, second]) = <[RetainedTensor; 3]>::try_from(retained) else {
            return Err(self.joint.layout_error("expected 3 outputs, found another number"));
        };
        let scores = self.joint.read(&outputs)?.values;
        let n_units = self.units.len();
        let split = scores.split_at_checked(n_units).filter(|(_, durations)| !durations.is_empty());
        let Some((units, durations)) = split else {
            let n = scores.len();
            let what =
                format!("it gave {n} scores: expected those of {n_units} units and at least one duration");
            return Err(self.joint.layout_error(what));
        };
        Ok(JointOutput { unit: highest(units), duration: highest(durations), state: [first, second] })
    }
}
