//! Jobs that are kept only until their outcome is delivered: a response that is being written comes in, and the job is deleted
//! when it has been written. A response whose connection breaks before delivers nothing.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use akhar_jobs::{JobId, JobState, store, uploads::UploadStore};
use akhar_platform::database::Database;
use akhar_platform::database::retry_transient;
use akhar_requests::Job;
use axum::{
    body::{Body, HttpBody},
    response::Response,
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio_util::task::TaskTracker;

use crate::problems::Problem;

/// Deletes jobs whose outcome was delivered.
#[derive(Debug, Clone)]
pub(crate) struct Deliveries {
    database: Database,
    uploads: UploadStore,
    tasks: TaskTracker,
}

/// The delivery of a job's outcome, which has not happened yet.
#[derive(Debug)]
pub(crate) struct Delivery {
    deliveries: Deliveries,
    job: JobId,
    has_result: bool,
}

impl Deliveries {
    /// Deletes jobs from this database, with their uploads. A stopping process waits for the `tasks`.
    pub(crate) const fn new(database: Database, uploads: UploadStore, tasks: TaskTracker) -> Self {
        Self { database, uploads, tasks }
    }

    /// The delivery of this job. `None` if the job has not ended, or is kept after its delivery.
    pub(crate) fn of(&self, job: &Job) -> Option<Delivery> {
        (job.is_kept_until_delivery && job.state.is_final()).then(|| Delivery {
            deliveries: self.clone(),
            job: job.id,
            has_result: job.state == JobState::Succeeded,
        })
    }

    /// The response about a job, which is deleted when the response has been written if it is kept until then. A problem
    /// delivers only the end of a job that has no result: if there is one, the problem is of the request.
    pub(crate) fn respond(
        &self,
        job: Job,
        response: impl FnOnce(Job) -> Result<Response, Problem>,
    ) -> Result<Response, Problem> {
        let delivery = self.of(&job);
        match (delivery, response(job)) {
            (Some(delivery), Ok(response)) => {
                Ok(response.map(|body| Body::new(Written::new(body, move || delivery.complete()))))
            }
            (Some(delivery), Err(problem)) if !delivery.has_result => {
                delivery.complete(); // the same request would get the same problem
                Err(problem)
            }
            (_, response) => response,
        }
    }
}

impl Delivery {
    /// Deletes the job, in the background.
    pub(crate) fn complete(self) {
        let Self { deliveries: Deliveries { database, uploads, tasks }, job, .. } = self;
        tasks.spawn(async move {
            match retry_transient(|_| store::delete_delivered(&database.pool, job)).await {
                Ok(Some(deleted)) => {
                    tracing::info!(%job, "job deleted: its outcome was delivered");
                    uploads.delete(deleted.object);
                }
                Ok(None) => tracing::debug!(%job, "the job is deleted already, or when its webhook is sent"),
                Err(error) => {
                    tracing::warn!(%job, %error, "a delivered job is kept for the retention time of the server");
                }
            }
        });
    }
}

/// A body that calls a function when all of it was taken.
struct Written<F: FnOnce()> {
    body: Body,
    is_taken: bool,
    then: Option<F>,
}

impl<F: FnOnce()> Written<F> {
    const fn new(body: Body, then: F) -> Self {
        Self { body, is_taken: false, then: Some(then) }
    }
}

impl<F: FnOnce() + Unpin> HttpBody for Written<F> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        // A server that knows the length does not ask for a frame after the last one.
        self.is_taken = match &frame {
            None => true,
            Some(Ok(_)) => self.body.is_end_stream(),
            Some(Err(_)) => false,
        };
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<F: FnOnce()> Drop for Written<F> {
    fn drop(&mut self) {
        if let Some(then) = self.then.take_if(|_| self.is_taken) {
            then();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::poll_fn};

    use futures::stream;

    use super::*;

    /// Whether the function is called if a client takes this many frames of the body.
    async fn is_called(body: Body, n_taken: usize) -> bool {
        let called = Cell::new(false);
        let mut written = Written::new(body, || called.set(true));
        for _ in 0..n_taken {
            let _ = poll_fn(|cx| Pin::new(&mut written).poll_frame(cx)).await;
        }
        drop(written);
        called.get()
    }

    #[tokio::test]
    async fn a_body_is_written_when_its_last_frame_is_taken() {
        assert!(!is_called(Body::from("a"), 0).await);
        assert!(is_called(Body::from("a"), 1).await);
        let pieces = || Body::from_stream(stream::iter(["a", "b"].map(Ok::<_, axum::Error>)));
        assert!(!is_called(pieces(), 2).await, "whether there is a third is not known yet");
        assert!(is_called(pieces(), 3).await);
    }

    #[tokio::test]
    async fn a_body_that_breaks_is_not_written() {
        let broken = || Body::from_stream(stream::iter([Ok("a"), Err(axum::Error::new("broken"))]));
        assert!(!is_called(broken(), 2).await);
    }
}
