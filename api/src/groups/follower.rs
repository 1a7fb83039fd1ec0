//! Follows one group for one caller: the group comes in, and the events that report its counts go out.
//!
//! A follower looks once a second, at the same time as all other streams, for what the reader of the group has read. So it has at most
//! one event a second, however fast the jobs of the group end.

use akhar_client::{GroupEventBody, GroupEventName};
use akhar_jobs::store::Group;
use akhar_platform::database::Transient as _;
use axum::response::sse::Event;
use futures::{Stream, stream};

use super::{counts::Counts, get::body};
use crate::{
    http::event_stream::{self, RECONNECT_AFTER_MS},
    waiting::{group_readers::Followed, streams::OpenStream},
};

/// A caller that follows a group.
struct Follower {
    stream: OpenStream,
    reads: Followed,
    /// The group as it was last read.
    group: Group,
    /// The counts that the caller knows.
    known: Option<Counts>,
    /// Whether the group has been read since the last event.
    is_read: bool,
    has_written: bool,
    is_over: bool,
}

/// The events of a group of this account for a caller that knows these counts, until the group has ended or does not exist any more,
/// the key of the caller is revoked, or the process stops.
pub(super) fn events(
    stream: OpenStream,
    reads: Followed,
    group: Group,
    known: Option<Counts>,
) -> impl Stream<Item = Result<Event, axum::Error>> {
    let follower =
        Follower { stream, reads, group, known, is_read: true, has_written: false, is_over: false };
    stream::unfold(follower, async |mut follower| Some((follower.next().await?, follower)))
}

impl Follower {
    async fn next(&mut self) -> Option<Result<Event, axum::Error>> {
        while !self.is_over {
            let counts = Counts::from(&self.group);
            if std::mem::take(&mut self.is_read) && (self.group.has_ended() || self.known != Some(counts)) {
                self.is_over = self.group.has_ended();
                self.known = Some(counts);
                return Some(self.write(counts));
            }
            self.is_over = !self.stream.next_look().await || !self.look();
        }
        None
    }

    /// Takes over what was read of the group. `false` if the stream must end.
    fn look(&mut self) -> bool {
        match self.reads.news() {
            None => true,
            Some(Ok(Some(group))) => {
                self.group = group;
                self.is_read = true;
                true
            }
            Some(Ok(None)) => false,
            Some(Err(error)) if !error.is_transient() => {
                tracing::error!(%error, "cannot read a group that is followed");
                false
            }
            Some(Err(_)) => {
                tracing::debug!("the database is unavailable: continuing to follow a group");
                true
            }
        }
    }

    fn write(&mut self, counts: Counts) -> Result<Event, axum::Error> {
        let is_first = !std::mem::replace(&mut self.has_written, true);
        let event = if self.is_over { GroupEventName::Ended } else { GroupEventName::Counts };
        let GroupEventBody { event, id, data, retry } = GroupEventBody {
            event,
            id: counts.to_string(),
            data: serde_json::to_string(&body(self.group.clone())).map_err(axum::Error::new)?,
            retry: is_first.then_some(RECONNECT_AFTER_MS),
        };
        Ok(event_stream::event(event.name(), id, data, retry))
    }
}
