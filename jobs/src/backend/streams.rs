//! The streams of jobs: many of them are written and read with one statement, and whoever follows one is woken when it is announced.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use akhar_platform::database::{Pool, Transient as _};
use parking_lot::Mutex;
use sqlx::PgConnection;
use tokio::{sync::Notify, time::sleep};
use uuid::Uuid;

use crate::{
    JobId,
    backend::batch::{Batch, BatchError, Statement, is_data_error},
    store::{
        self, Appended, InputPart, MAX_ENDINGS, NewPart, Output, OutputsSeen, StreamCursor, StreamStart,
    },
};

/// The pause before a statement is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(200);

struct Append;

impl Statement for Append {
    type Item = NewPart;
    type Reply = Appended;
    const NAME: &'static str = "append";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, db: &mut PgConnection, parts: &[NewPart]) -> Result<Vec<Appended>, sqlx::Error> {
        store::append(db, parts).await
    }

    fn n_bytes(new: &NewPart) -> usize {
        new.part.bytes.len()
    }
}

struct FollowOutputs;

impl Statement for FollowOutputs {
    type Item = StreamCursor;
    type Reply = Option<OutputsSeen>;
    const NAME: &'static str = "outputs";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(
        &self,
        db: &mut PgConnection,
        cursors: &[StreamCursor],
    ) -> Result<Vec<Option<OutputsSeen>>, sqlx::Error> {
        store::follow_outputs(db, cursors).await
    }
}

struct ReadInputs;

impl Statement for ReadInputs {
    type Item = StreamCursor;
    type Reply = Vec<InputPart>;
    const NAME: &'static str = "inputs";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(
        &self,
        db: &mut PgConnection,
        cursors: &[StreamCursor],
    ) -> Result<Vec<Vec<InputPart>>, sqlx::Error> {
        store::read_inputs(db, cursors).await
    }
}

struct WriteOutputs;

impl Statement for WriteOutputs {
    type Item = Output;
    type Reply = bool;
    const NAME: &'static str = "say";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, db: &mut PgConnection, outputs: &[Output]) -> Result<Vec<bool>, sqlx::Error> {
        store::write_outputs(db, outputs).await
    }
}

/// Executes a statement that can be repeated, again and again while its error may pass.
async fn until_answered<T, F: Future<Output = Result<T, BatchError>>>(
    may_pass: fn(&BatchError) -> bool,
    statement: impl Fn() -> F,
) -> Result<T, BatchError> {
    loop {
        match statement().await {
            Err(error) if may_pass(&error) => {
                tracing::debug!(%error, "the stream of a job cannot be reached: trying again");
                sleep(RETRY_DELAY).await;
            }
            answered => return answered,
        }
    }
}

/// Whether an error passes when an operator does something, such as making space on a disk.
fn can_be_mended(error: &BatchError) -> bool {
    match error {
        BatchError::Database(error) => !is_data_error(error),
        BatchError::Stopped => false,
    }
}

/// The side of streams that callers are on: it appends input and reads output. It waits while the database is away.
#[derive(Debug, Clone)]
pub struct StreamCallers {
    appends: Batch<Append>,
    follows: Batch<FollowOutputs>,
}

impl StreamCallers {
    /// Starts the tasks. Each uses its own connection with the options of `db`.
    pub fn start(db: &Pool) -> Self {
        Self {
            appends: Batch::start(db.of_task(), Append),
            follows: Batch::start(db.of_task(), FollowOutputs),
        }
    }

    /// Appends a part to the input of a job (see [`store::append`]).
    pub async fn append(&self, part: NewPart) -> Result<Appended, BatchError> {
        until_answered(BatchError::is_transient, || self.appends.execute(part.clone())).await
    }

    /// What is new about a stream since the cursor. `None` if there is no such job.
    pub async fn follow(&self, cursor: StreamCursor) -> Result<Option<OutputsSeen>, BatchError> {
        until_answered(BatchError::is_transient, || self.follows.execute(cursor)).await
    }
}

/// The side of streams that workers are on: it reads input and writes output, and waits also for what an operator has to mend.
#[derive(Debug, Clone)]
pub struct StreamWorkers {
    db: Pool,
    reads: Batch<ReadInputs>,
    follows: Batch<FollowOutputs>,
    writes: Batch<WriteOutputs>,
}

