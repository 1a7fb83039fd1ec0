//! `akhar models pull`: downloads, verifies and installs a model of the catalogue.
//!
//! Files are downloaded into `pulled/.partial/<id>`, where they stay if the pull is interrupted. When all files are
//! complete and the manifest is written, the folder is renamed to `pulled/<id>`.

mod disk;
mod error;
mod hub;
mod progress;
mod transfer;

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

use akhar_inference::{
    Registry,
    catalogue::{Catalogue, Entry},
};
use akhar_platform::config::Config;
use disk::{bytes_present, ensure_space};
use error::PullError;
use hub::Hub;
use indicatif::DecimalBytes;
use transfer::{Transfer, tag_path};

use super::{error::failed, lock::lock};
use crate::{failure::Failure, output};

/// Downloads and installs the model or the set of models with this name, one after the other.
pub(super) fn run(config: &Config, name: &str) -> Result<(), Failure> {
    let what = format!("pull {name}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let catalogue = Catalogue::open(&config.models_dir).map_err(failed(&what))?;
    let entries = catalogue.find(name);
    if entries.is_empty() {
        let ids: Vec<&str> = catalogue.entries().iter().map(|e| e.id.as_str()).collect();
        return Err(failed(&what)(PullError::Unknown(ids.join(", "))));
    }
    for entry in entries {
        output::line(runtime.block_on(pull(config, entry)).map_err(failed(&what))?)?;
    }
    Ok(())
}

/// Downloads and installs a model. Returns what to tell the user.
async fn pull(config: &Config, entry: &Entry) -> Result<String, PullError> {
    let id = &entry.id;
    let registry = Registry::open(&config.models_dir)?;
    if registry.find(id).is_some() {
        return Ok(format!("{id} is installed already; `akhar models verify {id}` checks its files"));
    }
    let hub = Hub::from_environment()?;
    // Fail before the download if the entry would produce an invalid manifest.
    entry.manifest("", &vec![String::new(); entry.files.len()])?;

    let size = DecimalBytes(entry.n_bytes());
    output::note(format_args!("{id}: about {size} from {}, licence {}", hub.page(entry), entry.licence));
    let partial = registry.partial(id);
    let place = registry.place(id);
    let _lock = lock(&partial).map_err(PullError::io(&partial))?.ok_or(PullError::Busy)?;
    let needed = entry.n_bytes().saturating_sub(bytes_present(&partial, entry));
    ensure_space(&partial, needed)?;

    let mut transfer = Transfer { hub: &hub, entry, folder: &partial, answered: false };
    let mut hashes = Vec::new();
    for (at, part) in entry.files.iter().enumerate() {
        let name = format!("{} ({} of {})", part.path, at + 1, entry.files.len());
        hashes.push(transfer.fetch(part, name).await?);
    }
    let manifest = entry.manifest(&format!("{}/tree/{}", hub.page(entry), entry.revision), &hashes)?;
    install(entry, &manifest, &partial, &place)?;
    Ok(format!("{id} is installed. To use it, run `akhar models use {} {id}`", entry.operation))
}

/// Writes the manifest, and then renames the folder, so that a model is installed completely or not at all.
fn install(entry: &Entry, manifest: &str, partial: &Path, place: &Path) -> Result<(), PullError> {
    for part in &entry.files {
        let tag = tag_path(&partial.join(&part.path));
        fs::remove_file(&tag).map_err(PullError::io(&tag))?;
    }
    let path = partial.join(format!("{}.toml", entry.id));
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(manifest.as_bytes())?;
        file.sync_all()
    });
    written.map_err(PullError::io(&path))?;
    fs::rename(partial, place).map_err(PullError::io(place))
}
