//! The settings and their defaults.

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf, time::Duration};

use documented::DocumentedFields;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::{networks::Networks, origins::Origins, public_url::PublicUrl};

/// The hardware that models run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people.
    Human,
    /// One JSON object a line.
    Json,
}

/// What an api needs to say that it is ready. Each also needs what the later ones need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadyNeeds {
    /// The process accepts requests.
    Process,
    /// Its database answers and has space.
    Database,
    /// A worker claims jobs.
    Worker,
}

/// Everything an operator can set. The comments of the fields are the texts of the reference: [`settings`](super::reference::settings).
#[derive(Debug, Clone, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The Postgres database, as `postgres://user:password@host/database`. As for libpq, it may name several hosts
    /// (`@first,second/`), and `target_session_attrs=read-write` says that the one of them is meant that takes changes.
    /// Unset, `akhar serve` runs a private Postgres, and `akhar keys` and `akhar webhooks` use that one.
    #[serde(skip_serializing)]
    pub database_url: Option<SecretString>,
    /// Where processes listen for notifications, if `AKHAR_DATABASE_URL` is the address of a pooler in transaction mode, which
    /// passes none on: the address of the same database without that pooler. `off` needs no such connection: processes
    /// look for new jobs and results once a second.
    #[serde(skip_serializing)]
    pub database_listen_url: Option<SecretString>,
    /// A replica of the database, from which an API reads lists: of jobs, groups and changes by operators. They may be some
    /// seconds old then; the operations page is not. While the replica is away or more than five seconds behind, they are
    /// read from the database itself.
    #[serde(skip_serializing)]
    pub database_read_url: Option<SecretString>,
    /// Connections in the pool of one process; at least 4.
    /// The process opens further ones beside them: one that listens for notifications, and four (API) or three (worker)
    /// for the statements of the queue.
    pub database_connections: NonZeroUsize,
    /// Seconds that a process waits for work in progress once it was told to stop.
    pub shutdown_s: u64,
    /// Seconds that an API process goes on accepting connections once it was told to stop, before it refuses them and
    /// `AKHAR_SHUTDOWN_S` begins. Meanwhile `GET /health/ready` answers 503 and every response closes its connection, so
    /// that load balancers send requests to other processes. Behind a load balancer, set it to a few of its checks.
    pub drain_s: u64,
    /// What `GET /health/ready` of an API needs to succeed: `process` (it accepts requests), `database` (and its database answers and
    /// has space) or `worker` (and a worker claims jobs). With `database`, jobs wait and results are served while no worker
    /// runs, so the number of workers may fall to 0.
    pub ready_needs: ReadyNeeds,
    /// Format of log lines: `human` or `json`.
    pub log_format: LogFormat,
    /// Log lines that servers write, such as `info,akhar_worker=debug`. `RUST_LOG` has the same syntax and takes precedence.
    /// Unset, they are messages of Akhar from `info`, and warnings of libraries.
    pub log_filter: Option<String>,
    /// Where the uploads of jobs are kept until the jobs end: `postgres` (in the database), `file:///absolute/folder` (files
    /// in a folder that exists and that every process can use), or `s3://bucket/prefix` (objects in a bucket of Amazon S3
    /// or a service with its interface). A bucket's credentials, region and endpoint are read from the variables of
    /// Amazon's tools: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL` and so on. Set it to
    /// the same for all processes of a database, and for no others.
    pub upload_store: String,
    /// Bytes that an upload must have to be kept in `AKHAR_UPLOAD_STORE` if that is not `postgres`. Smaller uploads stay in
    /// the database, where they cost less than a request to a bucket. 0 keeps all uploads out of the database.
    pub upload_store_min_bytes: usize,
    /// Folder in which `akhar serve` keeps its private Postgres and the demo key.
    pub data_dir: PathBuf,
    /// Address and port that the API listens on. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Address and port on which a process serves its metrics, such as `127.0.0.1:9464`; the worker of `akhar serve` takes the
    /// next port. Whoever reaches it can read them. Unset, there are none. Port 0 takes a free one, which the log names.
    pub metrics_listen: Option<SocketAddr>,
    /// Requests that one API process handles at a time, of which one account may have three quarters. Further requests
    /// are answered with 503 `busy`, and those of such an account with 429 `account-busy`. Of streams of events (`GET
    /// /v1/jobs/{id}/events`), one account may have a tenth as many; further ones are answered with 429 `too-many-streams`.
    pub max_requests: NonZeroUsize,
    /// Bytes of uploads that one API process keeps in memory at a time. Recordings may have seven eighths of them, and so
    /// may images and texts, and sockets; one account may have three quarters of either. A request whose body does not fit is answered
    /// with 503 `busy`, or with 429 `account-busy` if it is the part of its account that is full. At least 4000000, so that every file fits.
    /// Answers of more than 16 KiB that wait to be read may have half as many bytes beside them.
    pub max_upload_bytes: usize,
    /// Bytes that a recording may have which a worker fetches from a URL, or which its caller sends to the bucket. The worker
    /// keeps it in a file in the folder for temporary files (`TMPDIR`, or `/tmp`) until the job ends, four at a time by default.
    pub max_fetched_bytes: NonZeroUsize,
    /// Connections of clients that one API process has open at a time. Further ones wait until another is closed. One address
    /// (IPv4, or IPv6 network of 64 bits) may have half of them, unless it is in `AKHAR_TRUSTED_PROXIES`: its further ones are
    /// closed at once. The number is lowered if the process may not open so many files.
    pub max_connections: NonZeroUsize,
    /// Networks of the proxies in front of the API, such as `10.1.0.0/16`. The last address in `X-Forwarded-For` that is not in
    /// them is that of the client, whose attempts to sign in at `/ops` are counted. Other connections cannot name a client. As
    /// many connections may come from these networks as from all.
    pub trusted_proxies: Option<Networks>,
    /// The URL at which clients reach the API, if a proxy serves it below a path that it takes away, such as
    /// `https://example.org/akhar`. Pages, `Location`, cookies and the OpenAPI document then have this path.
    pub public_url: Option<PublicUrl>,
    /// Jobs that may wait in one queue. One account may use four of five places, and fewer while other accounts have
    /// waiting jobs. Further requests are answered with 503 `queue-full`, and those of such an account with 429 `account-busy`.
    pub max_waiting: i64,
    /// Bytes of uploads and results that one account may have in the database, if it has no quota of its own. They are estimated
    /// once a minute. Further requests are answered with 429 `quota-exceeded`.
    pub max_stored_bytes: u64,
    /// Seconds that the API holds a response for an image or a text. After that it answers with 202 and the job.
    pub quick_wait_s: u64,
    /// Seconds that the API holds a response for a recording or a translation. After that it answers with 202 and the job.
    pub speech_wait_s: u64,
    /// Networks that webhooks may be sent to, and recordings fetched from, though they are not public, such as `10.1.0.0/16,
    /// 192.168.1.5`. To these, requests may also be sent with `http://`. Callers choose the URLs, so list only machines that
    /// every caller may send requests to. `akhar keys` reads this setting too.
    pub webhook_allow: Option<Networks>,
    /// Origins of web pages whose scripts may send requests from browsers, such as `https://app.example, http://localhost:5173`
    /// (CORS). Unset, those of no other server.
    pub cors_origins: Option<Origins>,
    /// Jobs of the quick queue (images and handwriting) that one worker process runs at a time.
    pub worker_concurrency: NonZeroUsize,
    /// Copies of each speech model in a worker process. Each runs on a thread of its own, so that as many recordings are
    /// recognised at a time, and each takes the memory of the model again. Unset, one; `akhar transcribe` without a server
    /// runs one for each core.
    pub speech_copies: Option<NonZeroUsize>,
    /// Seconds that an attempt at a speech job may take from one part of the recording or text to the next. A part has up to 14 s of
    /// sound, or eight translations.
    pub speech_timeout_s: u64,
    /// Seconds that the outcome of a job is kept after the job ended. A job that the service failed to process is kept seven
    /// times as long, with its upload, so that `akhar jobs retry` can run it again.
    pub retention_s: u64,
    /// Folder of the model manifests. If it is not set, the first folder `models` with manifests is used: of the working folder,
    /// of the program's folder and the two above it, and of `akhar` in `XDG_DATA_HOME` and `XDG_DATA_DIRS`.
    pub models_dir: PathBuf,
    /// ONNX Runtime's shared library. `make run` downloads it to the default path. If it is not set, that path and
    /// `libonnxruntime.so` are looked for in the same folders as the models.
    pub ort_dylib: PathBuf,
    /// Hardware that models run on: `cpu`, or `cuda` where `AKHAR_ORT_DYLIB` names a library built for CUDA.
    pub device: Device,
    /// Threads that one run of a model uses. More threads suit a large model and few callers; one thread suits small
    /// models and many callers.
    pub inference_threads: NonZeroUsize,
    /// Address of the server that `akhar transcribe` sends recordings to, such as `https://akhar.example`. Unset, the
    /// command runs a service of its own.
    pub url: Option<String>,
    /// API key for that server.
    #[serde(skip_serializing)]
    pub key: Option<SecretString>,
}