impl StreamWorkers {
    /// Starts the tasks. Each uses its own connection with the options of `db`.
    pub fn start(db: &Pool) -> Self {
        Self {
            db: db.clone(),
            reads: Batch::start(db.of_task(), ReadInputs),
            follows: Batch::start(db.of_task(), FollowOutputs),
            writes: Batch::start(db.of_task(), WriteOutputs),
        }
    }

    /// From where an attempt goes on.
    pub async fn start_of(&self, job: JobId) -> Result<StreamStart, BatchError> {
        let start = async |db: &mut PgConnection| store::stream_start(db, job).await;
        until_answered(can_be_mended, || async { Ok(self.db.with(start).await?) }).await
    }

    /// The next parts of the input of a job, some if there are many. Empty if there are none yet.
    pub async fn read(&self, cursor: StreamCursor) -> Result<Vec<InputPart>, BatchError> {
        until_answered(can_be_mended, || self.reads.execute(cursor)).await
    }

    /// What a job has said since the cursor. `None` if there is no such job.
    pub async fn said(&self, cursor: StreamCursor) -> Result<Option<OutputsSeen>, BatchError> {
        until_answered(can_be_mended, || self.follows.execute(cursor)).await
    }

    /// Writes what a job says. Returns `false` if its claim is no longer current; then nothing was changed.
    pub async fn write(&self, output: Output) -> Result<bool, BatchError> {
        until_answered(can_be_mended, || self.writes.execute(output.clone())).await
    }
}

/// Wakes those who follow streams when these are announced.
#[derive(Debug, Default)]
pub struct StreamWakeups(Mutex<HashMap<JobId, Vec<Weak<Notify>>>>);

/// Who follows a stream. A wake-up that comes before [`Self::woken`] is called is not lost.
#[derive(Debug, Clone)]
pub struct StreamFollower(Arc<Notify>);

impl StreamWakeups {
    /// Follows the stream of a job. Each of several followers is woken.
    pub fn follow(&self, job: JobId) -> StreamFollower {
        let mut all = self.0.lock();
        all.retain(|_, followers| {
            followers.retain(|follower| follower.strong_count() > 0);
            !followers.is_empty()
        });
        let follower = Arc::default();
        all.entry(job).or_default().push(Arc::downgrade(&follower));
        StreamFollower(follower)
    }

    /// Wakes every follower. Use this when announcements may have been missed.
    pub fn wake_all(&self) {
        wake(self.0.lock().values());
    }

    /// Wakes the followers of the streams that an announcement names (see [`STREAM_INPUTS`](crate::store::STREAM_INPUTS)). What is
    /// no id is ignored.
    pub fn announce(&self, payload: &str) {
        let all = self.0.lock();
        wake(payload.split(',').filter_map(|id| all.get(&JobId(Uuid::parse_str(id).ok()?))));
    }
}

fn wake<'a>(followers: impl Iterator<Item = &'a Vec<Weak<Notify>>>) {
    followers.flatten().filter_map(Weak::upgrade).for_each(|follower| follower.notify_one());
}

impl StreamFollower {
    /// Waits until the stream is announced. Whoever waits looks once a second too, because an announcement can be lost.
    pub async fn woken(&self) {
        self.0.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn an_announcement_wakes_the_followers_of_the_streams_it_names() {
        let wakeups = StreamWakeups::default();
        let jobs = [1, 2].map(|n| JobId(Uuid::from_u128(n)));
        let followers = [jobs[0], jobs[1], jobs[1]].map(|job| wakeups.follow(job));
        let woken = || followers.each_ref().map(|follower| follower.woken().now_or_never().is_some());
        assert_eq!(woken(), [false; 3]);
        wakeups.announce(&format!("{},{}", JobId(Uuid::from_u128(3)), jobs[1]));
        assert_eq!(woken(), [false, true, true]);
        for odd in ["", "x", "1,2"] {
            wakeups.announce(odd);
        }
        assert_eq!(woken(), [false; 3]);
        wakeups.wake_all();
        assert_eq!(woken(), [true; 3]);
        drop(followers);
        let _again = wakeups.follow(jobs[0]);
        assert_eq!(wakeups.0.lock().len(), 1, "nobody follows the other one");
    }
}
