//! Which settings a running process can take over, and what has changed between two configurations.

use documented::DocumentedFields as _;
use figment::value::{Dict, Num, Value};
use secrecy::{ExposeSecret as _, SecretString};

use super::Config;

/// Lists the settings that a running process takes over.
macro_rules! taken_over {
    ($($setting:ident),+ $(,)?) => {
        /// The settings that a running process takes over.
        pub(super) const TAKEN_OVER: &[&str] = &[$(stringify!($setting)),+];

        impl Config {
            /// This configuration with those settings of another one.
            fn with_limits_of(&self, other: &Self) -> Self {
                Self { $($setting: other.$setting.clone(),)+ ..self.clone() }
            }
        }
    };
}

taken_over! {
    log_filter,
    ready_needs,
    max_requests,
    max_upload_bytes,
    max_fetched_bytes,
    max_waiting,
    max_stored_bytes,
    quick_wait_s,
    speech_wait_s,
    speech_timeout_s,
    retention_s,
}

/// What has changed from one configuration to another.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The first configuration with what can be taken over of the second.
    pub(crate) config: Config,
    /// The settings that are taken over, such as `max_waiting: 1000 -> 2000`.
    pub(crate) taken_over: Vec<String>,
    /// The settings that have changed, but cannot be taken over.
    pub(crate) need_restart: Vec<&'static str>,
}

impl Changes {
    pub(crate) fn between(old: &Config, new: &Config) -> Self {
        let [values, new_values] = [old, new].map(dict);
        let (mut taken_over, mut need_restart) = (Vec::new(), Vec::new());
        for key in Config::FIELD_NAMES {
            let [before, after] = [&values, &new_values].map(|values| values.get(*key).and_then(written));
            if before == after {
                continue;
            }
            if TAKEN_OVER.contains(key) {
                let [before, after] =
                    [before, after].map(|value| value.unwrap_or_else(|| "unset".to_owned()));
                taken_over.push(format!("{key}: {before} -> {after}"));
            } else {
                need_restart.push(*key);
            }
        }
        // Secrets are not written. The servers read three.
        let addresses = [old, new].map(|c| {
            [&c.database_url, &c.database_listen_url, &c.database_read_url]
                .map(|url| url.as_ref().map(SecretString::expose_secret))
        });
        for (at, key) in ["database_url", "database_listen_url", "database_read_url"].into_iter().enumerate()
        {
            if addresses[0][at] != addresses[1][at] {
                need_restart.push(key);
            }
        }
        Self { config: old.with_limits_of(new), taken_over, need_restart }
    }
}

/// The settings by their keys, without secrets.
fn dict(config: &Config) -> Dict {
    Value::serialize(config).ok().and_then(Value::into_dict).unwrap_or_default()
}

/// A value as it would be written in an environment variable. `None` for one that is not set.
pub(super) fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(text.clone()),
        Value::Num(_, Num::I64(n)) => Some(n.to_string()),
        Value::Num(_, n) => n.to_u128().map(|n| n.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn limits_are_taken_over_and_others_need_a_restart() {
        let old = Config::default();
        let new = Config {
            max_waiting: 7,
            max_requests: NonZeroUsize::MIN,
            log_filter: Some("debug".to_owned()),
            worker_concurrency: NonZeroUsize::MIN,
            database_url: Some("postgres://other".into()),
            ..Config::default()
        };
        let changes = Changes::between(&old, &new);
        let taken_over = ["log_filter: unset -> debug", "max_requests: 2000 -> 1", "max_waiting: 1000 -> 7"];
        assert_eq!(changes.taken_over, taken_over);
        assert_eq!(changes.need_restart, ["worker_concurrency", "database_url"]);
        assert_eq!((changes.config.max_waiting, changes.config.max_requests), (7, NonZeroUsize::MIN));
        assert_eq!(changes.config.worker_concurrency, old.worker_concurrency);
        assert!(changes.config.database_url.is_none());
        assert!(Changes::between(&new, &new).taken_over.is_empty());
    }

    #[test]
    fn every_setting_that_is_taken_over_has_a_value_to_compare() {
        let config = Config { log_filter: Some("info".to_owned()), ..Config::default() };
        for key in TAKEN_OVER {
            assert!(dict(&config).get(*key).and_then(written).is_some(), "{key}");
        }
    }
}
