//! Several clients at the same time. Each sends its next request when the last one is answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{Answer, Form, Stack, http};

/// Running clients. [`Load::stop`] returns their results.
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    clients: JoinSet<Vec<Sent>>,
}

/// A request that was sent, and its answer.
#[derive(Debug)]
pub struct Sent {
    /// The time at which it was sent.
    pub at: Instant,
    /// The time until its answer.
    pub took: Duration,
    /// The answer, or the reason why there was none.
    pub answer: Result<Answer, String>,
}

impl Load {
    /// Starts `n` clients that send this image again and again.
    pub fn start(stack: &Stack, n: usize, operation: &'static str, image: &[u8]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut clients = JoinSet::new();
        for _ in 0..n {
            let request = stack.post(operation, &Form::upload(image));
            clients.spawn(client(request, Arc::clone(&stop)));
        }
        Self { stop, clients }
    }

    /// Stops the clients, and waits for their last answers.
    pub async fn stop(self) -> Vec<Sent> {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

async fn client(request: reqwest::RequestBuilder, stop: Arc<AtomicBool>) -> Vec<Sent> {
    let mut sent = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let at = Instant::now();
        let again = request.try_clone().expect("a body of bytes can be sent again");
        let answer = http::try_send(again).await.map_err(|error| format!("{error:?}"));
        let refused = answer.is_err();
        sent.push(Sent { at, took: at.elapsed(), answer });
        if refused {
            tokio::task::yield_now().await;
        }
    }
    sent
}
