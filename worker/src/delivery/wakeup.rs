//! Wake-ups: Postgres's announcements of tickets come in; each queue's consumer is woken, and can tell
//! whether it was rung for since it last looked.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Context,
    time::Duration,
};

use akhar_jobs::{Queue, store};
use akhar_platform::shutdown::Shutdown;
use futures::task::AtomicWaker;
use sqlx::{PgPool, postgres::PgListener};

/// Wait before a lost connection is made again; spread so that processes do not return at once.
const RECONNECT: Duration = Duration::from_millis(200);

/// One bell a queue.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    quick: Bell,
    speech: Bell,
}

/// Rings for one consumer.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    n_rings: AtomicU64,
    waker: AtomicWaker,
}

impl Bell {
    /// Wakes the consumer, now or at its next look.
    pub(crate) fn ring(&self) {
        self.n_rings.fetch_add(1, Ordering::Release);
        self.waker.wake();
    }

    /// How often it has rung; the consumer is woken by every further ring.
    pub(crate) fn hear(&self, cx: &Context<'_>) -> u64 {
        self.waker.register(cx.waker());
        self.n_rings.load(Ordering::Acquire)
    }
}

impl Bells {
    pub(crate) fn of(&self, queue: Queue) -> &Bell {
        match queue {
            Queue::Quick => &self.quick,
            Queue::Speech => &self.speech,
        }
    }

    fn ring_all(&self) {
        for queue in Queue::ALL {
            self.of(queue).ring();
        }
    }
}

/// Rings when Postgres announces a ticket; reconnects for as long as it must.
pub(crate) async fn listen(db: PgPool, bells: Arc<Bells>, shutdown: Shutdown) {
    loop {
        tokio::select! {
            lost = listen_once(&db, &bells) => {
                tracing::warn!(error = lost.err().map(tracing::field::display), "listener lost: reconnecting");
            }
            () = shutdown.soft.cancelled() => return,
        }
        tokio::time::sleep(RECONNECT.mul_f64(1.0 + rand::random::<f64>())).await;
    }
}

/// Listens until the connection is lost.
async fn listen_once(db: &PgPool, bells: &Bells) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(db).await?;
    listener.listen(store::TICKET_INSERTED).await?;
    bells.ring_all(); // for what was missed while nobody listened
    while let Some(notification) = listener.try_recv().await? {
        match queue_of(notification.payload()) {
            Some(queue) => bells.of(queue).ring(),
            None => bells.ring_all(),
        }
    }
    Ok(())
}

fn queue_of(payload: &str) -> Option<Queue> {
    #[derive(serde::Deserialize)]
    struct Inserted<'a> {
        job_type: &'a str,
    }
    Queue::from_name(serde_json::from_str::<Inserted>(payload).ok()?.job_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_rings_its_own_queue() {
        let payload = r#"{"job_type":"speech","id":"01M7","run_at":"2026-11-21T09:00:00+00:00"}"#;
        assert_eq!(queue_of(payload), Some(Queue::Speech));
        for odd in ["", "{}", r#"{"job_type":"other"}"#] {
            assert_eq!(queue_of(odd), None);
        }
    }
}
