//! A group that is followed: its events report its counts. It looks once a second, at the same time as all other streams, for what the
//! reader of the group has read. So it has at most one event a second, however fast the jobs of the group end.

use akhar_client::{GroupEventBody, GroupEventName};
use akhar_jobs::store::Group;
use akhar_platform::database::Transient as _;
use axum::response::sse::Event;
use tokio::time::sleep_until;

use super::{counts::Counts, get::body};
use crate::{
    http::event_stream::{self, RECONNECT_AFTER_MS},
    problems::{Problem, ProblemType},
    waiting::{
        follower::{Seen, Source},
        group_readers::Followed,
        streams::Streams,
    },
};

/// A group, for a caller that knows a part of it.
pub(super) struct FollowedGroup {
    reads: Followed,
    /// The group as it was when this began, until the first look.
    first: Option<Group>,
    /// The counts that the caller knows.
    known: Option<Counts>,
    has_written: bool,
}

impl FollowedGroup {
    /// Follows a group of this account for a caller that knows these counts.
    pub(super) fn new(reads: Followed, group: Group, known: Option<Counts>) -> Self {
        Self { reads, first: Some(group), known, has_written: false }
    }

    /// The group and its counts, unless the caller knows them.
    fn news(&mut self, group: Group) -> Seen<Group> {
        let counts = Counts::from(&group);
        if group.has_ended() {
            return Seen::End(vec![group]);
        }
        let is_new = self.known.replace(counts) != Some(counts);
        Seen::News(is_new.then_some(group).into_iter().collect())
    }
}

impl Source for FollowedGroup {
    type Event = Group;

    async fn look(&mut self, streams: &Streams) -> Seen<Group> {
        if let Some(group) = self.first.take() {
            return self.news(group);
        }
        sleep_until(streams.next_look()).await;
        match self.reads.news() {
            None => Seen::News(Vec::new()),
            Some(Ok(Some(group))) => self.news(group),
            Some(Ok(None)) => Seen::Lost(Problem::of(ProblemType::NotFound)),
            Some(Err(error)) if !error.is_transient() => {
                tracing::error!(%error, "cannot read a group that is followed");
                Seen::Lost(error.into())
            }
            Some(Err(_)) => {
                tracing::debug!("the database is unavailable: continuing to follow a group");
                Seen::News(Vec::new())
            }
        }
    }

    fn broken(&mut self, _: Problem) -> Vec<Group> {
        Vec::new() // the client connects again
    }

    fn write(&mut self, group: Group) -> Result<Event, axum::Error> {
        let is_first = !std::mem::replace(&mut self.has_written, true);
        let event = if group.has_ended() { GroupEventName::Ended } else { GroupEventName::Counts };
        let GroupEventBody { event, id, data, retry } = GroupEventBody {
            event,
            id: Counts::from(&group).to_string(),
            data: serde_json::to_string(&body(group)).map_err(axum::Error::new)?,
            retry: is_first.then_some(RECONNECT_AFTER_MS),
        };
        Ok(event_stream::event(event.name(), id, data, retry))
    }

    fn finish(self) {}
}
