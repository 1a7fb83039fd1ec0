//! Reads the configuration from a file and from environment variables, and checks it.
//!
//! Each setting has one name: `listen` in the file is `AKHAR_LISTEN` in the environment. If a setting is in both, the
//! environment variable is used. An unknown name is an error in either place. `.env.example` lists all settings.

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf, time::Duration};

use figment::{
    Figment,
    providers::{Env, Format as _, Toml},
};
use secrecy::SecretString;
use serde::Deserialize;

/// The configuration file that is read if `AKHAR_CONFIG` is not set. It need not exist.
pub const DEFAULT_FILE: &str = "akhar.toml";

const PREFIX: &str = "AKHAR_";

/// What models run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// Everything an operator can set, with its default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address the api listens on.
    pub listen: SocketAddr,
    /// Postgres to use. Unset, `akhar serve` runs a private one under `data_dir`.
    pub database_url: Option<SecretString>,
    /// Connections in this process's pools. Beside them it opens one that listens, and an api two and a worker three
    /// for the queue's statements.
    pub database_connections: NonZeroUsize,
    /// Where `akhar serve` keeps its private Postgres.
    pub data_dir: PathBuf,
    /// Folder of model manifests.
    pub models_dir: PathBuf,
    /// Where `akhar models pull` fetches from.
    pub hub: String,
    /// What the hub is shown for models that are not open to everybody.
    pub hub_token: Option<SecretString>,
    /// An operator's own catalogue of models to pull, laid over the built-in one.
    pub catalogue: Option<PathBuf>,
    /// ONNX Runtime's shared library.
    pub ort_dylib: PathBuf,
    /// What models run on.
    pub device: Device,
    /// Quick jobs one worker process runs at a time.
    pub worker_concurrency: NonZeroUsize,
    /// Speech jobs one worker process runs at a time.
    pub speech_concurrency: NonZeroUsize,
    /// Images one model run takes at most.
    pub max_batch: NonZeroUsize,
    /// Windows of speech one model run takes at most.
    pub max_windows: NonZeroUsize,
    /// Threads one model run uses.
    pub inference_threads: NonZeroUsize,
    /// Seconds one attempt at a quick job may take.
    pub quick_timeout_s: u64,
    /// Seconds one attempt at a speech job may take.
    pub speech_timeout_s: u64,
    /// Pixels an image may claim to have; more is refused unread.
    pub max_image_pixels: u64,
    /// Threads for network and database work in one process. Fewer wake each other less: on two cores,
    /// one answers sooner than two.
    pub async_threads: NonZeroUsize,
    /// Jobs that may wait in one queue; more are turned away.
    pub max_waiting: i64,
    /// Requests one api process holds at a time; more are turned away.
    pub max_requests: NonZeroUsize,
    /// Seconds a response to a quick job is held before it becomes a 202.
    pub quick_wait_s: u64,
    /// Seconds a response to a speech job is held before it becomes a 202.
    pub speech_wait_s: u64,
    /// Seconds an outcome is kept after its job ended.
    pub retention_s: u64,
    /// Seconds work in flight has to finish once told to stop.
    pub shutdown_s: u64,
    /// How log lines look.
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For eyes.
    Human,
    /// One JSON object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        const fn n(n: usize) -> NonZeroUsize {
            match NonZeroUsize::new(n) {
                Some(n) => n,
                None => NonZeroUsize::MIN,
            }
        }
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database_url: None,
            database_connections: n(12),
            data_dir: "data".into(),
            models_dir: "models".into(),
            hub: "https://huggingface.co".to_owned(),
            hub_token: None,
            catalogue: None,
            ort_dylib: ".cache/onnxruntime/libonnxruntime.so".into(),
            device: Device::Cpu,
            worker_concurrency: n(32),
            speech_concurrency: n(2),
            max_batch: n(16),
            max_windows: n(4),
            inference_threads: n(1),
            quick_timeout_s: 30,
            speech_timeout_s: 1800,
            max_image_pixels: 4096 * 4096,
            async_threads: n(std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2))),
            max_waiting: 1000,
            max_requests: n(2000),
            quick_wait_s: 30,
            speech_wait_s: 300,
            retention_s: 24 * 60 * 60,
            shutdown_s: 30,
            log_format: LogFormat::Human,
        }
    }
}

