//! The state that all requests of a process share.

use std::{ops::Deref, sync::Arc, time::Duration};

use akhar_jobs::{
    Queue,
    backend::{Admission, Lookups, StreamCallers, StreamWakeups, Submissions},
    uploads::UploadStore,
};
use akhar_platform::budget::Budget;
use akhar_platform::{
    config::{Config, ReadyNeeds},
    database::Database,
    networks::Networks,
    origins::Origins,
    public_url::PublicUrl,
    reload::LiveConfig,
    shutdown::Shutdown,
};
use akhar_requests::{Operation, QUEUES, SPEECH, WITH_ARTIFACTS};
use akhar_webhooks::UrlRules;
use axum::extract::FromRef;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    auth::{caller::Authenticator, key_cache::KeyCache, rates::Rates, turns::Turns},
    http::{answers::Answers, public_path::PublicPath},
    input::{
        memory::{BodyBudget, BodyMemory},
        multipart::{MAX_AUDIO_BYTES, largest_file},
    },
    readiness::Readiness,
    stored::Stored,
    ui::{playground::DemoKey, state::PageState},
    waiting::{deliveries::Deliveries, group_readers::GroupReaders, streams::Streams, waiters::Waiters},
};

/// A handle on the shared state, which is cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) auth: Arc<Authenticator>,
    pub(crate) waiters: Waiters,
    pub(crate) submissions: Submissions,
    pub(crate) admission: Admission,
    pub(crate) uploads: UploadStore,
    pub(crate) lookups: Lookups,
    pub(crate) streams: Streams,
    /// The inputs and outputs of jobs whose input arrives while they run.
    pub(crate) inputs: StreamCallers,
    /// Who follows such outputs.
    pub(crate) outputs: StreamWakeups,
    /// The readers of groups.
    pub(crate) groups: GroupReaders,
    /// The turns of accounts at statements that take long.
    pub(crate) turns: Turns,
    /// Whether requests can be served.
    pub(crate) readiness: Readiness,
    /// Deletes jobs that are kept only until their outcome is delivered.
    pub(crate) deliveries: Deliveries,
    pages: PageState,
    bodies: BodyBudget,
    /// The memory of answers that are being sent.
    pub(crate) answers: Answers,
    /// How much accounts have stored.
    pub(crate) stored: Stored,
    live: LiveConfig,
    /// The steps of the process's shutdown.
    pub(crate) shutdown: Shutdown,
    /// The origins of web pages that may send requests.
    pub(crate) cors_origins: Origins,
    /// The URL at which clients reach the API, if it is set.
    pub(crate) public_url: Option<PublicUrl>,
    /// The proxies that can name the client of a request.
    pub(crate) proxies: Arc<Networks>,
    /// Where webhooks may be sent.
    pub(crate) url_rules: Arc<UrlRules>,
    /// Notified when webhooks may be due.
    pub(crate) webhooks_due: Arc<Notify>,
    /// Tasks that go on when their request's client disconnects. A stopping process waits for them.
    pub(crate) tasks: TaskTracker,
}

