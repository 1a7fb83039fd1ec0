//! What a connection waits for, beside its client.

use std::{future::pending, time::Duration};

use akhar_jobs::backend::StreamFollower;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until, timeout};

/// The longest time between two looks at what the worker says. Its announcements can be lost.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Waits for what is under way, if anything is.
pub(super) async fn in_flight<T>(under_way: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(future) = under_way else { return pending().await };
    let done = future.await;
    *under_way = None;
    done
}

pub(super) async fn woken(follower: Option<&StreamFollower>) {
    match follower {
        Some(follower) => drop(timeout(LOOK_INTERVAL, follower.woken()).await),
        None => pending().await,
    }
}

pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}
