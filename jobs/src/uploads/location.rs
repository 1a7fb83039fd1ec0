//! A folder or bucket of objects: writes, reads, lists and deletes them within time limits.

use std::{
    fmt,
    io::{self, ErrorKind},
    ops::Range,
    sync::Arc,
    time::Duration,
};

use akhar_platform::metrics;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, ObjectStoreExt as _, PutPayload, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    client::{HttpClient, HttpConnector},
    local::LocalFileSystem,
    path::Path,
};

use super::{
    address::{Address, Place},
    error::{FetchError, UploadStoreError, with_sources},
    limited::{LimitedObjects, Objects},
    presign::Presigner,
};

/// How long a request that failed is repeated before the operation fails. The caller of a request waits for it.
const RETRY_LIMIT: Duration = Duration::from_secs(5);
/// How often a request is repeated at most.
const MAX_RETRIES: usize = 5;
/// The first and the longest pause between two tries of a request.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// The region that `object_store` takes if the settings have none.
const DEFAULT_REGION: &str = "us-east-1";

/// What `object_store` puts between the name of an object and a number while it writes the object to a file. It neither
/// lists nor deletes such a file, which stays if the process is killed.
const UNFINISHED: char = '#';

/// The operations in metrics: the first words of what the errors say.
pub const OPERATIONS: [&str; 5] = ["write", "read", "list", "delete", "sign"];

/// How buckets are reached.
#[derive(Clone)]
pub struct S3Access {
    /// Sends the requests.
    pub client: reqwest::Client,
    /// The settings of Amazon's tools, such as `AWS_ACCESS_KEY_ID`, with their values. Unknown names are ignored.
    pub settings: Vec<(String, String)>,
}

