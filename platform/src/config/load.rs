//! Reads the file and the environment, and checks the values.

use std::{
    io,
    path::{Path, PathBuf},
};

use documented::DocumentedFields as _;
use figment::{
    Figment,
    providers::{Env, Format, Serialized},
    value::Empty,
};
use ipnet::IpNet;
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;

use crate::{installation::Installation, text};

use super::{DEFAULT_FILE, PREFIX, SECRETS, secret_file, settings::Config};

/// Why the configuration cannot be used. The text names the setting, its value and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An unknown name, or a value of the wrong type, in the file or the environment.
    #[error("configuration: {0}")]
    Invalid(Box<figment::Error>),
    /// A name in the file or the environment that is almost that of a setting.
    #[error("configuration: there is no setting {name}; did you mean {nearest}?")]
    Misspelt {
        /// The name as it is written.
        name: String,
        /// The setting, as it would be written there.
        nearest: String,
    },
    /// `AKHAR_CONFIG` names a file that does not exist.
    #[error("configuration: AKHAR_CONFIG names the file {}, which does not exist", .0.display())]
    NoFile(PathBuf),
    /// The file cannot be read, or is not UTF-8.
    #[error("configuration: {} cannot be read: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A file that holds a secret cannot be used.
    #[error("configuration: {key} names the file {}, which {problem}", .path.display())]
    SecretFile {
        /// The name of the setting.
        key: String,
        /// Its value.
        path: PathBuf,
        /// What is wrong. Contains nothing of the file.
        problem: String,
    },
    /// A log filter that cannot be parsed.
    #[error(
        "configuration: log_filter is {value:?}, expected a filter such as info,akhar_worker=debug: {source}"
    )]
    LogFilter {
        /// Its value.
        value: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
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

/// TOML, as a format of figment. Its own needs an older version of the parser.
enum Toml {}

impl Format for Toml {
    type Error = toml::de::Error;

    const NAME: &'static str = "TOML";

    fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Self::Error> {
        // figment reads the file, and leaves its byte order mark.
        let mut table: toml::Table = toml::from_str(text.trim_start_matches('\u{feff}'))?;
        for key in SECRETS {
            let file = format!("{key}_file");
            // What is no path is refused as a name that does not exist.
            let Some(path) = table.get(&file).and_then(toml::Value::as_str).map(PathBuf::from) else {
                continue;
            };
            table.remove(&file);
            let is_set =
                table.contains_key(key) || [key, &file].into_iter().any(|name| variable(name).is_some());
            if !is_set {
                let secret = secret(key, &path).map_err(serde::de::Error::custom)?;
                table.insert(key.to_owned(), secret.expose_secret().into());
            }
        }
        table.try_into()
    }
}

/// The environment variable of a setting. An empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    Env::var(&format!("{PREFIX}{name}").to_uppercase()).filter(|value| !value.is_empty())
}

/// The settings whose environment variables are there and empty.
fn emptied() -> Vec<&'static str> {
    let is_empty = |name: &&str| {
        Env::var(&format!("{PREFIX}{name}").to_uppercase()).is_some_and(|value| value.is_empty())
    };
    Config::FIELD_NAMES.iter().copied().filter(is_empty).collect()
}

/// Gives these settings their defaults back, whatever the file says.
fn reset(figment: Figment, defaults: &Figment, settings: &[&str]) -> Figment {
    settings.iter().fold(figment, |figment, setting| {
        let default = defaults.find_value(setting).unwrap_or_else(|_| Empty::None.into());
        figment.merge((*setting, default))
    })
}

/// The secret in the file that `KEY_file` names. It is read only if the secret itself is set nowhere.
fn secret(key: &str, path: &Path) -> Result<SecretString, ConfigError> {
    let error =
        |problem| ConfigError::SecretFile { key: format!("{key}_file"), path: path.to_owned(), problem };
    secret_file::read(path).map_err(error)
}

impl ConfigError {
    fn of(error: figment::Error) -> Self {
        let is_variable = error.metadata.as_ref().is_some_and(|source| source.name.contains("environment"));
        let written = |name: &str| {
            if is_variable { format!("{PREFIX}{}", name.to_uppercase()) } else { name.to_owned() }
        };
        if let figment::error::Kind::UnknownField(name, known) = &error.kind
            && let Some(nearest) = known.iter().min_by_key(|known| strsim::damerau_levenshtein(name, known))
            && strsim::damerau_levenshtein(name, nearest) <= nearest.len() / 3
        {
            return Self::Misspelt { name: written(name), nearest: written(nearest) };
        }
        Self::Invalid(Box::new(error))
    }
}

