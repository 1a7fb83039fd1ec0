//! The limits of one queue's consumer, taken from the configuration.

use std::time::Duration;

use akhar_jobs::Queue;
use akhar_platform::config::Config;

/// The limits of one queue's consumer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConsumerConfig {
    /// The largest number of attempts that run at the same time.
    pub(crate) concurrency: usize,
    /// The longest time that one attempt may take.
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
