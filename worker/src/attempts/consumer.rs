//! One apalis worker for each queue: it claims jobs through the backend in `akhar_jobs` and starts their
//! attempts.
//!
//! An apalis worker stops at the first database error. So each one that stops is rebuilt under a new name
//! until the process shuts down.

use std::{convert::Infallible, sync::Arc, time::Duration};

use akhar_jobs::{
    Queue,
    backend::{Claims, FetchedJob, JobBackend, Wakeups},
};
use apalis::prelude::*;

use super::attempt::Attempts;

/// The shortest delay before a stopped consumer is rebuilt. A random part of up to the same length is added,
/// so that several processes do not all return at the same time.
const REBUILD_DELAY: Duration = Duration::from_millis(200);

/// The consumers of a worker process.
pub(crate) struct Consumers {
    pub(crate) attempts: Arc<Attempts>,
    pub(crate) claims: Claims,
    pub(crate) wakeups: Arc<Wakeups>,
}

impl Consumers {
    /// Consumes one queue until a soft shutdown.
    pub(crate) async fn consume(self: Arc<Self>, queue: Queue) {
        let soft = &self.attempts.shutdown.soft;
        for n_built in 0_u64.. {
            let name = format!("{}-{}-{n_built}", self.claims.worker(), queue.name());
            tracing::debug!(consumer = name, "queue consumer started");
            let ended = self.consume_as(&name, queue).await;
            if soft.is_cancelled() {
                return;
            }
            tracing::warn!(
                queue = queue.name(),
                error = ended.err(),
                "queue consumer stopped: starting another"
            );
            tokio::time::sleep(REBUILD_DELAY.mul_f64(1.0 + rand::random::<f64>())).await;
        }
    }

    async fn consume_as(&self, name: &str, queue: Queue) -> Result<(), String> {
        let attempts = &self.attempts;
        let attempt = {
            let attempts = attempts.clone();
            move |fetched: FetchedJob| {
                let attempts = attempts.clone();
                async move {
                    if let Some(job) = fetched.into_job() {
                        attempts.attempt(job).await;
                    }
                    Ok::<(), Infallible>(())
                }
            }
        };
        let worker = WorkerBuilder::new(name)
            .backend(JobBackend::new(queue, self.claims.clone(), self.wakeups.clone()))
            .concurrency(self.claims.held(queue).max_held())
            .build(attempt);
        let soft = attempts.shutdown.soft.clone();
        let stop = async move {
            soft.cancelled().await;
            Ok::<(), WorkerError>(())
        };
        worker.run_until(stop).await.map_err(|e| e.to_string())
    }
}
