//! apalis workers: each queue's claims come in through the backend of `akhar_jobs`; attempts are started.
//!
//! An apalis worker ends with any database error, so each is rebuilt under a new name for as long as the
//! process runs.

use std::{convert::Infallible, sync::Arc, time::Duration};

use akhar_jobs::{
    Queue,
    backend::{Admission, Claims, JobBackend, JobStore, JobTask, Wakeups},
};
use apalis::prelude::*;

use super::{attempt::Attempts, config::ConsumerConfig};

/// Wait before an ended consumer is rebuilt; spread so that processes do not return at once.
const REBUILD: Duration = Duration::from_millis(200);

/// The consumers of a worker process.
pub(crate) struct Consumers {
    pub(crate) attempts: Arc<Attempts>,
    pub(crate) claims: Claims,
    pub(crate) wakeups: Arc<Wakeups>,
}

impl Consumers {
    /// Consumes one queue until told to stop.
    pub(crate) async fn consume(self: Arc<Self>, queue: Queue) {
        let soft = &self.attempts.shutdown.soft;
        for n_built in 0_u64.. {
            let name = format!("{}-{}-{n_built}", self.claims.worker(), queue.name());
            tracing::debug!(consumer = name, "consuming");
            let ended = self.consume_as(&name, queue).await;
            if soft.is_cancelled() {
                return;
            }
            tracing::warn!(queue = queue.name(), error = ended.err(), "queue consumer ended: rebuilding");
            tokio::time::sleep(REBUILD.mul_f64(1.0 + rand::random::<f64>())).await;
        }
    }

    async fn consume_as(&self, name: &str, queue: Queue) -> Result<(), String> {
        let attempts = &self.attempts;
        let store = JobStore::to_consume(
            attempts.db.clone(),
            Admission::new(attempts.config.max_waiting),
            queue,
            self.claims.clone(),
            attempts.endings.clone(),
        );
        let attempt = {
            let attempts = attempts.clone();
            move |task: JobTask| {
                let attempts = attempts.clone();
                async move {
                    if let JobTask::Claimed(claim) = task
                        && let Some(job) = claim.into_job()
                    {
                        attempts.attempt(job).await;
                    }
                    Ok::<(), Infallible>(())
                }
            }
        };
        let worker = WorkerBuilder::new(name)
            .backend(JobBackend::new(store, self.wakeups.clone()))
            .concurrency(ConsumerConfig::of(queue, &attempts.config).concurrency)
            .build(attempt);
        let soft = attempts.shutdown.soft.clone();
        let stop = async move {
            soft.cancelled().await;
            Ok::<(), WorkerError>(())
        };
        worker.run_until(stop).await.map_err(|e| e.to_string())
    }
}
