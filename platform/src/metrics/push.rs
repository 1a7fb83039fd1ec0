//! Sends the metrics to a collector again and again, and when the process ends.

use std::sync::Arc;

use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::telemetry::collector::{LAST_EXPORT_LIMIT, Metrics};

use super::{
    measure::{Measure, measure_process},
    otlp,
};

/// Sends until it is ended.
#[derive(Debug)]
pub(super) struct Push {
    end: CancellationToken,
    pushing: JoinHandle<()>,
}

impl Push {
    pub(super) fn start(metrics: &'static Metrics, measure: Arc<impl Measure>) -> Self {
        let end = CancellationToken::new();
        Self { pushing: tokio::spawn(push(metrics, measure, end.clone())), end }
    }

    /// Sends the last values.
    pub(super) async fn end(self) {
        self.end.cancel();
        if timeout(LAST_EXPORT_LIMIT, self.pushing).await.is_err() {
            tracing::warn!("the last metrics were not sent to the collector");
        }
    }
}

async fn push(metrics: &Metrics, measure: Arc<impl Measure>, end: CancellationToken) {
    let mut ticks = interval(metrics.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while end.run_until_cancelled(ticks.tick()).await.is_some() {
        measure.measure().await;
        measure_process();
        metrics.send(otlp::message(&metrics.resource)).await;
    }
    // A process that ends does not ask the database again.
    measure_process();
    metrics.send(otlp::message(&metrics.resource)).await;
}
