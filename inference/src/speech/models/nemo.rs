//! What NeMo's exports have in common: the encoder's inputs, and the parts of `config.json` that are needed to run a model.
//! Whisper CTC models have such a file, too.

use serde::Deserialize;

use crate::{
    error::LoadError,
    manifest::Manifest,
    runtime::Tensor,
    speech::features::{Batch, GlobalCmvn, HOP, LogMel, RATE_HZ},
};

/// The features that a model takes, and its subsampling.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ExportConfig {
    /// The number of mel bands.
    #[serde(default = "usual_features_size")]
    pub(super) features_size: usize,
    /// The number of feature frames for one output frame.
    pub(super) subsampling_factor: usize,
    /// Statistics for the normalisation of short recordings. Only the bundled models have them.
    #[serde(alias = "usual_speech")]
    global_cmvn: Option<GlobalCmvn>,
    /// Silence that is put before and behind each window, seconds. Only the layout `whisper-ctc` uses it.
    #[serde(default)]
    padding_s: f64,
}

/// The longest silence that may be put before and behind a window, seconds.
const MAX_PADDING_S: f64 = 2.0;

/// The number of mel bands of most models, whose `config.json` may leave it out.
const fn usual_features_size() -> usize {
    80
}

/// The inputs of an encoder.
pub(super) fn inputs(batch: &Batch) -> Vec<(&'static str, Tensor<'_>)> {
    named_inputs(batch, ["audio_signal", "length"])
}

/// The inputs of an encoder that gives the features and their lengths these names.
pub(super) fn named_inputs<'a>(
    batch: &'a Batch,
    names: [&'static str; 2],
) -> Vec<(&'static str, Tensor<'a>)> {
    let signal = Tensor::F32(&batch.shape, &batch.signal);
    let lengths = Tensor::I64(&batch.shape[..1], &batch.lengths);
    names.into_iter().zip([signal, lengths]).collect()
}

impl ExportConfig {
    pub(super) fn read(manifest: &Manifest) -> Result<Self, LoadError> {
        let invalid = |e: String| manifest.inconsistent(format!("the model's config is not valid: {e}"));
        let config: Self = match manifest.config.clone() {
            Some(table) => table.try_into().map_err(|e: toml::de::Error| invalid(e.to_string()))?,
            None => serde_json::from_slice(&manifest.read("config")?).map_err(|e| invalid(e.to_string()))?,
        };
        let size = config.features_size;
        let factor = config.subsampling_factor;
        if !(1..=256).contains(&size) || !(1..=64).contains(&factor) {
            let what = format!(
                "the model's config has features_size {size} and subsampling_factor {factor}: \
                 expected 1 to 256 and 1 to 64"
            );
            return Err(manifest.inconsistent(what).into());
        }
        if !(0.0..=MAX_PADDING_S).contains(&config.padding_s) {
            let what = format!(
                "the model's config has padding_s {}: expected 0 to {MAX_PADDING_S}",
                config.padding_s
            );
            return Err(manifest.inconsistent(what).into());
        }
        if config.global_cmvn.as_ref().is_some_and(|global| !global.fits(size)) {
            let what = format!(
                "global_cmvn in the model's config does not fit {size} features: \
                 expected frames of 1 to 10000, and a mean and a deviation for each feature"
            );
            return Err(manifest.inconsistent(what).into());
        }
        Ok(config)
    }

    /// The silence before and behind each window, output frames.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the padding is 0 to 2 s")]
    pub(super) fn n_padding(&self) -> usize {
        (self.padding_s * RATE_HZ) as usize / (self.subsampling_factor * HOP)
    }

    /// The feature extraction that the model expects.
    pub(super) fn front_end(&self) -> LogMel {
        LogMel::new(self.features_size).with_global_cmvn(self.global_cmvn.clone())
    }
}