impl Config {
    /// Reads the file that `AKHAR_CONFIG` names (or [`DEFAULT_FILE`], if present), then the environment, in which an empty
    /// variable takes back what the file sets. The files that the program needs have other defaults where they are found
    /// elsewhere.
    pub fn load() -> Result<Self, ConfigError> {
        let defaults = Figment::from(Serialized::defaults(Self::default()))
            .merge(Serialized::defaults(Installation::find()));
        let mut figment = defaults.clone();
        let named = variable("config").map(PathBuf::from);
        let file = named.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        if file.is_file() {
            // figment's own error would not name the encoding.
            text::read(&file).map_err(|source| ConfigError::Unreadable { path: file.clone(), source })?;
            figment = figment.merge(Toml::file_exact(file));
        } else if let Some(missing) = named {
            return Err(ConfigError::NoFile(missing));
        }
        let emptied = emptied();
        figment = reset(figment, &defaults, &emptied);
        let files = SECRETS.map(|key| format!("{key}_file"));
        for (key, file) in SECRETS.iter().zip(&files) {
            let is_set = variable(key).is_some() || figment.contains(key) && !emptied.contains(key);
            if let Some(path) = variable(file).filter(|_| !is_set) {
                let secret = secret(key, path.as_ref())?;
                figment = figment.merge((*key, secret.expose_secret()));
            }
        }
        let ignored: Vec<&str> = files.iter().map(String::as_str).chain(["config"]).chain(emptied).collect();
        Self::from_figment(&figment.merge(Env::prefixed(PREFIX).ignore(&ignored)))
    }

    /// The environment variables that begin with `AWS_`, by which programs are told how to reach Amazon S3. An empty one
    /// counts as not set, because a settings file may have an empty value.
    pub fn aws_variables() -> Vec<(String, SecretString)> {
        let all = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, SecretString::from(value.into_string().ok()?)))
        });
        all.filter(|(name, value)| name.starts_with("AWS_") && !value.expose_secret().is_empty()).collect()
    }

    /// The networks to which webhooks are sent although they are not public.
    pub fn webhook_networks(&self) -> Vec<IpNet> {
        self.webhook_allow.clone().unwrap_or_default().0
    }

    pub(super) fn from_figment(figment: &Figment) -> Result<Self, ConfigError> {
        let config: Self = figment.extract().map_err(ConfigError::of)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let positive = [
            ("speech_timeout_s", i128::from(self.speech_timeout_s)),
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
        if self.max_upload_bytes < 4_000_000 {
            return Err(ConfigError::OutOfRange {
                key: "max_upload_bytes",
                value: self.max_upload_bytes.to_string(),
                expected: "at least 4000000",
            });
        }
        if let Some(value) = &self.log_filter {
            let error = |source| ConfigError::LogFilter { value: value.clone(), source };
            value.parse::<tracing_subscriber::EnvFilter>().map_err(error)?;
        }
        Ok(())
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
        assert_eq!(error, "configuration: there is no setting lisen; did you mean listen?");
        let error = load("tea = 'green'").unwrap_err();
        assert!(error.contains("found `tea`") && error.contains("`max_waiting`"), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error_that_names_the_setting() {
        assert!(load("listen = 'here'").unwrap_err().contains("listen"));
        assert!(load("worker_concurrency = 0").unwrap_err().contains("worker_concurrency"));
        assert!(load("log_filter = 'akhar=loud'").unwrap_err().contains("log_filter is \"akhar=loud\""));
        assert!(load("max_waiting = -1").unwrap_err().contains("max_waiting is -1, expected at least 1"));
    }

    #[test]
    fn an_empty_variable_takes_back_what_the_file_sets() {
        let defaults = Figment::from(Serialized::defaults(Config::default()));
        let file =
            "metrics_listen = '127.0.0.1:9464'\nlisten = '127.0.0.1:1'\ndatabase_url = 'postgres://h/d'";
        let file = defaults.clone().merge(Toml::string(file));
        let all = reset(file.clone(), &defaults, Config::FIELD_NAMES);
        let config = Config::from_figment(&all).unwrap();
        assert_eq!((config.metrics_listen, config.listen.port()), (None, 8080));
        assert!(config.database_url.is_none());
        let one = Config::from_figment(&reset(file, &defaults, &["metrics_listen"])).unwrap();
        assert_eq!((one.metrics_listen, one.listen.port()), (None, 1));
    }

    #[test]
    fn networks_are_a_list_in_a_text() {
        let config = load("webhook_allow = '10.0.0.0/8, ::1'").unwrap();
        assert_eq!(config.webhook_allow.unwrap().0.len(), 2);
        let error = load("webhook_allow = 'localhost'").unwrap_err();
        assert!(error.contains("webhook_allow") && error.contains("not a network"), "{error}");
    }

    #[test]
    fn a_secret_is_read_from_the_file_that_is_named() {
        let file = std::env::temp_dir().join(format!("akhar-secret-{}", std::process::id()));
        std::fs::write(&file, "postgres://u:hunter2@h/d\n").unwrap();
        let named = format!("database_url_file = '{}'", file.display());
        let url = |file: &str| {
            load(file).unwrap().database_url.map(|url| secrecy::ExposeSecret::expose_secret(&url).to_owned())
        };
        assert_eq!(url(&named).as_deref(), Some("postgres://u:hunter2@h/d"));
        assert_eq!(
            url(&format!("{named}\ndatabase_url = 'postgres://set'")).as_deref(),
            Some("postgres://set")
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(
            url(&format!("{named}\ndatabase_url = 'postgres://set'")).as_deref(),
            Some("postgres://set")
        );
        assert!(load("database_url_file = 7").unwrap_err().contains("database_url_file"));
        let error = load(&named).unwrap_err();
        let expected = "database_url_file names the file";
        assert!(error.contains(expected) && error.contains("cannot be read"), "{error}");
    }

    #[test]
    fn secrets_are_redacted() {
        let config = load("database_url = 'postgres://u:hunter2@h/d'").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
