//! Deletes objects in the background: whoever ends a job does not wait for that.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::locations::Locations;

/// The most objects that wait to be deleted. Further ones are left to the next listing (see `orphans`).
const MAX_WAITING: usize = 4096;
/// The most objects that are deleted with one request.
const MAX_AT_ONCE: usize = 500;

/// What the task is asked for.
enum Request {
    /// Delete the object with this address.
    Delete(String),
    /// Answer when all earlier requests were tried.
    Answer(oneshot::Sender<()>),
}

/// A handle on the task that deletes objects. The task ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub(super) struct Deletions(mpsc::Sender<Request>);

impl Deletions {
    /// Starts the task on the current runtime.
    pub(super) fn start(locations: Arc<Locations>) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        tokio::spawn(run(locations, receiver));
        Self(sender)
    }

    /// Deletes an object soon.
    pub(super) fn delete(&self, url: String) {
        if let Err(error) = self.0.try_send(Request::Delete(url)) {
            tracing::debug!(%error, "an object is not deleted now");
        }
    }

    /// Waits until all deletions before this call were tried.
    pub(super) async fn tried(&self) {
        let (answer, tried) = oneshot::channel();
        if self.0.send(Request::Answer(answer)).await.is_ok() {
            let _ = tried.await; // an error means that the runtime is ending
        }
    }
}

async fn run(locations: Arc<Locations>, mut receiver: mpsc::Receiver<Request>) {
    let mut requests = Vec::with_capacity(MAX_AT_ONCE);
    while receiver.recv_many(&mut requests, MAX_AT_ONCE).await > 0 {
        let mut urls = Vec::new();
        let mut answers = Vec::new();
        for request in requests.drain(..) {
            match request {
                Request::Delete(url) => urls.push(url),
                Request::Answer(answer) => answers.push(answer),
            }
        }
        delete(&locations, urls).await;
        for answer in answers {
            let _ = answer.send(()); // nobody may wait any more
        }
    }
}

async fn delete(locations: &Locations, urls: Vec<String>) {
    for (error, n) in locations.delete(urls).await {
        tracing::warn!(%error, n, "could not delete uploads whose jobs have ended: a later listing finds them");
    }
}
