//! Reads the configuration from a file and from environment variables, and checks it.
//!
//! Each setting has one name: `listen` in the file is `AKHAR_LISTEN` in the environment. If a setting is in both, the
//! environment variable is used, and an empty one takes back what the file sets. An unknown name is an error in either place. `.env.example` lists all settings.

pub(crate) mod changes;
mod load;
pub mod reference;
mod secret_file;
mod settings;

pub use load::ConfigError;
pub use settings::{Config, Device, LogFormat, ReadyNeeds};

/// The configuration file that is read if `AKHAR_CONFIG` is not set. It need not exist.
pub const DEFAULT_FILE: &str = "akhar.toml";

const PREFIX: &str = "AKHAR_";

/// The settings whose values are secret. `KEY_file` names a file that holds the value.
const SECRETS: [&str; 4] = ["database_url", "database_listen_url", "database_read_url", "key"];
