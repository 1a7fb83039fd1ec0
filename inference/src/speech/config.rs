//! The part of a NeMo export's `config.json` that is needed to run it.

use serde::Deserialize;

use super::{features::LogMel, normalise::Usual};
use crate::{LoadError, Manifest};

/// What features a model takes, and how many of their frames make one of its own.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) features_size: usize,
    pub(super) subsampling_factor: usize,
    /// What it has short recordings normalised with; ours alone have this.
    usual_speech: Option<Usual>,
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
        if config.usual_speech.as_ref().is_some_and(|usual| !usual.fits(size)) {
            let expected = "expected frames of 1 to 10000, a mean and a deviation of each";
            let what = format!("its config: usual_speech does not fit {size} features, {expected}");
            return Err(manifest.inconsistent(what).into());
        }
        Ok(config)
    }

    /// What makes the features.
    pub(super) fn front_end(&self) -> LogMel {
        LogMel::new(self.features_size).with_usual(self.usual_speech.clone())
    }
}
