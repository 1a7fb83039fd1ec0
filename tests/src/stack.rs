//! A separate installation for one test: a database, an `akhar api` on a free port, and any number of `akhar
//! worker`s.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use akhar_client::Client;
use akhar_platform::database::Pool;
use parking_lot::Mutex;
use rustix::process::Signal;
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use tokio::{
    process::Command,
    sync::{Semaphore, SemaphorePermit},
};
use uuid::Uuid;

use crate::{
    Answer, Cluster, Form, PoolMode, Pooler, Process, cluster,
    http::{self, Problem},
    process::{self, command},
    root,
    terminal::Terminal,
    until,
};

/// Limits how many stacks run at the same time. Each has two or more processes, which need CPU time when they
/// start.
static STACK_PERMITS: Semaphore = Semaphore::const_new(3);

/// A running service.
#[derive(Debug)]
pub struct Stack {
    /// The api process.
    pub api: Process,
    /// The worker processes in the order in which they were started.
    pub workers: Vec<Process>,
    /// The database, for checks by the test.
    pub db: Pool,
    /// The api's address, such as `http://127.0.0.1:41234`.
    pub base: String,
    /// A valid key.
    pub key: String,
    folder: PathBuf,
    environment: Vec<(String, String)>,
    client: reqwest::Client,
    /// The problem types whose pages were already checked.
    checked_pages: Mutex<BTreeSet<String>>,
    _pooler: Option<Pooler>,
    _permit: SemaphorePermit<'static>,
}

/// With this environment variable, every stack runs behind a pooler in transaction mode. The processes get their
/// notifications at the server itself (`listen`), or none (`poll`).
const POOLER: &str = "TESTS_POOLER";

/// The settings of a stack that is about to start.
#[derive(Debug, Clone)]
pub struct StackBuilder<'a> {
    cluster: Option<&'a Cluster>,
    socket: Option<&'a Path>,
    n_workers: usize,
    environment: Vec<(String, String)>,
    without: Vec<&'static str>,
}

impl Default for StackBuilder<'_> {
    fn default() -> Self {
        Self { cluster: None, socket: None, n_workers: 1, environment: Vec::new(), without: Vec::new() }
    }
}

impl<'a> StackBuilder<'a> {
    /// Sets an environment variable for all processes.
    #[must_use]
    pub fn set(self, name: &str, value: u64) -> Self {
        self.set_text(name, &value.to_string())
    }

