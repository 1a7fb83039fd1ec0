//! The limits of one queue's consumer, taken from the configuration.

use std::time::Duration;

use akhar_jobs::{Places, Queue};
use akhar_platform::config::Config;
use akhar_requests::{LIVE, MAX_FETCHED_S, MAX_RECORDING_S, SPEECH, live::MAX_LIVE_S};

/// How many recordings a worker works on for each that one account may have there. They take turns at the models window
/// by window, so each of so many accounts goes on at once.
const RECORDINGS_PER_PLACE: u8 = 8;

/// How many of those may have large uploads, for each that one account may have.
const LARGE_RECORDINGS_PER_PLACE: u8 = 2;

/// How many live sessions a worker has for each copy of the speech models: most of a session nobody speaks, or the model is faster.
const SESSIONS_PER_COPY: usize = 32;

/// Seconds that an attempt at a picture or a text may take: a thousand times as long as most take.
const QUICK_TIMEOUT_S: u64 = 30;
/// The recordings that one account waits for, and the others of it, that a worker transcribes at a time for each copy of the
/// speech models: one at the models, and one that is decoded meanwhile.
const N_OF_ACCOUNT: usize = 2;

/// The limits of one queue's consumer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConsumerConfig {
    /// The attempts that run at the same time.
    pub(crate) places: Places,
    /// The longest time that one step of an attempt may take. An attempt at a job of the quick queue has one step.
    pub(crate) timeout: Duration,
}

impl ConsumerConfig {
    pub(crate) fn of(queue: Queue, config: &Config) -> Self {
        let (places, timeout_s) = if queue == SPEECH {
            (recordings(N_OF_ACCOUNT * config.speech_copies().get()), config.speech_timeout_s)
        } else if queue == LIVE {
            (Places::any(SESSIONS_PER_COPY * config.speech_copies().get()), config.speech_timeout_s)
        } else {
            (Places::any(config.worker_concurrency.get()), QUICK_TIMEOUT_S)
        };
        Self { places, timeout: Duration::from_secs(timeout_s) }
    }

    /// The longest time that an attempt can take: at the models, a recording takes turns with as many others as there are
    /// for each place. The longest recording that is fetched is as long as so many that are sent.
    pub(crate) fn longest_attempt(queue: Queue, config: &Config) -> Duration {
        let Self { timeout, .. } = Self::of(queue, config);
        if queue == SPEECH {
            timeout.saturating_mul(u32::from(RECORDINGS_PER_PLACE) * (MAX_FETCHED_S / MAX_RECORDING_S))
        } else if queue == LIVE {
            Duration::from_secs(MAX_LIVE_S.into()).saturating_add(timeout)
        } else {
            timeout
        }
    }
}

fn recordings(n_of_account: usize) -> Places {
    Places {
        n: n_of_account.saturating_mul(RECORDINGS_PER_PLACE.into()),
        n_of_account,
        n_large: n_of_account.saturating_mul(LARGE_RECORDINGS_PER_PLACE.into()),
    }
}