impl Deref for App {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl FromRef<App> for Arc<Authenticator> {
    fn from_ref(app: &App) -> Self {
        app.auth.clone()
    }
}

impl FromRef<App> for Arc<UrlRules> {
    fn from_ref(app: &App) -> Self {
        app.url_rules.clone()
    }
}

impl FromRef<App> for PageState {
    fn from_ref(app: &App) -> Self {
        app.pages.clone()
    }
}

impl App {
    /// Creates the shared state and starts the tasks that submit and read jobs.
    pub(crate) fn new(
        live: LiveConfig,
        database: Database,
        uploads: UploadStore,
        shutdown: &Shutdown,
        demo_key: DemoKey,
    ) -> Self {
        let config = live.now();
        let queue = database.pool.clone();
        let admission = Admission::new(config.max_waiting, &QUEUES);
        let lookups = Lookups::start(&queue, WITH_ARTIFACTS);
        let tasks = TaskTracker::new();
        let deliveries = Deliveries::new(database.clone(), uploads.clone(), tasks.clone());
        let (n_requests, of_account) = Authenticator::request_limits(config.max_requests.get());
        let auth = Arc::new(Authenticator {
            database: database.pool.clone(),
            keys: KeyCache::new(&queue),
            requests: Budget::new(n_requests, of_account),
            rates: Rates::default(),
        });
        let proxies = Arc::new(config.trusted_proxies.clone().unwrap_or_default());
        Self(Arc::new(Shared {
            database,
            pages: PageState::new(auth.clone(), shutdown.soft.clone(), proxies.clone(), demo_key),
            auth,
            waiters: Waiters::new(shutdown.deadline.clone()),
            submissions: Submissions::start(&queue, &admission),
            admission,
            uploads,
            streams: Streams::new(
                lookups.clone(),
                deliveries.clone(),
                config.max_requests,
                shutdown.soft.clone(),
            ),
            inputs: StreamCallers::start(&queue),
            outputs: StreamWakeups::default(),
            groups: GroupReaders::default(),
            turns: Turns::new(config.database_connections.get() / 4),
            readiness: Readiness::new(),
            deliveries,
            lookups,
            bodies: BodyBudget::new(config.max_upload_bytes),
            answers: Answers::new(config.max_upload_bytes),
            stored: Stored::default(),
            live,
            shutdown: shutdown.clone(),
            proxies,
            cors_origins: config.cors_origins.clone().unwrap_or_default(),
            public_url: config.public_url.clone(),
            url_rules: Arc::new(UrlRules::new(config.webhook_networks())),
            webhooks_due: Arc::default(),
            tasks,
        }))
    }

    /// How long a request to this operation waits for its outcome before it gets a 202.
    pub(crate) fn wait_limit(&self, operation: Operation) -> Duration {
        let config = self.live.now();
        let is_speech = operation.queue() == SPEECH;
        Duration::from_secs(if is_speech { config.speech_wait_s } else { config.quick_wait_s })
    }

    /// The path below which clients reach the API.
    pub(crate) fn public_path(&self) -> PublicPath {
        self.public_url.as_ref().into()
    }

    /// What this process needs to be ready.
    pub(crate) fn ready_needs(&self) -> ReadyNeeds {
        self.live.now().ready_needs
    }

    /// How long the server keeps jobs that have ended, seconds.
    pub(crate) fn retention_s(&self) -> u64 {
        self.live.now().retention_s
    }

    /// The most bytes of a recording that is sent to the bucket. A bucket takes at most 5 GiB in one request.
    pub(crate) fn max_fetched_bytes(&self) -> u32 {
        u32::try_from(self.live.now().max_fetched_bytes.get()).unwrap_or(u32::MAX)
    }

    /// The bytes that an account without a quota of its own may have stored.
    pub(crate) fn max_stored_bytes(&self) -> u64 {
        self.live.now().max_stored_bytes
    }

    /// The most bytes of a recording that is sent to the OpenAI-compatible routes.
    pub(crate) fn max_audio_bytes(&self) -> usize {
        MAX_AUDIO_BYTES.min(largest_file(BodyBudget::most_of_account(self.live.now().max_upload_bytes)))
    }

    /// Takes over the limits of a configuration that has changed.
    pub(crate) fn take_over(&self, config: &Config) {
        self.admission.set_max_waiting(config.max_waiting);
        let (n_requests, of_account) = Authenticator::request_limits(config.max_requests.get());
        self.auth.requests.set_limits(n_requests, of_account);
        self.streams.set_limit(config.max_requests);
        self.bodies.set_limit(config.max_upload_bytes);
        self.answers.set_limit(config.max_upload_bytes);
    }

    /// The bytes that are reserved for the bodies of requests.
    pub(crate) fn n_body_bytes(&self) -> usize {
        self.bodies.taken()
    }

    /// The memory for the bodies of this account's requests to this queue.
    pub(crate) fn body_memory(&self, queue: Queue, account_id: Uuid) -> BodyMemory {
        self.bodies.of(queue, account_id)
    }

    /// Empties the caches, wakes all waiters and looks for due webhooks. Call this when notifications may have been
    /// missed.
    pub(crate) fn catch_up(&self) {
        self.auth.keys.forget_all();
        self.admission.forget_counts();
        self.waiters.wake_all();
        self.outputs.wake_all();
        self.webhooks_due.notify_one();
    }
}
