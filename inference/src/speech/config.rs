//! The part of a NeMo export's `config.json` that is needed to run it.

use serde::Deserialize;

use super::{features::LogMel, normalise::GlobalCmvn};
use crate::{LoadError, Manifest};

/// The features a model takes, and how many of their frames make one output frame.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) features_size: usize,
    pub(super) subsampling_factor: usize,
    /// Statistics that short recordings are normalised with besides; only the bundled models have them.
    #[serde(alias = "usual_speech")]
    global_cmvn: Option<GlobalCmvn>,
}

impl Config {
    pub(super) fn read(manifest: &Manifest) -> Result<Self, LoadError> {
        let config: Self = serde_json::from_slice(&manifest.read("config")?)
            .map_err(|e| manifest.inconsistent(format!("its config: {e}")))?;
        let (size, factor) = (config.features_size, config.subsampling_factor);
        if !(1..=256).contains(&size) || !(1..=64).contains(&factor) {
            let expected = "expected 1 to 256 and 1 to 64";
            let what = format!("its config: features_size {size}, subsampling_factor {factor}, {expected}");
            return Err(manifest.inconsistent(what).into());
        }
        if config.global_cmvn.as_ref().is_some_and(|global| !global.fits(size)) {
            let expected = "expected frames of 1 to 10000, a mean and a deviation of each";
            let what = format!("its config: global_cmvn does not fit {size} features, {expected}");
            return Err(manifest.inconsistent(what).into());
        }
        Ok(config)
    }

    /// The feature extraction that it describes.
    pub(super) fn front_end(&self) -> LogMel {
        LogMel::new(self.features_size).with_global_cmvn(self.global_cmvn.clone())
    }
}