    /// Sets an environment variable to a text for all processes.
    #[must_use]
    pub fn set_text(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets environment variables for all processes.
    #[must_use]
    pub fn settings(mut self, settings: Vec<(String, String)>) -> Self {
        self.environment.extend(settings);
        self
    }

    /// Leaves a variable of [`base_environment`] at the product's default.
    #[must_use]
    pub fn without(mut self, name: &'static str) -> Self {
        self.without.push(name);
        self
    }

    /// Uses the models in this folder.
    #[must_use]
    pub fn models(self, folder: &Path) -> Self {
        self.set_text("AKHAR_MODELS_DIR", &folder.to_string_lossy())
    }

    /// Makes every process serve metrics: see [`crate::monitor::metrics`].
    #[must_use]
    pub fn with_metrics(self) -> Self {
        self.set_text("AKHAR_METRICS_LISTEN", "127.0.0.1:0")
    }

    /// Sets the number of workers. The default is 1.
    #[must_use]
    pub fn workers(mut self, n: usize) -> Self {
        self.n_workers = n;
        self
    }

    /// Uses this Postgres instead of the shared one.
    #[must_use]
    pub fn on(mut self, cluster: &'a Cluster) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Connects the processes to Postgres through the socket in this folder instead of the server's own.
    #[must_use]
    pub fn socket(mut self, folder: &'a Path) -> Self {
        self.socket = Some(folder);
        self
    }

    /// Starts the stack. When this returns, the api answers and the workers are ready.
    pub async fn start(self) -> Stack {
        let permit = STACK_PERMITS.acquire().await.expect("the semaphore is never closed");
        let cluster = self.cluster.unwrap_or_else(|| Cluster::shared());
        let options = cluster.database().await;
        let folder = cluster.folder().to_owned();
        let mut environment = base_environment(&options);
        let pooler = match std::env::var(POOLER) {
            Ok(notified) if self.socket.is_none() => {
                let listen_url = if notified == "poll" { "off".to_owned() } else { cluster::url(&options) };
                environment.push(("AKHAR_DATABASE_LISTEN_URL".to_owned(), listen_url));
                Some(Pooler::start(cluster, PoolMode::Transaction).await)
            }
            _ => None,
        };
        if let Some(socket) = pooler.as_ref().map(Pooler::socket).or(self.socket) {
            environment.extend(base_environment(&options.clone().socket(socket)));
        }
        environment.extend(self.environment);
        environment.retain(|(name, _)| !self.without.contains(&name.as_str()));
        let mut api = Process::start("api", &environment);
        let mut workers: Vec<_> =
            (0..self.n_workers).map(|_| Process::start("worker", &environment)).collect();
        let key = akhar(&environment, &["keys", "create", "--name", "test"]).await;
        let base = listen_again(&mut api).await;
        for worker in &mut workers {
            assert_eq!(worker.first_line().await, "ready");
        }
        // With a timeout, a test that waits for a lock of its own fails instead of hanging.
        let with_timeout = options.options([("lock_timeout", "20s"), ("statement_timeout", "0")]);
        let db = Pool::new(with_timeout.into(), 4);
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
            checked_pages: Mutex::default(),
            _pooler: pooler,
            _permit: permit,
        }
    }
}

/// The address of an api, which it gets again when it is restarted.
async fn listen_again(api: &mut Process) -> String {
    let base = api.address().await;
    api.set("AKHAR_LISTEN", base.trim_start_matches("http://"));
    base
}

/// The path of ONNX Runtime's library.
pub fn onnxruntime() -> PathBuf {
    let dylib = std::env::var("AKHAR_ORT_DYLIB")
        .map_or_else(|_| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
    dylib.canonicalize().unwrap_or_else(|error| {
        panic!("ONNX Runtime at {}: {error}; run `make test`, which fetches it", dylib.display())
    })
}

/// The folder of the models.
pub fn models() -> PathBuf {
    std::env::var("AKHAR_MODELS_DIR").map_or_else(|_| root().join("models"), PathBuf::from)
}

/// The environment of every process of a test.
pub fn base_environment(options: &PgConnectOptions) -> Vec<(String, String)> {
    let socket = options.get_socket().expect("a private Postgres has a socket");
    [
        ("AKHAR_DATABASE_URL", cluster::url(options)),
        ("AKHAR_DATABASE_CONNECTIONS", "8".to_owned()),
        ("AKHAR_LISTEN", "127.0.0.1:0".to_owned()),
        ("AKHAR_LOG_FORMAT", "json".to_owned()),
        ("AKHAR_MODELS_DIR", models().to_string_lossy().into_owned()),
        ("AKHAR_ORT_DYLIB", onnxruntime().to_string_lossy().into_owned()),
        // No program reads this variable. The watching shell of `cluster` finds the tests' processes by it.
        ("TESTS_SOCKET", socket.to_string_lossy().into_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

async fn akhar(environment: &[(String, String)], arguments: &[&str]) -> String {
    let output = command(arguments, environment).output().await.expect("akhar runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "akhar {arguments:?} ended with {}: {said}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

impl Stack {
    /// Starts an api and one worker with the default settings.
    pub async fn start() -> Self {
        StackBuilder::default().start().await
    }

    /// A builder, to change settings before the stack starts.
    pub fn with<'a>() -> StackBuilder<'a> {
        StackBuilder::default()
    }

    /// The environment of the processes.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The setting of a process that reaches the database through the socket in this folder.
    pub fn database_through(&self, folder: &Path) -> (String, String) {
        let name = "AKHAR_DATABASE_URL";
        let of_stack = self.environment.iter().rfind(|(other, _)| other == name).expect("a database");
        let options: PgConnectOptions = of_stack.1.parse().expect("it was written by sqlx");
        (name.to_owned(), cluster::url(&options.socket(folder)))
    }

    /// A temporary folder, which is removed after the tests.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts one more worker. It is ready when this returns.
    pub async fn add_worker(&mut self) {
        self.add_worker_with(&[]).await;
    }

    /// The same with further settings.
    pub async fn add_worker_with(&mut self, settings: &[(String, String)]) {
        let mut worker = Process::start("worker", self.environment.iter().chain(settings));
        assert_eq!(worker.first_line().await, "ready");
        self.workers.push(worker);
    }

    /// Starts one more api. Returns it and its address; it answers.
    pub async fn start_api(&self) -> (Process, String) {
        self.start_api_with(&[]).await
    }

    /// The same with further settings.
    pub async fn start_api_with(&self, settings: &[(String, String)]) -> (Process, String) {
        let mut api = Process::start("api", self.environment.iter().chain(settings));
        let base = listen_again(&mut api).await;
        (api, base)
    }

    /// Changes settings of the processes that are started from now on, and of the api when it is restarted.
    pub fn change(&mut self, settings: Vec<(String, String)>) {
        for (name, value) in settings {
            self.api.set(&name, &value);
            self.environment.push((name, value));
        }
    }

    /// Kills the api (-9) and starts it again on the same address. It answers when this returns.
    pub async fn restart_api(&mut self) {
        self.api.restart(Signal::KILL).await;
        assert_eq!(self.api.address().await, self.base);
    }

    /// Runs `akhar keys …` and returns what it printed.
    pub async fn keys(&self, arguments: &[&str]) -> String {
        self.akhar(&[&["keys"], arguments].concat()).await
    }

    /// Runs `akhar …` and returns what it printed.
    pub async fn akhar(&self, arguments: &[&str]) -> String {
        akhar(&self.environment, arguments).await
    }

    /// A command with the environment of this stack's processes.
    pub fn command(&self, arguments: &[&str]) -> Command {
        command(arguments, &self.environment)
    }

    /// Runs a command with the environment of this stack's processes. Returns its exit code and what it printed to stdout
    /// and to stderr.
    pub async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        self.run_with(arguments, &[]).await
    }

    /// The same with some variables of the environment changed.
    pub async fn run_with(
        &self,
        arguments: &[&str],
        changed: &[(&str, &str)],
    ) -> (Option<i32>, String, String) {
        let mut command = self.command(arguments);
        command.envs(changed.iter().copied());
        process::run(command).await
    }

    /// Runs a command whose standard input is a terminal, at which this answer is typed. Returns what it printed.
    pub async fn on_a_terminal(&self, arguments: &[&str], answer: &str) -> String {
        let (mut terminal, screen) = Terminal::open();
        terminal.enter(answer);
        let mut command = self.command(arguments);
        command.stdin(screen);
        let (_, out, log) = process::run(command).await;
        out + &log
    }

    /// The JSON that a command with `--json` prints.
    pub async fn akhar_json(&self, arguments: &[&str]) -> Value {
        let (_, out, log) = self.run(&[arguments, &["--json"]].concat()).await;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}{log}"))
    }

    /// The product's client with this key.
    pub fn client(&self, key: &str) -> Client {
        Client::new(self.client.clone(), &self.base, key)
    }

    /// A request with this stack's key.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.anonymous(method, path).bearer_auth(&self.key)
    }

    /// A request without a key.
    pub fn anonymous(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = method.parse().expect("a method");
        let url =
            if path.starts_with("http") { Cow::from(path) } else { format!("{}{path}", self.base).into() };
        self.client.request(method, &*url)
    }

    /// A POST of a form to an operation, with this stack's key.
    pub fn post(&self, operation: &str, form: &Form) -> reqwest::RequestBuilder {
        self.post_as(&self.key, operation, form)
    }

    /// The same with another key.
    pub fn post_as(&self, key: &str, operation: &str, form: &Form) -> reqwest::RequestBuilder {
        form.send_with(self.anonymous("POST", &format!("/v1/models/{operation}")).bearer_auth(key))
    }

    /// Sends an image to an operation and returns the answer.
    pub async fn recognise(&self, operation: &str, image: &[u8]) -> Answer {
        http::send(self.post(operation, &Form::upload(image))).await
    }

    /// Sends a request that must be refused with this status, and returns the problem. Also checks that the
    /// problem type has a page.
    pub async fn refused(&self, request: reqwest::RequestBuilder, status: u16) -> Problem {
        let path =
            request.try_clone().and_then(|r| r.build().ok()).expect("a request").url().path().to_owned();
        let problem = http::send(request).await.problem(status);
        assert_eq!(problem.json["instance"], path, "{}", problem.json);
        let page = format!("/problems/{}", problem.slug);
        if self.checked_pages.lock().insert(problem.slug.clone()) {
            let answer = http::send(self.anonymous("GET", &page)).await;
            assert_eq!(answer.status, 200, "{page}");
            let title = problem.json["title"].as_str().expect("a title");
            assert!(
                String::from_utf8_lossy(&answer.body).contains(title),
                "{page} does not have the title {title:?}"
            );
        }
        problem
    }

    /// Sends a GET request with this stack's key and returns the answer.
    pub async fn get(&self, path: &str) -> Answer {
        http::send(self.request("GET", path)).await
    }

    /// Reads one column of one row. Postgres may have been restarted since the last time, which closed the connections.
    pub async fn row<T>(&self, query: &'static str, id: Uuid) -> T
    where
        T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        let read = || sqlx::query_scalar(query).bind(id).fetch_one(&self.db);
        match read().await {
            Err(sqlx::Error::Io(_)) => read().await.expect(query),
            read => read.expect(query),
        }
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