impl fmt::Debug for S3Access {
    /// Leaves the settings out, because they contain credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Access").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Connector(reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// An open folder or bucket.
#[derive(Debug, Clone)]
pub(super) struct Location {
    url: String,
    prefix: Path,
    objects: LimitedObjects,
}

impl Location {
    /// Opens a location. Sends no request: see [`Location::check`].
    pub(super) fn open(
        address: Address,
        access: impl FnOnce() -> Result<S3Access, String>,
    ) -> Result<Self, UploadStoreError> {
        let Address { url, place } = address;
        let failed = |cause| UploadStoreError::Failed { what: "open", url: url.clone(), cause };
        match place {
            Place::Folder(folder) => {
                let opened = LocalFileSystem::new_with_prefix(&folder);
                let objects = opened.map_err(|error| failed(with_sources(&error)))?.with_fsync(true);
                let objects = Objects { store: Arc::new(objects), folder: Some(folder), presigner: None };
                Ok(Self { objects: LimitedObjects::new(objects), prefix: Path::default(), url })
            }
            Place::Bucket { bucket, prefix } => {
                let S3Access { client, settings } = access().map_err(failed)?;
                let [init_backoff, max_backoff] = PAUSES;
                let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
                let retry = RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_LIMIT };
                let mut builder = AmazonS3Builder::new();
                for (name, value) in settings {
                    if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                        builder = builder.with_config(key, value);
                    }
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry);
                let region = builder.get_config_value(&AmazonS3ConfigKey::Region);
                let opened = builder.with_http_connector(Connector(client)).build();
                let bucket = Arc::new(opened.map_err(|error| failed(with_sources(&error)))?);
                let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
                let presigner = Some(Presigner { bucket: bucket.clone(), region });
                let objects = Objects { store: bucket, folder: None, presigner };
                Ok(Self { objects: LimitedObjects::new(objects), prefix, url })
            }
        }
    }

    /// The address, without a slash at its end.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The address of the object with this name.
    pub(super) fn object_url(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// The error of an operation, which is counted.
    fn failed(&self, what: &'static str, cause: String) -> UploadStoreError {
        let operation = what.split(' ').next().unwrap_or(what);
        metrics::UPLOAD_STORE_FAILURES.add_one([operation]);
        UploadStoreError::Failed { what, url: self.url.clone(), cause }
    }

    /// Writes an object. It is on disk when this returns.
    pub(super) async fn write(&self, name: &str, bytes: Bytes) -> Result<(), UploadStoreError> {
        let path = self.path(name);
        let put = async |objects: &Objects| {
            // The library would make a folder that is gone, perhaps where its disk should be mounted.
            objects.has_folder().await?;
            objects.store.put(&path, PutPayload::from(bytes)).await.map_err(io::Error::from)
        };
        let put = self.objects.within_limit(put).await;
        put.map(drop).map_err(|cause| self.failed("write to", cause))
    }

    /// Reads an object, which must have this size. Reads nothing of an object of another size.
    pub(super) async fn read(&self, name: &str, n_bytes: u64) -> Result<Bytes, FetchError> {
        self.get(name, n_bytes, GetOptions::new()).await
    }

    /// Reads a part of an object, which must have this size.
    pub(super) async fn read_part(
        &self,
        name: &str,
        n_bytes: u64,
        part: Range<u64>,
    ) -> Result<Bytes, FetchError> {
        self.get(name, n_bytes, GetOptions::new().with_range(Some(part))).await
    }

    async fn get(&self, name: &str, n_bytes: u64, options: GetOptions) -> Result<Bytes, FetchError> {
        let path = self.path(name);
        let lost = |what: String| FetchError::Lost { url: self.object_url(name), what };
        let read = async |objects: &Objects| {
            let found = match objects.store.get_opts(&path, options).await {
                Err(object_store::Error::NotFound { .. }) => {
                    objects.has_folder().await?; // or else it may come back with the folder
                    return Ok::<_, io::Error>(Err(lost("does not exist".to_owned())));
                }
                found => found?,
            };
            if found.meta.size != n_bytes {
                let n_found = found.meta.size;
                return Ok(Err(lost(format!("has {n_found} bytes, expected {n_bytes}"))));
            }
            Ok(Ok(found.bytes().await?))
        };
        self.objects.within_limit(read).await.map_err(|cause| self.failed("read from", cause))?
    }

    /// The size of an object. `None` if there is none.
    pub(super) async fn size(&self, name: &str) -> Result<Option<u64>, UploadStoreError> {
        let path = self.path(name);
        let size = async |objects: &Objects| match objects.store.head(&path).await {
            Err(object_store::Error::NotFound { .. }) => Ok::<_, object_store::Error>(None),
            found => Ok(Some(found?.size)),
        };
        self.objects.within_limit(size).await.map_err(|cause| self.failed("read from", cause))
    }

    /// The URL to which an object of exactly `n_bytes` bytes can be written with PUT for so long. `None` if this is a folder.
    pub(super) async fn presign(
        &self,
        name: &str,
        n_bytes: u32,
        lifetime: Duration,
    ) -> Result<Option<String>, UploadStoreError> {
        let path = self.path(name);
        let sign = async |objects: &Objects| match &objects.presigner {
            Some(presigner) => presigner.put(&path, n_bytes, lifetime).await.map(|url| Some(url.into())),
            None => Ok::<_, object_store::Error>(None),
        };
        self.objects.within_limit(sign).await.map_err(|cause| self.failed("sign a URL of", cause))
    }

    /// The names of the objects here, at most `limit`.
    pub(super) async fn names(&self, limit: usize) -> Result<Vec<String>, UploadStoreError> {
        let prefix = (!self.prefix.as_ref().is_empty()).then_some(&self.prefix);
        let list = async |objects: &Objects| {
            let listed: Vec<object_store::ObjectMeta> =
                objects.store.list(prefix).take(limit).try_collect().await?;
            let unfinished = match &objects.folder {
                Some(folder) => unfinished(folder, limit).await?,
                None => Vec::new(),
            };
            Ok::<_, io::Error>((listed, unfinished))
        };
        let listed = self.objects.within_limit(list).await;
        let (listed, unfinished) = listed.map_err(|cause| self.failed("list", cause))?;
        let name = |path: &Path| {
            let parts: Vec<_> = path.prefix_match(&self.prefix)?.collect();
            let [name] = parts.as_slice() else { return None };
            Some(name.as_ref().to_owned())
        };
        let finished = listed.iter().filter_map(|object| name(&object.location));
        Ok(finished.chain(unfinished).collect())
    }

    /// Deletes objects. It is no error if one does not exist.
    pub(super) async fn delete(&self, names: &[String]) -> Result<(), UploadStoreError> {
        let finished = names.iter().filter(|name| !name.contains(UNFINISHED));
        let paths: Vec<_> = finished.map(|name| Ok(self.path(name))).collect();
        let delete = async |objects: &Objects| {
            if let Some(folder) = &objects.folder {
                for name in names.iter().filter(|name| name.contains(UNFINISHED)) {
                    match tokio::fs::remove_file(folder.join(name)).await {
                        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                        _ => (),
                    }
                }
            }
            let mut deleted = objects.store.delete_stream(futures::stream::iter(paths).boxed());
            let mut result = Ok(());
            while let Some(one) = deleted.next().await {
                match one {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => (),
                    Err(error) => result = Err(error.into()),
                }
            }
            result
        };
        self.objects.within_limit(delete).await.map_err(|cause| self.failed("delete from", cause))
    }

    /// Writes, reads, lists and deletes an object, so that a location that cannot be used is found before a job needs
    /// it.
    pub(super) async fn check(&self, name: &str) -> Result<(), UploadStoreError> {
        let bytes = Bytes::from_static(b"akhar checks that it can write here");
        let n_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.write(name, bytes).await?;
        self.read(name, n_bytes).await.map_err(|error| match error {
            FetchError::Lost { what, .. } => self.failed("read what was written to", what),
            FetchError::Unavailable(error) => error,
        })?;
        self.names(1).await?;
        self.delete(&[name.to_owned()]).await
    }
}