impl Default for Config {
    fn default() -> Self {
        const fn n(n: usize) -> NonZeroUsize {
            match NonZeroUsize::new(n) {
                Some(n) => n,
                None => NonZeroUsize::MIN,
            }
        }
        Self {
            database_url: None,
            database_listen_url: None,
            database_read_url: None,
            database_connections: n(12),
            shutdown_s: 30,
            drain_s: 0,
            ready_needs: ReadyNeeds::Worker,
            log_format: LogFormat::Human,
            log_filter: None,
            upload_store: "postgres".to_owned(),
            upload_store_min_bytes: 64 * 1024,
            data_dir: "data".into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            metrics_listen: None,
            max_requests: n(2000),
            max_upload_bytes: 128 * 1024 * 1024,
            max_fetched_bytes: n(512 * 1024 * 1024),
            max_connections: n(8000),
            trusted_proxies: None,
            public_url: None,
            max_waiting: 1000,
            max_stored_bytes: 4_000_000_000,
            quick_wait_s: 30,
            speech_wait_s: 300,
            webhook_allow: None,
            cors_origins: None,
            worker_concurrency: n(32),
            speech_copies: None,
            speech_timeout_s: 1800,
            retention_s: 24 * 60 * 60,
            models_dir: "models".into(),
            ort_dylib: ".cache/onnxruntime/libonnxruntime.so".into(),
            device: Device::Cpu,
            inference_threads: n(1),
            url: None,
            key: None,
        }
    }
}

impl Config {
    /// How long a stopping API process accepts requests.
    pub const fn drain_notice(&self) -> Duration {
        Duration::from_secs(self.drain_s)
    }

    /// Copies of each speech model in a worker process.
    pub fn speech_copies(&self) -> NonZeroUsize {
        self.speech_copies.unwrap_or(NonZeroUsize::MIN)
    }

    /// How long a stopping process waits for unfinished work.
    pub const fn shutdown_limit(&self) -> Duration {
        Duration::from_secs(self.shutdown_s)
    }
}
