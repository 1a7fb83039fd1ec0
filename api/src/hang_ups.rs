//! Callers who hang up after each poll of their request, at every route: nothing is left in a transaction, and what was
//! acknowledged stays.

use std::{fs, path::Path, time::Duration};

use akhar_accounts::Role;
use akhar_jobs::uploads::{S3Access, UploadStore};
use akhar_operators::{
    keys::{self, CreatedKey, NewAccount},
    sessions::{self, SessionId},
};
use akhar_platform::{
    config::Config,
    database::{Database, Pool},
    origins::Origins,
    reload::LiveConfig,
    shutdown::Shutdown,
};
use akhar_tests::{
    Cluster, Form,
    hang_ups::{at_every_poll, at_rest},
    http::client,
    images::fixture_of,
    ops::actor,
    root,
    uploads::S3Server,
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt as _;
use uuid::Uuid;

use crate::{app::App, openapi::openapi, router::router, server::start_helpers, ui::playground::DemoKey};

/// The connections of the pool. As many writes at a time are acknowledged after each hang-up.
const N_CONNECTIONS: usize = 3;

/// How long these writes may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// The page that tokens are for.
const SITE: &str = "https://app.example";

/// An api with a database of its own, whose requests need no connection.
struct Service {
    app: App,
    router: Router,
    /// Connections beside those of the api.
    db: Pool,
    key: CreatedKey,
    _helpers: [AbortOnDropHandle<()>; 6],
}

/// A request that can be sent once.
struct Prepared {
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Service {
    async fn start() -> Self {
        let options = Cluster::shared().database().await;
        let database = Database::connect("akhar-api", options.clone().into(), N_CONNECTIONS).await.unwrap();
        let account =
            NewAccount { name: "test".to_owned(), role: Some(Role::Admin), ..NewAccount::default() };
        let key = keys::create(&database.pool, &actor(), account).await.unwrap();
        let config = Config {
            quick_wait_s: 1,
            speech_wait_s: 1,
            max_waiting: 100_000,
            cors_origins: Some(Origins(vec![SITE.parse().unwrap()])),
            ..Config::default()
        };
        // A URL is signed without a request to the bucket.
        let settings = S3Server::settings("http://127.0.0.1:1");
        let bucket = settings[0].1.clone();
        let access = move || Ok(S3Access { client: client(), settings: settings.clone() });
        let uploads = UploadStore::open(&bucket, usize::MAX, access).unwrap();
        let live = LiveConfig::fixed(config);
        let app = App::new(live, database, uploads, &Shutdown::default(), DemoKey::none());
        Self {
            _helpers: start_helpers(&app),
            router: router(app.clone()),
            app,
            db: Pool::new(options.into(), N_CONNECTIONS),
            key,
        }
    }

    /// A request of the api's only account, which is also an operator's.
    async fn send(&self, method: &str, prepared: Prepared) -> Response {
        let mut request = Request::builder().method(method).uri(prepared.path).header("host", "akhar");
        request = request.header("authorization", format!("Bearer {}", self.key.key));
        for (name, value) in prepared.headers {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(prepared.body)).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Hangs up after each poll of a request to a route. The error says what is left then.
    async fn hang_up_at(&self, method: &str, route: &str, prefer: &str) -> Result<(), String> {
        let prepare = async || {
            self.app.auth.keys.forget_all(); // so that the key is looked for again
            let mut prepared = self.prepare(method, route).await;
            prepared.headers.push(("prefer", prefer.to_owned()));
            prepared
        };
        let send = async |prepared| {
            let response = self.send(method, prepared).await;
            let status = response.status();
            if !route.ends_with("/events") {
                to_bytes(response.into_body(), usize::MAX).await.unwrap();
            }
            status
        };
        let status = at_every_poll(prepare, send, async || self.check().await).await?;
        // The answer to a caller of OpenAI's routes who has waited for long enough is a 504.
        let is_served = |status: StatusCode| {
            status.is_success() || status.is_redirection() || status == StatusCode::GATEWAY_TIMEOUT
        };
        match status.filter(|status| method == "GET" || is_served(*status)) {
            Some(_) => Ok(()),
            None => Err(format!("a request nobody hung up ended with {status:?}")),
        }
    }

    /// Checks that nothing is left of what went before, and that writes are kept.
    async fn check(&self) -> Result<(), String> {
        let jobs = try_join_all(
            (0..N_CONNECTIONS).map(|_| self.submit(vec![("idempotency-key", Uuid::now_v7().to_string())])),
        );
        let jobs =
            timeout(ANSWER_LIMIT, jobs).await.map_err(|_| "requests are not answered".to_owned())??;
        at_rest(&self.db).await?;
        let kept = "select count(*) from jobs join idempotency_keys on job_id = id where id = any($1)";
        let n_kept: i64 = sqlx::query_scalar(kept).bind(jobs).fetch_one(&self.db).await.unwrap();
        match usize::try_from(n_kept) {
            Ok(N_CONNECTIONS) => Ok(()),
            _ => Err(format!("{n_kept} of {N_CONNECTIONS} acknowledged requests are kept")),
        }
    }

    /// Submits an asynchronous job.
    async fn submit(&self, headers: Vec<(&'static str, String)>) -> Result<Uuid, String> {
        let mut prepared = form("/v1/models/digit-recognition", &Form::upload(&fixture_of("੫").bytes));
        prepared.headers.extend([("prefer", "respond-async".to_owned())]);
        prepared.headers.extend(headers);
        let response = self.send("POST", prepared).await;
        let location = response.headers().get("location").and_then(|location| location.to_str().ok());
        let job = location.and_then(|location| location.strip_prefix("/v1/jobs/")?.parse().ok());
        job.ok_or_else(|| format!("a job was not accepted: {response:?}"))
    }

    async fn job(&self) -> String {
        self.submit(Vec::new()).await.unwrap().to_string()
    }

    /// A job that has failed, and whose webhook was given up.
    async fn failed_job(&self) -> String {
        let job = self.job().await;
        let fail = "with failed as (
                update jobs set state = 'failed', outcome = '{\"kind\":\"failed\"}', ended_at = now(), attempt = 3,
                    last_error = 'it broke' where id = $1::uuid returning id, account_id)
            insert into webhook_deliveries (job_id, account_id, url, state, ended_at)
            select id, account_id, 'https://receiver.invalid/', 'dead', now() from failed";
        sqlx::query(fail).bind(&job).execute(&self.db).await.unwrap();
        job
    }

    async fn group(&self) -> String {
        let name = Uuid::now_v7().to_string();
        self.submit(vec![("akhar-group", name.clone())]).await.unwrap();
        name
    }

    async fn worker(&self) -> String {
        let name = Uuid::now_v7().to_string();
        sqlx::query("insert into workers (name) values ($1)").bind(&name).execute(&self.db).await.unwrap();
        name
    }

    async fn prefix(&self) -> String {
        let account = NewAccount { name: "other".to_owned(), ..NewAccount::default() };
        keys::create(&self.app.database.pool, &actor(), account).await.unwrap().prefix
    }

    /// A form of a page, of an operator who has just signed in.
    async fn page(&self, route: &str, fields: &[(&str, &str)]) -> Prepared {
        let session = SessionId::random();
        sessions::begin(&self.app.database.pool, &session, self.key.id).await.unwrap();
        let cookies = ["akhar_ops", "akhar_ops_login"].map(|name| format!("{name}={}", session.expose()));
        let fields = fields.iter().map(|(name, value)| format!("&{name}={value}"));
        Prepared {
            path: route.to_owned(),
            headers: vec![
                ("content-type", "application/x-www-form-urlencoded".to_owned()),
                ("cookie", cookies.join("; ")),
            ],
            body: format!("token={}{}", session.form_token(), fields.collect::<String>()).into_bytes(),
        }
    }

    /// A request to a route that succeeds once, with what it needs.
    async fn prepare(&self, method: &str, route: &str) -> Prepared {
        let mut path = route.to_owned();
        let parameters = [
            ("/v1/models/{id}", "{id}"),
            ("/v1/jobs/{id}", "{id}"),
            ("/v1/admin/jobs/{id}", "{id}"),
            ("/v1/groups/{name}", "{name}"),
            ("/v1/admin/workers/{name}", "{name}"),
            ("/v1/admin/keys/{prefix}", "{prefix}"),
            ("/v1/admin/queues/{queue}", "{queue}"),
        ];
        for (start, parameter) in parameters.into_iter().filter(|(start, _)| route.starts_with(start)) {
            let value = match start {
                "/v1/models/{id}" => "speech-pa".to_owned(),
                "/v1/admin/queues/{queue}" => "speech".to_owned(),
                "/v1/groups/{name}" => self.group().await,
                "/v1/admin/workers/{name}" => self.worker().await,
                "/v1/admin/keys/{prefix}" => self.prefix().await,
                _ => self.job().await,
            };
            path = path.replace(parameter, &value);
        }
        let json = |body: Value| json_body(&path, &body);
        match (method, route) {
            ("GET" | "DELETE", _) => Prepared { path, headers: Vec::new(), body: Vec::new() },
            (_, "/v1/models/handwriting-generator" | "/v1/models/translation") => {
                json(json!({"text": "ਸਤਿ"}))
            }
            (_, "/v1/models/speech-recognition") => form(route, &Form::upload(&recording())),
            (_, "/v1/audio/transcriptions" | "/v1/audio/translations") => {
                form(route, &Form::upload_and(&recording(), "model", "whisper-1"))
            }
            (_, "/v1/models/digit-recognition" | "/v1/models/alphabet-recognition") => {
                form(route, &Form::upload(&fixture_of("੫").bytes))
            }
            (_, "/v1/tokens") => json(json!({"operation": "speech-recognition", "origin": SITE})),
            (_, "/v1/realtime/translations/client_secrets") => {
                json(json!({"session": {"model": "speech-pa"}}))
            }
            (_, "/v1/uploads") => json(json!({"size": 1000})),
            (_, "/v1/admin/jobs/change") => json(json!({"change": "cancel", "ids": [self.job().await]})),
            (_, "/v1/admin/keys") => json(json!({"name": "new"})),
            (_, "/v1/admin/keys/{prefix}/quotas") => json(json!({"rpm": 60})),
            (_, "/v1/admin/keys/{prefix}/expiry") => json(json!({"expires-s": 3600})),
            (
                _,
                "/v1/admin/keys/{prefix}/rotate"
                | "/v1/realtime/client_secrets"
                | "/v1/realtime/transcription_sessions",
            ) => json(json!({})),
            (_, "/v1/admin/queues/{queue}") => json(json!({"mode": "paused"})),
            (_, "/v1/admin/workers/{name}") => json(json!({"drain": true})),
            (_, "/v1/admin/webhooks/redeliver") => json(json!({"ids": [self.failed_job().await]})),
            (_, "/ops/login") => self.page(route, &[("key", &self.key.key)]).await,
            (_, "/ops/logout") => self.page(route, &[]).await,
            (_, "/ops/queues") => self.page(route, &[("queue", "speech"), ("mode", "paused")]).await,
            (_, "/ops/workers") => {
                self.page(route, &[("name", &self.worker().await), ("drain", "true")]).await
            }
            (_, "/ops/jobs") => self.page(route, &[("action", "cancel"), ("id", &self.job().await)]).await,
            (_, "/ops/errors") => {
                self.failed_job().await;
                self.page(route, &[("error", "it+broke")]).await
            }
            (_, "/ops/webhooks") => self.page(route, &[("id", &self.failed_job().await)]).await,
            (_, "/ops/keys/expiry") => {
                self.page(route, &[("prefix", &self.prefix().await), ("in", "30d")]).await
            }
            (_, "/ops/keys") => self.page(route, &[("prefix", &self.prefix().await)]).await,
            _ => panic!("no request for the route {method} {route}: add one"),
        }
    }
}

fn form(path: &str, form: &Form) -> Prepared {
    let headers = vec![("content-type", form.content_type())];
    Prepared { path: path.to_owned(), headers, body: form.body() }
}

fn json_body(path: &str, body: &Value) -> Prepared {
    let headers = vec![("content-type", "application/json".to_owned())];
    Prepared { path: path.to_owned(), headers, body: body.to_string().into_bytes() }
}

fn recording() -> Vec<u8> {
    fs::read(root().join("tests/fixtures/audio/pa-seven.wav")).unwrap()
}

/// All routes of the document, with their methods.
fn documented_routes() -> Vec<(String, String)> {
    let document = serde_json::to_value(openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect()
}

/// The routes of pages that take forms. The document does not have them, so they are read from the code.
fn form_routes(folder: &Path) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            routes.extend(form_routes(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(path).unwrap();
            let lines = code.lines().filter(|line| line.contains("post("));
            let paths = lines.filter_map(|line| line.split_once(".route(\"")?.1.split('"').next());
            routes.extend(paths.map(|path| ("POST".to_owned(), path.to_owned())));
        }
    }
    routes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_at_any_moment_leaves_no_transaction_and_undoes_nothing() {
    let pages = form_routes(&root().join("api/src/ui"));
    assert!(pages.len() >= 8, "found only {pages:?}");
    // It hands out a key that the process has, and uses no database.
    let pages = pages.into_iter().filter(|(_, path)| path != "/playground/key");
    let mut service = Service::start().await;
    let mut problems = Vec::new();
    for (method, route) in documented_routes().into_iter().chain(pages) {
        let waits: &[&str] = if route.ends_with("digit-recognition") { &["wait=1"] } else { &[] };
        for prefer in waits.iter().chain(&["respond-async"]) {
            if let Err(problem) = service.hang_up_at(&method, &route, prefer).await {
                problems.push(format!("{method} {route} ({prefer}): {problem}"));
                service = Service::start().await;
            }
        }
    }
    assert!(problems.is_empty(), "{} routes:\n{}", problems.len(), problems.join("\n"));
}