/// The names of the files in a folder that are being written, or whose writer was killed; at most `limit`.
async fn unfinished(folder: &std::path::Path, limit: usize) -> io::Result<Vec<String>> {
    let mut files = tokio::fs::read_dir(folder).await?;
    let mut names = Vec::new();
    while let Some(file) = files.next_entry().await? {
        let name = file.file_name().to_string_lossy().into_owned();
        if names.len() < limit && name.contains(UNFINISHED) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use object_store::{
        memory::InMemory,
        throttle::{ThrottleConfig, ThrottledStore},
    };
    use tokio::time::Instant;

    use super::*;

    /// The time that each operation of a bucket takes that never answers.
    #[tokio::test(start_paused = true)]
    async fn a_bucket_that_swallows_is_given_up_by_every_operation() {
        let never = Duration::from_secs(24 * 3600);
        let config = ThrottleConfig {
            wait_delete_per_call: never,
            wait_get_per_call: never,
            wait_list_per_call: never,
            wait_put_per_call: never,
            ..ThrottleConfig::default()
        };
        let store = Arc::new(ThrottledStore::new(InMemory::new(), config));
        let objects = Objects { store, folder: None, presigner: None };
        let url = "s3://silent".to_owned();
        let silent = Location { url, prefix: Path::default(), objects: LimitedObjects::new(objects) };
        let began = Instant::now();
        let errors = [
            silent.write("a", Bytes::new()).await.unwrap_err().to_string(),
            silent.read("a", 1).await.unwrap_err().to_string(),
            silent.read_part("a", 1, 0..1).await.unwrap_err().to_string(),
            silent.size("a").await.unwrap_err().to_string(),
            silent.names(1).await.unwrap_err().to_string(),
            silent.delete(&["a".to_owned()]).await.unwrap_err().to_string(),
        ];
        assert!(errors.iter().all(|error| error.contains("it took longer than 30s")), "{errors:?}");
        assert!(began.elapsed() <= Duration::from_secs(errors.len() as u64 * 31));
    }
}
