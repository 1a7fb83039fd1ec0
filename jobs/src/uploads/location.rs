//! A folder or bucket of objects: writes, reads, lists and deletes them within time limits.

use std::{
    fmt,
    io::{self, ErrorKind},
    ops::Range,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, ObjectStore, ObjectStoreExt as _, PutPayload, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    client::{HttpClient, HttpConnector},
    local::LocalFileSystem,
    path::Path,
};
use tokio::time::timeout;

use super::{
    address::{Address, Place},
    error::{FetchError, UploadStoreError, with_sources},
    presign::Presigner,
};

/// How long writing, reading, listing or deleting may take, with all retries.
const LIMIT: Duration = Duration::from_secs(30);
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
    objects: Arc<dyn ObjectStore>,
    /// The folder, if it is one.
    folder: Option<PathBuf>,
    /// Signs URLs, if it is a bucket.
    presigner: Option<Presigner>,
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
                let objects = Arc::new(objects);
                Ok(Self { objects, prefix: Path::default(), folder: Some(folder), presigner: None, url })
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
                let objects = Arc::new(opened.map_err(|error| failed(with_sources(&error)))?);
                let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
                let presigner = Some(Presigner { bucket: objects.clone(), region });
                Ok(Self { objects, prefix, folder: None, presigner, url })
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

    fn failed(&self, what: &'static str, cause: String) -> UploadStoreError {
        UploadStoreError::Failed { what, url: self.url.clone(), cause }
    }

    /// Waits for an operation within the time limit.
    async fn within_limit<T>(
        &self,
        what: &'static str,
        operation: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, UploadStoreError> {
        match timeout(LIMIT, operation).await {
            Ok(result) => result.map_err(|error| self.failed(what, with_sources(&error))),
            Err(_) => Err(self.failed(what, format!("it took longer than {LIMIT:?}"))),
        }
    }

    /// Writes an object. It is on disk when this returns.
    pub(super) async fn write(&self, name: &str, bytes: Bytes) -> Result<(), UploadStoreError> {
        let path = self.path(name);
        let put = self.objects.put(&path, PutPayload::from(bytes));
        self.within_limit("write to", put).await.map(drop)
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
        let read = async {
            let found = match self.objects.get_opts(&path, options).await {
                Err(object_store::Error::NotFound { .. }) => {
                    return Ok(Err(lost("does not exist".to_owned())));
                }
                found => found?,
            };
            if found.meta.size != n_bytes {
                let n_found = found.meta.size;
                return Ok(Err(lost(format!("has {n_found} bytes, expected {n_bytes}"))));
            }
            found.bytes().await.map(Ok)
        };
        self.within_limit("read from", read).await?
    }

    /// The size of an object. `None` if there is none.
    pub(super) async fn size(&self, name: &str) -> Result<Option<u64>, UploadStoreError> {
        let path = self.path(name);
        let size = async {
            match self.objects.head(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                found => Ok(Some(found?.size)),
            }
        };
        self.within_limit("read from", size).await
    }

    /// The URL to which an object of exactly `n_bytes` bytes can be written with PUT for so long. `None` if this is a folder.
    pub(super) async fn presign(
        &self,
        name: &str,
        n_bytes: u32,
        lifetime: Duration,
    ) -> Result<Option<String>, UploadStoreError> {
        let Some(presigner) = &self.presigner else { return Ok(None) };
        let path = self.path(name);
        let url = self.within_limit("sign a URL of", presigner.put(&path, n_bytes, lifetime)).await?;
        Ok(Some(url.into()))
    }

    /// The names of the objects here, at most `limit`.
    pub(super) async fn names(&self, limit: usize) -> Result<Vec<String>, UploadStoreError> {
        let prefix = (!self.prefix.as_ref().is_empty()).then_some(&self.prefix);
        let listed = self.objects.list(prefix).take(limit).try_collect();
        let listed: Vec<object_store::ObjectMeta> = self.within_limit("list", listed).await?;
        let name = |path: &Path| {
            let parts: Vec<_> = path.prefix_match(&self.prefix)?.collect();
            let [name] = parts.as_slice() else { return None };
            Some(name.as_ref().to_owned())
        };
        let mut names: Vec<_> = listed.iter().filter_map(|object| name(&object.location)).collect();
        if let Some(folder) = &self.folder {
            let unfinished = unfinished(folder, limit).await;
            names.extend(unfinished.map_err(|error| self.failed("list", error.to_string()))?);
        }
        Ok(names)
    }

    /// Deletes objects. It is no error if one does not exist.
    pub(super) async fn delete(&self, names: &[String]) -> Result<(), UploadStoreError> {
        if let Some(folder) = &self.folder {
            for name in names.iter().filter(|name| name.contains(UNFINISHED)) {
                match tokio::fs::remove_file(folder.join(name)).await {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(self.failed("delete from", error.to_string()));
                    }
                    _ => (),
                }
            }
        }
        let finished = names.iter().filter(|name| !name.contains(UNFINISHED));
        let paths: Vec<_> = finished.map(|name| Ok(self.path(name))).collect();
        let mut deleted = self.objects.delete_stream(futures::stream::iter(paths).boxed());
        let delete = async {
            let mut result = Ok(());
            while let Some(one) = deleted.next().await {
                match one {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => (),
                    Err(error) => result = Err(error),
                }
            }
            result
        };
        self.within_limit("delete from", delete).await
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