/// Why the configuration cannot be used. The text names the setting, its value and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An unknown name, or a value of the wrong type, in the file or the environment.
    #[error("configuration: {0}")]
    Invalid(Box<figment::Error>),
    /// `AKHAR_CONFIG` names a file that does not exist.
    #[error("configuration: AKHAR_CONFIG names the file {}, which does not exist", .0.display())]
    NoFile(PathBuf),
    /// A number outside its range.
    #[error("configuration: {key} is {value}, expected {expected}")]
    OutOfRange {
        /// The name of the setting.
        key: &'static str,
        /// Its value.
        value: String,
        /// The values that are allowed.
        expected: &'static str,
    },
}

impl Config {
    /// Reads the file that `AKHAR_CONFIG` names (or [`DEFAULT_FILE`], if present), then the environment.
    pub fn load() -> Result<Self, ConfigError> {
        let mut figment = Figment::new();
        let named = Env::var("AKHAR_CONFIG").map(PathBuf::from);
        let file = named.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        if file.is_file() {
            figment = figment.merge(Toml::file_exact(file));
        } else if let Some(missing) = named {
            return Err(ConfigError::NoFile(missing));
        }
        Self::from_figment(&figment.merge(Env::prefixed(PREFIX).ignore(&["config"])))
    }

    fn from_figment(figment: &Figment) -> Result<Self, ConfigError> {
        let config: Self = figment.extract().map_err(|e| ConfigError::Invalid(Box::new(e)))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let positive = [
            ("quick_timeout_s", self.quick_timeout_s),
            ("speech_timeout_s", self.speech_timeout_s),
            ("max_image_pixels", self.max_image_pixels),
            ("max_waiting", self.max_waiting.max(0).unsigned_abs()),
            ("quick_wait_s", self.quick_wait_s),
            ("speech_wait_s", self.speech_wait_s),
            ("shutdown_s", self.shutdown_s),
        ];
        for (key, value) in positive {
            if value == 0 {
                return Err(ConfigError::OutOfRange {
                    key,
                    value: value.to_string(),
                    expected: "at least 1",
                });
            }
        }
        if self.database_connections.get() < 4 {
            return Err(ConfigError::OutOfRange {
                key: "database_connections",
                value: self.database_connections.to_string(),
                expected: "at least 4",
            });
        }
        Ok(())
    }

    /// How long a stopping process waits for unfinished work.
    pub const fn shutdown_limit(&self) -> Duration {
        Duration::from_secs(self.shutdown_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str) -> Result<Config, String> {
        Config::from_figment(&Figment::new().merge(Toml::string(file))).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_hold_without_a_file() {
        assert_eq!(load("").unwrap().listen.port(), 8080);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_suggests_known_names() {
        let error = load("lisen = '0.0.0.0:1'").unwrap_err();
        assert!(error.contains("lisen") && error.contains("listen"), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error_that_names_the_setting() {
        assert!(load("listen = 'here'").unwrap_err().contains("listen"));
        assert!(load("worker_concurrency = 0").unwrap_err().contains("worker_concurrency"));
        assert!(load("max_waiting = -1").unwrap_err().contains("max_waiting"));
    }

    #[test]
    fn secrets_are_redacted() {
        let config = load("database_url = 'postgres://u:hunter2@h/d'").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn the_example_lists_every_key_once_with_its_default() {
        let example = include_str!("../../.env.example");
        let debug = format!("{:?}", Config::default());
        let keys: Vec<&str> = example
            .lines()
            .filter_map(|l| l.trim_start_matches('#').trim().split_once('='))
            .filter_map(|(k, _)| k.strip_prefix(PREFIX))
            .collect();
        for key in &keys {
            assert!(*key == "CONFIG" || debug.contains(&format!("{}:", key.to_lowercase())), "unknown {key}");
        }
        let fields = debug.matches(": ").count();
        assert_eq!(keys.len(), fields + 1, "one line a key, and AKHAR_CONFIG");
    }
}
