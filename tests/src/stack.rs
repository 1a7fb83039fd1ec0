//! A world of its own: one database, one `akhar api` on a free port, any number of `akhar worker`s.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use akhar_client::Client;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

use crate::{
    Answer, Cluster, Form, Process, cluster,
    http::{self, Problem},
    process::command,
    root, until,
};

/// Stacks that run at a time: each is two processes or more, and each wants a core for a moment.
static ROOM: Semaphore = Semaphore::const_new(3);

/// A running service.
#[derive(Debug)]
pub struct Stack {
    /// Its api.
    pub api: Process,
    /// Its workers, in the order they were started.
    pub workers: Vec<Process>,
    /// Its database, for looking.
    pub db: PgPool,
    /// Where it answers, such as `http://127.0.0.1:41234`.
    pub base: String,
    /// A key that works.
    pub key: String,
    folder: PathBuf,
    environment: Vec<(String, String)>,
    client: reqwest::Client,
    /// Problems whose page was looked at.
    explained: Mutex<BTreeSet<String>>,
    _room: SemaphorePermit<'static>,
}

/// What a stack is started with.
#[derive(Debug, Clone)]
pub struct StackBuilder<'a> {
    cluster: Option<&'a Cluster>,
    n_workers: usize,
    environment: Vec<(String, String)>,
}

impl Default for StackBuilder<'_> {
    fn default() -> Self {
        Self { cluster: None, n_workers: 1, environment: Vec::new() }
    }
}

impl<'a> StackBuilder<'a> {
    /// Sets one name of the environment of all its processes.
    #[must_use]
    pub fn set(mut self, name: &str, value: u64) -> Self {
        self.environment.push((name.to_owned(), value.to_string()));
        self
    }

    /// With models of its own, in this folder.
    #[must_use]
    pub fn models(mut self, folder: &Path) -> Self {
        self.environment.push(("AKHAR_MODELS_DIR".to_owned(), folder.to_string_lossy().into_owned()));
        self
    }

    /// How many workers; one unless told.
    #[must_use]
    pub fn workers(mut self, n: usize) -> Self {
        self.n_workers = n;
        self
    }

