//! What one queue's consumer may take, from the configuration.

use std::time::Duration;

use akhar_jobs::Queue;
use akhar_platform::config::Config;

/// What one queue's consumer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConsumerConfig {
    /// Attempts at a time.
    pub(crate) concurrency: usize,
    /// Time an attempt may take.
    pub(crate) timeout: Duration,
}

impl ConsumerConfig {
    pub(crate) fn of(queue: Queue, config: &Config) -> Self {
        let (concurrency, timeout_s) = match queue {
            Queue::Quick => (config.worker_concurrency.get(), config.quick_timeout_s),
            Queue::Speech => (config.speech_concurrency.get(), config.speech_timeout_s),
        };
        Self { concurrency, timeout: Duration::from_secs(timeout_s) }
    }
}
