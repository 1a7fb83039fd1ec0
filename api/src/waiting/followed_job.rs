//! A job that is followed: read once a second, at the same time as all others, and when its end is announced.

use akhar_jobs::store::{Cursor, Followed};
use akhar_requests::Job;
use axum::response::sse::Event;

use super::{
    deliveries::Delivery,
    follower::{Seen, Source},
    streams::{Look, Streams},
    waiters::Waiter,
};
use crate::problems::{Problem, ProblemType};

/// Turns what is read of a job into the events of one route.
pub(crate) trait EventWriter: Send {
    /// An event that is not written yet.
    type Event;
    /// The part of the job that the caller knows.
    fn cursor(&self) -> Cursor;
    /// The events of what is new about a job that has not ended.
    fn news(&mut self, seen: Followed) -> Vec<Self::Event>;
    /// The last events of a job that has ended.
    fn end(&mut self, job: Job) -> Vec<Self::Event>;
    /// The last events of a stream that ends before its job.
    fn broken(&mut self, problem: Problem) -> Vec<Self::Event>;
    /// Writes an event.
    fn write(&mut self, event: Self::Event) -> Result<Event, axum::Error>;
}

/// The job that a waiter waits for.
pub(crate) struct FollowedJob<W> {
    waiter: Waiter,
    writer: W,
    /// That of the job's outcome, from when its last event is ready.
    delivery: Option<Delivery>,
    has_looked: bool,
}

impl<W> FollowedJob<W> {
    /// Follows a job whose events `writer` writes.
    pub(crate) const fn new(waiter: Waiter, writer: W) -> Self {
        Self { waiter, writer, delivery: None, has_looked: false }
    }
}

impl<W: EventWriter> Source for FollowedJob<W> {
    type Event = W::Event;

    async fn look(&mut self, streams: &Streams) -> Seen<W::Event> {
        if std::mem::replace(&mut self.has_looked, true) {
            self.waiter.wait_for_wake_up(streams.next_look()).await;
        }
        match streams.look(self.writer.cursor()).await {
            Look::News(seen) => Seen::News(self.writer.news(seen)),
            Look::Ended(stored) => match akhar_requests::job(stored) {
                Ok(job) => {
                    self.delivery = streams.deliveries.of(&job);
                    Seen::End(self.writer.end(job))
                }
                Err(unreadable) => Seen::Lost(unreadable.into()),
            },
            Look::Gone => Seen::Lost(Problem::of(ProblemType::JobDeleted)),
            Look::Unavailable => Seen::News(Vec::new()),
            Look::Failed(error) => Seen::Lost(error.into()),
        }
    }

    fn broken(&mut self, problem: Problem) -> Vec<W::Event> {
        self.writer.broken(problem)
    }

    fn write(&mut self, event: W::Event) -> Result<Event, axum::Error> {
        self.writer.write(event)
    }

    fn finish(self) {
        if let Some(delivery) = self.delivery {
            delivery.complete();
        }
    }
}
