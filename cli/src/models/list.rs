//! `akhar models list`: prints a table of the installed models, and one of the models that can be pulled.

use std::fs;

use akhar_inference::{Manifest, Registry, catalogue::Catalogue};
use akhar_platform::config::Config;
use indicatif::DecimalBytes;

use super::error::failed;
use crate::{failure::Failure, output};

const NONE: &str = "-";

pub(super) fn run(config: &Config) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let catalogue = Catalogue::open(&config.models_dir).map_err(failed("list"))?;
    let head = ["ID", "OPERATION", "LANGUAGE", "LAYOUT", "LICENCE", "SIZE", "FROM", "IN USE"];
    output::table(head, registry.all().iter().map(|model| installed(&registry, model)).collect())?;

    let available = catalogue.entries().iter().filter(|entry| registry.find(&entry.id).is_none());
    let to_pull: Vec<[String; 8]> = available
        .map(|entry| {
            let tokens = entry.more.get("languages").and_then(|l| l.as_table());
            [
                entry.id.clone(),
                entry.operation.clone(),
                languages(entry.language.as_deref(), tokens.into_iter().flat_map(|t| t.keys())),
                entry.layout.clone(),
                entry.licence.clone(),
                DecimalBytes(entry.n_bytes()).to_string(),
                entry.best_for.clone(),
                entry.unconfirmed.clone().unwrap_or_default(),
            ]
        })
        .collect();
    if !to_pull.is_empty() {
        output::line("\nInstall one of these with `akhar models pull ID`:\n")?;
        let head = ["ID", "OPERATION", "LANGUAGE", "LAYOUT", "LICENCE", "SIZE", "BEST FOR", "UNCONFIRMED"];
        output::table(head, to_pull)?;
    }
    Ok(())
}

fn installed(registry: &Registry, model: &Manifest) -> [String; 8] {
    let n_bytes: Result<Vec<u64>, _> =
        model.files.iter().map(|file| fs::metadata(model.path_of(file)).map(|m| m.len())).collect();
    let serves = registry.serves(model);
    let in_use = match &serves[..] {
        [] => "no".to_owned(),
        [None, ..] => "yes".to_owned(),
        some => some.iter().flatten().cloned().collect::<Vec<_>>().join(", "),
    };
    [
        model.id.clone(),
        model.operation.clone(),
        languages(model.language.as_deref(), model.languages.keys()),
        model.layout.to_string(),
        model.licence.clone(),
        n_bytes.map_or("incomplete".to_owned(), |n| DecimalBytes(n.iter().sum()).to_string()),
        if registry.is_bundled(&model.id) { "bundled" } else { "pulled" }.to_owned(),
        in_use,
    ]
}

fn languages<'a>(one: Option<&'a str>, several: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&str> = one.into_iter().chain(several.map(String::as_str)).collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(", ") }
}
