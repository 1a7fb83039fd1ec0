//! The least rate at which another machine must send something large. Together with limits of its client, it ends every download.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// The least average rate after [`GRACE`], bytes a second: that of an MP3 of 128 kbit/s as it is played.
pub const LEAST_RATE: u32 = 16 * 1024;
/// How long a server may be slower, from the beginning on.
pub const GRACE: Duration = Duration::from_secs(10);

/// Whether a server is fast enough.
#[derive(Debug)]
pub struct Pace {
    began: Instant,
}

impl Pace {
    /// The server begins to send.
    pub fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// Waits for the next part, after `n_bytes` have arrived. `None` if it does not come in time.
    pub async fn next<T>(&self, n_bytes: u64, part: impl Future<Output = T>) -> Option<T> {
        let due = self.began + GRACE + Duration::from_secs(n_bytes) / LEAST_RATE;
        timeout_at(due, part).await.ok()
    }

    /// What a server did that was too slow.
    pub fn failure() -> String {
        format!("after {} s, the server sent less than {} KiB a second", GRACE.as_secs(), LEAST_RATE / 1024)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    /// How long a file is received of which `n_bytes` bytes arrive every `pause`, at most a minute.
    async fn received_for(n_bytes: u64, pause: Duration) -> Duration {
        let began = Instant::now();
        let pace = Pace::start();
        let mut n_received = 0;
        while began.elapsed() < Duration::from_secs(60) && pace.next(n_received, sleep(pause)).await.is_some()
        {
            n_received += n_bytes;
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_may_be_slow_only_at_first() {
        let whole_minute = Duration::from_secs(60);
        let second = Duration::from_secs(1);
        assert!(received_for(17 * 1024, second).await >= whole_minute);
        assert!(received_for(30 * 17 * 1024, 30 * second).await < whole_minute, "nothing comes at first");
        assert!(received_for(1, second).await <= GRACE + second);
        assert!(received_for(1, 29 * second).await <= GRACE + second);
        assert!(received_for(8 * 1024, second).await <= 2 * GRACE + second);
    }
}
