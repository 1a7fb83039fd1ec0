//! Reads the parts of a NeMo export's `config.json` that are needed to run the model.

use serde::Deserialize;

use super::{features::LogMel, normalise::GlobalCmvn};
use crate::{LoadError, Manifest};

/// The features that a model takes, and its subsampling.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    /// The number of mel bands.
    pub(super) features_size: usize,
    /// The number of feature frames for one output frame.
    pub(super) subsampling_factor: usize,
    /// Statistics for the normalisation of short recordings. Only the bundled models have them.
    #[serde(alias = "usual_speech")]
    global_cmvn: Option<GlobalCmvn>,
}

impl Config {
    pub(super) fn read(manifest: &Manifest) -> Result<Self, LoadError> {
        let config: Self = serde_json::from_slice(&manifest.read("config")?)
            .map_err(|e| manifest.inconsistent(format!("the model's config.json is not valid: {e}")))?;
        let (size, factor) = (config.features_size, config.subsampling_factor);
        if !(1..=256).contains(&size) || !(1..=64).contains(&factor) {
            let what = format!(
                "the model's config.json has features_size {size} and subsampling_factor {factor}: \
                 expected 1 to 256 and 1 to 64"
            );
            return Err(manifest.inconsistent(what).into());
        }
        if config.global_cmvn.as_ref().is_some_and(|global| !global.fits(size)) {
            let what = format!(
                "global_cmvn in the model's config.json does not fit {size} features: \
                 expected frames of 1 to 10000, and a mean and a deviation for each feature"
            );
            return Err(manifest.inconsistent(what).into());
        }
        Ok(config)
    }

    /// The feature extraction that the model expects.
    pub(super) fn front_end(&self) -> LogMel {
        LogMel::new(self.features_size).with_global_cmvn(self.global_cmvn.clone())
    }
}
