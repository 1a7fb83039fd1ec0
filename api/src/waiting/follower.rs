//! Follows a job or a group for one caller: what is read of it comes in, and the events that report it go out.

use std::collections::VecDeque;

use axum::response::sse::Event;
use futures::{Stream, stream};

use super::streams::{OpenStream, Streams};
use crate::problems::{Problem, ProblemType};

/// What is followed, as the events of one route.
pub(crate) trait Source {
    /// An event that is not written yet.
    type Event;
    /// Waits for the next look of all streams, or until it is woken, and looks. Looks at once the first time.
    fn look(&mut self, streams: &Streams) -> impl Future<Output = Seen<Self::Event>> + Send;
    /// The last events of a stream that ends before what it follows.
    fn broken(&mut self, problem: Problem) -> Vec<Self::Event>;
    /// Writes an event.
    fn write(&mut self, event: Self::Event) -> Result<Event, axum::Error>;
    /// Called when the last event has been written.
    fn finish(self);
}

/// What a look finds.
pub(crate) enum Seen<E> {
    /// The events of what is new. None if nothing is, or if the database is unavailable.
    News(Vec<E>),
    /// The last events of what has ended.
    End(Vec<E>),
    /// It cannot be followed any more.
    Lost(Problem),
}

/// A caller that follows a source.
struct Follower<S: Source> {
    stream: OpenStream,
    source: S,
    ready: VecDeque<S::Event>,
    is_over: bool,
}

/// The events of the source until it has ended, the key of the caller is revoked, or the process shuts down.
pub(crate) fn events<S: Source>(
    stream: OpenStream,
    source: S,
) -> impl Stream<Item = Result<Event, axum::Error>> {
    let follower = Follower { stream, source, ready: VecDeque::new(), is_over: false };
    stream::unfold(follower, Follower::next)
}

impl<S: Source> Follower<S> {
    async fn next(mut self) -> Option<(Result<Event, axum::Error>, Self)> {
        while self.ready.is_empty() && !self.is_over {
            let OpenStream { streams, revoked, .. } = &mut self.stream;
            let seen = tokio::select! {
                seen = self.source.look(streams) => seen,
                () = streams.draining.cancelled() => Seen::Lost(Problem::of(ProblemType::Draining)),
                () = revoked => Seen::Lost(Problem::of(ProblemType::Unauthorized)),
            };
            self.is_over = !matches!(seen, Seen::News(_));
            self.ready.extend(match seen {
                Seen::News(events) | Seen::End(events) => events,
                Seen::Lost(problem) => self.source.broken(problem),
            });
        }
        // The events before have been written when the next one is asked for.
        let Some(event) = self.ready.pop_front() else {
            self.source.finish();
            return None;
        };
        Some((self.source.write(event), self))
    }
}
