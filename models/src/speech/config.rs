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
    #[serde(default)]
    usual_speech: Option<Usual>,
}

impl Config {
    pub(super) fn read(manifest: &Manifest) -> Result<Self, LoadError> {
        let config: Self = serde_json::from_slice(&manifest.read("config")?)
            .map_err(|e| manifest.inconsistent(format!("its config: {e}")))?;
        if !(1..=256).contains(&config.features_size)
            || !(1..=64).contains(&config.subsampling_factor)
            || config.usual_speech.as_ref().is_some_and(|usual| !usual.fits(config.features_size))
        {
            return Err(manifest.inconsistent(format!("its config: {config:?}")).into());
        }
        Ok(config)
    }

    /// What makes the features.
    pub(super) fn front_end(&self) -> LogMel {
        LogMel::new(self.features_size).with_usual(self.usual_speech.clone())
    }
}
