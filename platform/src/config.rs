//! Reads the configuration from a file and from environment variables, and checks it.
//!
//! Each setting has one name: `listen` in the file is `AKHAR_LISTEN` in the environment. If a setting is in both, the
//! environment variable is used. An unknown name is an error in either place. `.env.example` lists all settings.

pub mod reference;

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf, time::Duration};

use documented::DocumentedFields;
use figment::{
    Figment,
    providers::{Env, Format as _, Toml},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The configuration file that is read if `AKHAR_CONFIG` is not set. It need not exist.
pub const DEFAULT_FILE: &str = "akhar.toml";

const PREFIX: &str = "AKHAR_";

/// The hardware that models run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people.
    Human,
    /// One JSON object a line.
    Json,
}

/// Everything an operator can set. The comments of the fields are the texts of the reference: [`reference::settings`].
#[derive(Debug, Clone, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The Postgres database, as `postgres://user:password@host/database`.
    /// Unset, `akhar serve` runs a private Postgres, and `akhar keys` uses that one.
    #[serde(skip_serializing)]
    pub database_url: Option<SecretString>,
    /// Connections in the pools of one process; at least 4.
    /// The process opens further ones beside them: one that listens for notifications, and four (API) or three (worker)
    /// for the statements of the queue.
    pub database_connections: NonZeroUsize,
    /// Threads for network and database work in one process. Unset, half as many as the machine has cores.
    pub async_threads: Option<NonZeroUsize>,
    /// Seconds that a process waits for work in progress once it was told to stop.
    pub shutdown_s: u64,
    /// Format of log lines: `human` or `json`.
    pub log_format: LogFormat,
    /// Folder in which `akhar serve` keeps its private Postgres and the demo key.
    pub data_dir: PathBuf,
    /// Address and port that the API listens on. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Requests that one API process handles at a time, of which one account may have three quarters. Further requests
    /// are answered with 503 `busy`.
    pub max_requests: NonZeroUsize,
    /// Bytes of uploads that one API process keeps in memory at a time. Recordings may have seven eighths of them, and so
    /// may images and texts. A request whose body does not fit is answered with 503 `busy`. At least 3000000, so that every file fits.
    pub max_upload_bytes: usize,
    /// Bytes that a recording sent to `/v1/audio/` may have. At most as many as the uploads of recordings may have together.
    pub max_audio_bytes: NonZeroUsize,
    /// Connections of clients that one API process has open at a time. Further ones wait until another is closed. It is
    /// lowered if the process may not open so many files.
    pub max_connections: NonZeroUsize,
    /// Connections that one address (IPv4, or IPv6 network of 64 bits) may have open at a time. Further ones are closed
    /// at once. Behind a proxy, all connections have its address: set this to `AKHAR_MAX_CONNECTIONS` there.
    pub max_connections_per_address: NonZeroUsize,
    /// Jobs that may wait in one queue. One account may use four of five places, and fewer while other accounts have
    /// waiting jobs. Further requests are answered with 503 `queue-full`.
    pub max_waiting: i64,
    /// Streams of events (`GET /v1/jobs/{id}/events`) that one account may have open at a time in one API process. Further
    /// ones are answered with 429 `too-many-streams`.
    pub max_streams: NonZeroUsize,
    /// Seconds that the API holds a response for an image or a text. After that it answers with 202 and the job.
    pub quick_wait_s: u64,
    /// Seconds that the API holds a response for a recording. After that it answers with 202 and the job.
    pub speech_wait_s: u64,
    /// Jobs of the quick queue (images and handwriting) that one worker process runs at a time.
    pub worker_concurrency: NonZeroUsize,
    /// Jobs of the speech queue that one worker process runs at a time.
    pub speech_concurrency: NonZeroUsize,
    /// Seconds that one attempt at a quick job may take.
    pub quick_timeout_s: u64,
    /// Seconds that one attempt at a speech job may take.
    pub speech_timeout_s: u64,
    /// Pixels (width times height) that an image may have by its header. A larger image is refused before it is decoded.
    pub max_image_pixels: u64,
    /// Seconds that the outcome of a job is kept after the job ended.
    pub retention_s: u64,
    /// Folder of the model manifests.
    pub models_dir: PathBuf,
    /// ONNX Runtime's shared library. `make run` downloads it to the default path.
    pub ort_dylib: PathBuf,
    /// Hardware that models run on: `cpu`, or `cuda` where `AKHAR_ORT_DYLIB` names a library built for CUDA.
    pub device: Device,
    /// Threads that one run of a model uses. More threads suit a large model and few callers; one thread suits small
    /// models and many callers.
    pub inference_threads: NonZeroUsize,
    /// Images in one run of a model at most.
    pub max_batch: NonZeroUsize,
    /// Windows of speech in one run of a model at most.
    pub max_windows: NonZeroUsize,
    /// Hub from which `akhar models pull` downloads. A file's URL is `{hub}/{repo}/resolve/{revision}/{path}`.
    pub hub: String,
    /// Token for models that are not public. It is sent to the hub and to no other host.
    #[serde(skip_serializing)]
    pub hub_token: Option<SecretString>,
    /// A further catalogue of models to pull, in the format of `models/catalogue.toml`. Its entries replace entries of
    /// the built-in catalogue that have the same id.
    pub catalogue: Option<PathBuf>,
    /// Address of the server that `akhar transcribe` sends recordings to, such as `https://akhar.example`. Unset, the
    /// command runs a service of its own.
    pub url: Option<String>,
    /// API key for that server.
    #[serde(skip_serializing)]
    pub key: Option<SecretString>,
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
            database_url: None,
            database_connections: n(12),
            async_threads: None,
            shutdown_s: 30,
            log_format: LogFormat::Human,
            data_dir: "data".into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            max_requests: n(2000),
            max_upload_bytes: 128 * 1024 * 1024,
            max_audio_bytes: n(25 * 1024 * 1024),
            max_connections: n(8000),
            max_connections_per_address: n(4000),
            max_waiting: 1000,
            max_streams: n(20),
            quick_wait_s: 30,
            speech_wait_s: 300,
            worker_concurrency: n(32),
            speech_concurrency: n(2),
            quick_timeout_s: 30,
            speech_timeout_s: 1800,
            max_image_pixels: 4096 * 4096,
            retention_s: 24 * 60 * 60,
            models_dir: "models".into(),
            ort_dylib: ".cache/onnxruntime/libonnxruntime.so".into(),
            device: Device::Cpu,
            inference_threads: n(1),
            max_batch: n(16),
            max_windows: n(4),
            hub: "https://huggingface.co".to_owned(),
            hub_token: None,
            catalogue: None,
            url: None,
            key: None,
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
            ("quick_timeout_s", i128::from(self.quick_timeout_s)),
            ("speech_timeout_s", i128::from(self.speech_timeout_s)),
            ("max_image_pixels", i128::from(self.max_image_pixels)),
            ("max_waiting", i128::from(self.max_waiting)),
            ("quick_wait_s", i128::from(self.quick_wait_s)),
            ("speech_wait_s", i128::from(self.speech_wait_s)),
            ("shutdown_s", i128::from(self.shutdown_s)),
        ];
        for (key, value) in positive {
            if value < 1 {
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
        if self.max_upload_bytes < 3_000_000 {
            return Err(ConfigError::OutOfRange {
                key: "max_upload_bytes",
                value: self.max_upload_bytes.to_string(),
                expected: "at least 3000000",
            });
        }
        Ok(())
    }

    /// Threads for network and database work. Fewer threads wake each other less: on two cores, one answers sooner than
    /// two.
    pub fn async_threads(&self) -> usize {
        let half = || std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2));
        self.async_threads.map_or_else(half, NonZeroUsize::get)
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
        assert!(load("max_waiting = -1").unwrap_err().contains("max_waiting is -1, expected at least 1"));
    }

    #[test]
    fn secrets_are_redacted() {
        let config = load("database_url = 'postgres://u:hunter2@h/d'").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
