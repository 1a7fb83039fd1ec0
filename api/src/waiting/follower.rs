//! Follows one job for one caller: what is read of the job comes in, and the events that report it go out.
//!
//! A follower looks at once, then once a second, at the same time as all others, and when the end of its job is announced.

use std::collections::VecDeque;

use akhar_jobs::store::{Cursor, Followed};
use akhar_requests::Job;
use axum::response::sse::Event;
use futures::{Stream, stream};

use super::{
    deliveries::Delivery,
    streams::{Look, OpenStream},
    waiters::Waiter,
};
use crate::problems::{Problem, ProblemType};

/// Turns what is read of a job into the events of one route.
pub(crate) trait EventWriter {
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

/// A caller that follows a job.
struct Follower<W: EventWriter> {
    stream: OpenStream,
    waiter: Waiter,
    writer: W,
    ready: VecDeque<W::Event>,
    /// That of the job's outcome, from when its last event is ready.
    delivery: Option<Delivery>,
    has_looked: bool,
    is_over: bool,
}

/// The events of the job that `waiter` waits for, until it has ended, the key of the caller is revoked, or the process shuts
/// down.
pub(crate) fn events(
    stream: OpenStream,
    waiter: Waiter,
    writer: impl EventWriter,
) -> impl Stream<Item = Result<Event, axum::Error>> {
    let ready = VecDeque::new();
    let follower =
        Follower { stream, waiter, writer, ready, delivery: None, has_looked: false, is_over: false };
    stream::unfold(follower, async |mut follower| Some((follower.next().await?, follower)))
}

impl<W: EventWriter> Follower<W> {
    async fn next(&mut self) -> Option<Result<Event, axum::Error>> {
        while self.ready.is_empty() && !self.is_over {
            let Self { stream: OpenStream { streams, revoked, .. }, waiter, writer, has_looked, .. } = self;
            let look = async {
                if std::mem::replace(has_looked, true) {
                    waiter.wait_for_wake_up(streams.next_look()).await;
                }
                streams.look(writer.cursor()).await
            };
            tokio::select! {
                seen = look => self.take(seen),
                () = streams.draining.cancelled() => self.break_off(Problem::of(ProblemType::Draining)),
                () = revoked => self.break_off(Problem::of(ProblemType::Unauthorized)),
            }
        }
        // The events before have been written when the next one is asked for.
        if self.ready.is_empty()
            && let Some(delivery) = self.delivery.take()
        {
            delivery.complete();
        }
        self.ready.pop_front().map(|event| self.writer.write(event))
    }

    /// Takes what was read.
    fn take(&mut self, seen: Look) {
        match seen {
            Look::News(seen) => self.ready.extend(self.writer.news(seen)),
            Look::Ended(stored) => match akhar_requests::job(stored) {
                Ok(job) => {
                    self.delivery = self.stream.streams.deliveries.of(&job);
                    self.ready.extend(self.writer.end(job));
                    self.is_over = true;
                }
                Err(unreadable) => self.break_off(unreadable.into()),
            },
            Look::Gone => self.break_off(Problem::of(ProblemType::JobDeleted)),
            Look::Unavailable => (),
            Look::Failed(error) => self.break_off(error.into()),
        }
    }

    fn break_off(&mut self, problem: Problem) {
        self.ready.extend(self.writer.broken(problem));
        self.is_over = true;
    }
}
