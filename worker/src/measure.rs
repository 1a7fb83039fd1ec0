//! The metrics of a worker: starts their export, and measures what is not counted as it happens.

use akhar_jobs::backend::{Executed, HeldByQueue, observe_statements};
use akhar_platform::{
    config::Config,
    database::Database,
    metrics::{self, Exporter, Measure, MetricsError},
};
use akhar_requests::QUEUES;

use crate::attempts::ConsumerConfig;

/// Starts to record, if the configuration has an address for metrics.
pub(crate) async fn start(config: &Config) -> Result<Exporter, MetricsError> {
    let exporter = Exporter::start(config.metrics_listen, "worker", env!("CARGO_PKG_VERSION")).await?;
    observe_statements(|Executed { statement, n_jobs, took }| {
        if n_jobs > 0 {
            metrics::STATEMENT_ITEMS.record_items([statement], n_jobs);
            metrics::STATEMENT_SECONDS.record_duration([statement], took);
        }
    });
    for cause in ["worker-lost", "claim-lost"] {
        metrics::RESCUED_JOBS.add([cause], 0);
    }
    for cause in ["attempt", "worker-lost"] {
        metrics::DEAD_JOBS.add([cause], 0);
    }
    for operation in akhar_jobs::uploads::OPERATIONS {
        metrics::UPLOAD_STORE_FAILURES.add([operation], 0);
    }
    for queue in QUEUES {
        metrics::WORKER_PLACES.set_count([queue.name()], ConsumerConfig::of(queue, config).places.n);
    }
    Ok(exporter)
}

/// What is measured when metrics are read.
pub(crate) struct Measured {
    pub(crate) database: Database,
    pub(crate) held: HeldByQueue,
}

impl Measure for Measured {
    async fn measure(&self) {
        self.database.measure().await;
        for queue in QUEUES {
            metrics::WORKER_JOBS.set_count([queue.name()], self.held.of(queue).n_held());
        }
    }
}