    /// On a Postgres of its own.
    #[must_use]
    pub fn on(mut self, cluster: &'a Cluster) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Starts it: when this returns the api answers and the workers are warm.
    pub async fn start(self) -> Stack {
        let room = ROOM.acquire().await.expect("never closed");
        let cluster = self.cluster.unwrap_or_else(|| Cluster::shared());
        let (options, folder) = (cluster.database().await, cluster.folder().to_owned());
        let mut environment = base_environment(&options);
        environment.extend(self.environment);
        let mut api = Process::start("api", &environment);
        let mut workers: Vec<_> =
            (0..self.n_workers).map(|_| Process::start("worker", &environment)).collect();
        let key = keys(&environment, &["create", "--name", "test"]).await;
        let line = api.first_line().await;
        let base =
            line.strip_prefix("listening on ").unwrap_or_else(|| panic!("first line: {line}")).to_owned();
        for worker in &mut workers {
            assert_eq!(worker.first_line().await, "ready");
        }
        // A test that locks itself out fails, and does not hang.
        let looking = options.options([("lock_timeout", "20s")]);
        let db = PgPoolOptions::new().max_connections(4).connect_lazy_with(looking);
        let client = http::client();
        Stack {
            api,
            workers,
            db,
            base,
            key,
            folder,
            environment,
            client,
            explained: Mutex::default(),
            _room: room,
        }
    }
}

/// The environment every process of a test gets.
pub fn base_environment(options: &PgConnectOptions) -> Vec<(String, String)> {
    let dylib = std::env::var("AKHAR_ORT_DYLIB")
        .map_or_else(|_| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
    let dylib = dylib.canonicalize().unwrap_or_else(|error| {
        panic!("ONNX Runtime at {}: {error}; run `make test`, which fetches it", dylib.display())
    });
    let models = std::env::var("AKHAR_MODELS_DIR").map_or_else(|_| root().join("models"), PathBuf::from);
    let socket = options.get_socket().expect("a private Postgres has a socket");
    [
        ("AKHAR_DATABASE_URL", cluster::url(options)),
        ("AKHAR_DATABASE_CONNECTIONS", "8".to_owned()),
        ("AKHAR_LISTEN", "127.0.0.1:0".to_owned()),
        ("AKHAR_LOG_FORMAT", "json".to_owned()),
        ("AKHAR_MODELS_DIR", models.to_string_lossy().into_owned()),
        ("AKHAR_ORT_DYLIB", dylib.to_string_lossy().into_owned()),
        // Read by nobody: how the cluster's watch knows our processes.
        ("TESTS_SOCKET", socket.to_string_lossy().into_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

async fn keys(environment: &[(String, String)], arguments: &[&str]) -> String {
    let mut all = vec!["keys"];
    all.extend(arguments);
    let output = command(&all, environment).output().await.expect("akhar keys runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "akhar keys {arguments:?} ended with {}: {said}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

impl Stack {
    /// One api and one worker with the defaults.
    pub async fn start() -> Self {
        StackBuilder::default().start().await
    }

    /// To be set up before it starts.
    pub fn with<'a>() -> StackBuilder<'a> {
        StackBuilder::default()
    }

    /// A folder for files, gone when the tests are over.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts one more worker; warm when this returns.
    pub async fn add_worker(&mut self) {
        let mut worker = Process::start("worker", &self.environment);
        assert_eq!(worker.first_line().await, "ready");
        self.workers.push(worker);
    }

    /// kill -9 of the api, which then starts again on the same address; it answers when this returns.
    pub async fn restart_api(&mut self) {
        self.api.kill().await;
        let mut environment = self.environment.clone();
        environment.retain(|(name, _)| name != "AKHAR_LISTEN");
        environment.push(("AKHAR_LISTEN".to_owned(), self.base.trim_start_matches("http://").to_owned()));
        self.api = Process::start("api", &environment);
        assert_eq!(self.api.first_line().await, format!("listening on {}", self.base));
    }

    /// Runs `akhar keys …`; what it printed.
    pub async fn keys(&self, arguments: &[&str]) -> String {
        keys(&self.environment, arguments).await
    }

    /// A client with this key.
    pub fn client(&self, key: &str) -> Client {
        Client::new(self.client.clone(), &self.base, key)
    }

    /// A request to be sent with this stack's key.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.anonymous(method, path).bearer_auth(&self.key)
    }

    /// A request to be sent without a key.
    pub fn anonymous(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = method.parse().expect("a method");
        let url =
            if path.starts_with("http") { Cow::from(path) } else { format!("{}{path}", self.base).into() };
        self.client.request(method, &*url)
    }

    /// A POST of a form to an operation, to be sent with this stack's key.
    pub fn post(&self, operation: &str, form: &Form) -> reqwest::RequestBuilder {
        let request = self.request("POST", &format!("/v1/models/{operation}"));
        request.header("content-type", form.content_type()).body(form.body())
    }

    /// The answer to an image.
    pub async fn recognise(&self, operation: &str, image: &[u8]) -> Answer {
        http::send(self.post(operation, &Form::upload(image))).await
    }

    /// Sends a request that is to be refused with this status; the problem, which has a page to explain
    /// it.
    pub async fn refused(&self, request: reqwest::RequestBuilder, status: u16) -> Problem {
        let path =
            request.try_clone().and_then(|r| r.build().ok()).expect("a request").url().path().to_owned();
        let problem = http::send(request).await.problem(status);
        assert_eq!(problem.json["instance"], path, "{}", problem.json);
        let page = format!("/problems/{}", problem.slug);
        if self.explained.lock().unwrap_or_else(PoisonError::into_inner).insert(problem.slug.clone()) {
            let answer = http::send(self.anonymous("GET", &page)).await;
            assert_eq!(answer.status, 200, "{page}");
            let title = problem.json["title"].as_str().expect("a title");
            assert!(String::from_utf8_lossy(&answer.body).contains(title), "{page} does not say {title:?}");
        }
        problem
    }

    /// The answer to a GET with this stack's key.
    pub async fn get(&self, path: &str) -> Answer {
        http::send(self.request("GET", path)).await
    }

    /// One column of one row.
    pub async fn row<T>(&self, query: &'static str, id: Uuid) -> T
    where
        T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        sqlx::query_scalar(query).bind(id).fetch_one(&self.db).await.expect(query)
    }

    /// Waits until a job is in this state.
    pub async fn job_is(&self, id: Uuid, state: &str) {
        until(&format!("job {id} is {state}"), async || {
            let found: String = self.row("select state from jobs where id = $1", id).await;
            (found == state).then_some(())
        })
        .await;
    }

    /// Waits until this many jobs are in this state.
    pub async fn jobs_are(&self, n: i64, state: &str) {
        until(&format!("{n} jobs are {state}"), async || {
            let counted: i64 = sqlx::query_scalar("select count(*) from jobs where state = $1")
                .bind(state)
                .fetch_one(&self.db)
                .await
                .expect("a count");
            (counted == n).then_some(())
        })
        .await;
    }
}
