//! Stores of uploads outside the database: a folder, or a bucket of a real S3 server (moto, in Python).

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{Process, http, root, until};

/// The bucket that `tests/s3_server.py` creates.
const BUCKET: &str = "akhar";
/// The beginning of the names of all objects.
const PREFIX: &str = "uploads/of tests";

/// A store for one test.
#[derive(Debug)]
pub enum Store {
    /// A folder.
    Folder(PathBuf),
    /// A bucket.
    Bucket(Box<S3Server>),
}

/// A running S3 server. It ends when the value is dropped, or with this process.
#[derive(Debug)]
pub struct S3Server {
    /// The process.
    pub process: Process,
    /// The server's address, such as `http://127.0.0.1:41234`.
    pub address: String,
    client: reqwest::Client,
}

impl S3Server {
    /// Starts a server with an empty bucket.
    pub async fn start() -> Self {
        let python = root().join(".cache/schemathesis/bin/python");
        assert!(python.is_file(), "{} is missing: run `make test`, which installs it", python.display());
        let mut command = Command::new(python);
        command.arg(root().join("tests/s3_server.py")).stdin(Stdio::piped()).kill_on_drop(true);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let mut process = Process::spawn("the S3 server", command);
        let address = process.first_line().await;
        Self { process, address, client: http::client() }
    }

    /// The settings of a service that keeps its uploads in the bucket of a server with this address, which may be that
    /// of a proxy.
    pub fn settings(address: &str) -> Vec<(String, String)> {
        let prefix = PREFIX.replace(' ', "%20");
        [
            ("AKHAR_UPLOAD_STORE", format!("s3://{BUCKET}/{prefix}")),
            ("AWS_ENDPOINT_URL", address.to_owned()),
            ("AWS_ACCESS_KEY_ID", "tests".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "a secret of tests".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// The names of all objects in the bucket, at most 1,000.
    pub async fn objects(&self) -> Vec<String> {
        let url = format!("{}/{BUCKET}?list-type=2", self.address);
        let listed = self.client.get(url).send().await.expect("the S3 server answers");
        let listed = listed.text().await.expect("a list");
        let names = listed.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        names.map(str::to_owned).collect()
    }

    async fn delete(&self, name: &str) {
        let url = format!("{}/{BUCKET}/{}", self.address, name.replace(' ', "%20"));
        self.client.delete(url).send().await.expect("the S3 server answers");
    }
}

impl Store {
    /// An empty folder in this one.
    pub fn folder(parent: &Path) -> Self {
        let folder = parent.join(format!("uploads of {}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).expect("a folder for uploads");
        Self::Folder(folder)
    }

    /// An empty bucket.
    pub async fn bucket() -> Self {
        Self::Bucket(Box::new(S3Server::start().await))
    }

    /// The settings of a service that keeps all uploads here, of whatever size.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut settings = match self {
            Self::Folder(folder) => {
                let folder = folder.to_string_lossy().replace(' ', "%20");
                vec![("AKHAR_UPLOAD_STORE".to_owned(), format!("file://{folder}"))]
            }
            Self::Bucket(server) => S3Server::settings(&server.address),
        };
        settings.push(("AKHAR_UPLOAD_STORE_MIN_BYTES".to_owned(), "0".to_owned()));
        settings
    }

    /// The value of the setting.
    pub fn address(&self) -> String {
        self.settings().swap_remove(0).1
    }

    /// The names of all objects.
    pub async fn objects(&self) -> Vec<String> {
        match self {
            Self::Folder(folder) => {
                let files = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file"));
                files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
            }
            Self::Bucket(server) => server.objects().await,
        }
    }

    /// Waits until there are this many objects.
    pub async fn has(&self, n: usize) {
        until(&format!("there are {n} objects"), async || (self.objects().await.len() == n).then_some(()))
            .await;
    }

    /// Deletes all objects.
    pub async fn clear(&self) {
        for name in self.objects().await {
            match self {
                Self::Folder(folder) => fs::remove_file(folder.join(name)).expect("a file"),
                Self::Bucket(server) => server.delete(&name).await,
            }
        }
    }
}
