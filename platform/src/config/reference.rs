//! Generates the reference of the configuration, a Markdown page and `.env.example`, from the fields of [`Config`],
//! their comments and their defaults.

use std::fmt::Write as _;

use documented::DocumentedFields as _;
use figment::value::Value;

use super::{
    Config, DEFAULT_FILE, PREFIX, SECRETS,
    changes::{TAKEN_OVER, written},
};

/// The sections: title, first setting, who reads the settings. A section ends where the next one begins.
const SECTIONS: [(&str, &str, &str); 6] = [
    ("Every process", "database_url", "Every process reads these settings."),
    (
        "Private database",
        "data_dir",
        "`akhar serve`, and commands that use its database, read these settings.",
    ),
    ("API", "listen", "`akhar api` and `akhar serve` read these settings."),
    ("Worker", "worker_concurrency", "`akhar worker` and `akhar serve` read these settings."),
    ("Models", "models_dir", "Workers read these settings, and `akhar models` the folder."),
    ("Client", "url", "`akhar transcribe` reads these settings."),
];

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key in the configuration file.
    pub key: &'static str,
    /// The description, in Markdown.
    pub meaning: &'static str,
    /// The default, as it would be written in an environment variable. `None` if the setting has no default.
    pub default: Option<String>,
}

impl Setting {
    /// The name of the environment variable.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.to_uppercase())
    }
}

/// All settings, in the order of [`Config`].
pub fn settings() -> Vec<Setting> {
    let defaults = Value::serialize(Config::default()).ok().and_then(Value::into_dict).unwrap_or_default();
    let fields = Config::FIELD_NAMES.iter().zip(Config::FIELD_DOCS);
    fields
        .map(|(key, meaning)| Setting { key, meaning, default: defaults.get(*key).and_then(written) })
        .collect()
}

fn section(setting: &Setting) -> Option<(&'static str, &'static str)> {
    let (title, _, readers) = SECTIONS.iter().find(|(_, first, _)| *first == setting.key)?;
    Some((title, readers))
}

/// The page of the reference, in Markdown.
pub fn markdown() -> String {
    let secrets = SECRETS.map(|key| format!("`{PREFIX}{}_FILE`", key.to_uppercase())).join(", ");
    let mut page = format!(
        "# Configuration\n\n\
         This page lists every setting. A setting is an environment variable, such as `AKHAR_LISTEN`, or a key of the \
         configuration file, such as `listen`. The environment takes precedence over the file, and an empty variable \
         takes back what the file sets. A name that is not listed here is an error in both places.\n\n\
         The configuration file is the one that `{PREFIX}CONFIG` names, or `{DEFAULT_FILE}` in the working folder where \
         it exists. `RUST_LOG` filters log lines, as in `RUST_LOG=info,akhar_worker=debug`.\n\n\
         The value of a secret can be in a file, such as a mounted one, which the setting with `_FILE` behind its name names: \
         {secrets}.\n\n\
         A running server reads the file again when it gets SIGHUP, and takes over the settings that are marked so \
         ([Change limits without a restart](../operate/deploy.md#change-limits-without-a-restart)).\n"
    );
    for setting in settings() {
        if let Some((title, readers)) = section(&setting) {
            // Writing to a String does not fail.
            let _ = write!(page, "\n## {title}\n\n{readers}\n");
        }
        let default = setting.default.as_ref().map_or("unset".to_owned(), |default| format!("`{default}`"));
        let reload = if TAKEN_OVER.contains(&setting.key) { " Taken over at SIGHUP." } else { "" };
        // Writing to a String does not fail.
        let _ = write!(
            page,
            "\n### {variable}\n\n{meaning}\n\nKey: `{key}`. Default: {default}.{reload}\n",
            variable = setting.variable(),
            meaning = setting.meaning,
            key = setting.key,
        );
    }
    page
}

/// The text of `.env.example`.
pub fn environment_file() -> String {
    let secrets = SECRETS.map(|key| format!("{PREFIX}{}_FILE", key.to_uppercase())).join(", ");
    let mut file = format!(
        "# Every setting with its default. Copy the lines that you change into deploy/compose/akhar.env for docker compose, or into\n\
         # {DEFAULT_FILE} under the key: AKHAR_LISTEN is `listen` there. The environment takes precedence, and an\n\
         # empty variable takes back what the file sets.\n\
         # RUST_LOG filters log lines, as in RUST_LOG=info,akhar_worker=debug.\n\n\
         # The configuration file. Unset, {DEFAULT_FILE} in the working folder is read where it exists.\n\
         #{PREFIX}CONFIG=\n\
         # {secrets} name files that hold the value.\n"
    );
    for setting in settings() {
        if let Some((title, _)) = section(&setting) {
            // Writing to a String does not fail.
            let _ = write!(file, "\n## {title}\n\n");
        }
        for line in setting.meaning.lines() {
            // Writing to a String does not fail.
            let _ = writeln!(file, "# {line}");
        }
        // Writing to a String does not fail.
        let _ = writeln!(file, "#{}={}", setting.variable(), setting.default.unwrap_or_default());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_a_section() {
        let keys: Vec<&str> = settings().iter().map(|setting| setting.key).collect();
        let firsts = SECTIONS.iter().map(|(_, first, _)| keys.iter().position(|key| key == first));
        let firsts: Vec<Option<usize>> = firsts.collect();
        assert_eq!(firsts[0], Some(0));
        assert!(firsts.is_sorted() && !firsts.contains(&None), "{firsts:?}");
    }

    #[test]
    fn a_setting_written_with_its_default_is_the_default() {
        let figment = settings().into_iter().fold(figment::Figment::new(), |figment, setting| {
            // As the environment gives it.
            let value = setting.default.map(|text| text.parse::<Value>().unwrap());
            value.map_or(figment.clone(), |value| figment.merge((setting.key, value)))
        });
        let config = Config::from_figment(&figment).unwrap();
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
    }

    #[test]
    fn secrets_have_no_default_to_print() {
        for setting in settings().iter().filter(|setting| SECRETS.contains(&setting.key)) {
            assert_eq!(setting.default, None);
        }
    }
}
