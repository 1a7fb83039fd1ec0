//! The location that new uploads are written to, and those of earlier settings that waiting jobs still name.

use std::{collections::HashMap, fmt};

use super::{
    address::Address,
    error::UploadStoreError,
    location::{Location, S3Access},
};
use parking_lot::Mutex;

/// The most locations of earlier settings that are kept open.
const MAX_OTHERS: usize = 8;

type Access = Box<dyn Fn() -> Result<S3Access, String> + Send + Sync>;

/// All locations that this process has opened.
pub(super) struct Locations {
    /// The location that the setting names. `None` if new uploads stay in the database.
    pub(super) configured: Option<Location>,
    access: Access,
    others: Mutex<HashMap<String, Location>>,
}

impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locations").field("configured", &self.configured).finish_non_exhaustive()
    }
}

impl Locations {
    pub(super) fn open(setting: &str, access: Access) -> Result<Self, UploadStoreError> {
        let address = Address::of_setting(setting)?;
        let configured = address.map(|address| Location::open(address, &access)).transpose()?;
        Ok(Self { configured, access, others: Mutex::default() })
    }

    /// New uploads stay in the database.
    pub(super) fn of_database(access: Access) -> Self {
        Self { configured: None, access, others: Mutex::default() }
    }

    /// The location and the name of the object with this address.
    pub(super) fn resolve(&self, url: &str) -> Result<(Location, String), UploadStoreError> {
        let unknown = || UploadStoreError::Failed {
            what: "open",
            url: url.to_owned(),
            cause: "it is not the address of an object".to_owned(),
        };
        let (base, name) = url.rsplit_once('/').ok_or_else(unknown)?;
        let name = name.to_owned();
        if let Some(location) = self.configured.as_ref().filter(|configured| configured.url() == base) {
            return Ok((location.clone(), name));
        }
        let mut others = self.others.lock();
        if let Some(location) = others.get(base) {
            return Ok((location.clone(), name));
        }
        let location = Location::open(Address::parse(base).ok_or_else(unknown)?, &self.access)?;
        if others.len() >= MAX_OTHERS {
            others.clear();
        }
        others.insert(base.to_owned(), location.clone());
        Ok((location, name))
    }

    /// Deletes the objects with these addresses. Returns what failed, and for how many of them.
    pub(super) async fn delete(
        &self,
        urls: impl IntoIterator<Item = String>,
    ) -> Vec<(UploadStoreError, usize)> {
        let mut failed = Vec::new();
        let mut by_location: HashMap<String, (Location, Vec<String>)> = HashMap::new();
        for url in urls {
            match self.resolve(&url) {
                Ok((location, name)) => {
                    let entry = by_location.entry(location.url().to_owned());
                    entry.or_insert_with(|| (location, Vec::new())).1.push(name);
                }
                Err(error) => failed.push((error, 1)),
            }
        }
        for (location, names) in by_location.into_values() {
            if let Err(error) = location.delete(&names).await {
                failed.push((error, names.len()));
            }
        }
        failed
    }
}
