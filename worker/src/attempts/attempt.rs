//! One attempt at a claimed job. The attempt runs the job within its time limit and then ends the job,
//! returns it to its queue for another attempt, or fails it for good. The claim guards each of these writes.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_jobs::{
    End, Fence, JobId, JobUpload, Part, Queue, RecordingUrl, Timing,
    backend::{ClaimedJob, Endings, Hold},
    store::{self, Claimed, Ending, Guard, Requeue},
    uploads::UploadStore,
};
use akhar_platform::database::Pool;
use akhar_platform::{
    reload::LiveConfig,
    shutdown::Shutdown,
    telemetry::traces::{self, Messaging},
};
use akhar_requests::{LIVE, MediaType, Outcome, Parameters};
use tokio::{sync::watch, time::MissedTickBehavior};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use tracing::Instrument as _;

use super::{
    backoff,
    config::ConsumerConfig,
    download::{DownloadError, Downloads},
    report::{Kept, Report},
    retry::retry_until_shutdown,
    upload::{UploadError, fetch},
};
use crate::{
    decode::job_file::JobFile,
    fair_queue::Requester,
    models::Models,
    operations::{OperationError, Pipeline, Progress, goes_on},
    stream::{Stream, Streams},
};

/// The shortest time between two writes of a job's progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How long a model has to answer somebody after an attempt has run out of time, before it counts as stuck.
const TO_GO_ON: Duration = Duration::from_secs(1);

/// The code of an attempt that cannot read its upload.
const UNREAD: &str = "upload";

/// The attempt from which on one that cannot read its upload is spent. The pauses before it and the attempts that are left take six
/// minutes together.
const FIRST_SPENT_UNREAD: i32 = 9;

/// What every attempt needs.
pub(crate) struct Attempts {
    /// Takes the writes of progress, which need not be flushed to disk.
    pub(crate) db: Pool,
    pub(crate) endings: Endings,
    pub(crate) uploads: UploadStore,
    pub(crate) downloads: Arc<Downloads>,
    pub(crate) models: Arc<Models>,
    pub(crate) streams: Streams,
    pub(crate) live: LiveConfig,
    /// Cancelled when a model does not answer any more. A run of a model cannot be ended, so the process has to end.
    pub(crate) stuck: CancellationToken,
    /// Counts running attempts, so that a soft shutdown can wait for them. At the deadline of the shutdown they return
    /// their jobs to their queues.
    pub(crate) tracker: TaskTracker,
    pub(crate) shutdown: Shutdown,
}

/// The result of running a job once.
enum AttemptResult {
    /// An answer for the caller, or the reason why its input was rejected.
    Outcome(Outcome, Timing),
    /// The attempt failed. The code and the text give the cause, for operators.
    Failed(&'static str, String),
    /// The store of uploads did not answer, which is not the job's fault. The text gives the cause, for operators.
    Unread(String),
    /// The attempt failed, and so would every other. The code and the text give the cause, for operators.
    FailedForGood(&'static str, String),
}

/// A job that is about to run.
struct Work {
    requester: Requester,
    job: JobId,
    parameters: Parameters,
    upload: Option<(JobUpload, MediaType)>,
    uploads: UploadStore,
    recording: Option<Recording>,
    stream: Stream,
    pipeline: Arc<Pipeline>,
    timeout: Duration,
}

/// A recording that is fetched.
struct Recording {
    url: RecordingUrl,
    downloads: Arc<Downloads>,
    max_bytes: usize,
    is_last_attempt: bool,
}

impl Recording {
    /// Fetches the recording. If that fails, returns the result of the attempt.
    async fn fetch(self, progress: &watch::Sender<Progress>) -> Result<JobFile, AttemptResult> {
        // Each part that arrives is a step, so that a cancelled job stops.
        let received = || goes_on(progress);
        let fetched = self.downloads.fetch(&self.url, self.max_bytes, received).await;
        fetched.map_err(|error| match error {
            DownloadError::Refused { code, detail } => rejected(code, detail),
            DownloadError::Unavailable(detail) if self.is_last_attempt => rejected("not_fetched", detail),
            DownloadError::Unavailable(error) | DownloadError::Disk(error) => {
                AttemptResult::Failed(UNREAD, error)
            }
        })
    }
}

/// The outcome of a recording that the request did not have itself: what is wrong with the file is wrong with what this field names.
fn of_field(outcome: Outcome, field: Option<&str>) -> Outcome {
    match (outcome, field) {
        (Outcome::Rejected { code, detail, .. }, Some(field)) => Outcome::rejected(field, &code, detail),
        (other, _) => other,
    }
}

/// The result of an attempt whose operation failed. A recording with which a decoder does not go on would stop one worker after
/// another.
fn failed(error: &OperationError) -> AttemptResult {
    match error {
        OperationError::DecoderStuck => AttemptResult::FailedForGood("decoder-stuck", error.to_string()),
        _ => AttemptResult::Failed("error", error.to_string()),
    }
}

fn rejected(code: &str, detail: String) -> AttemptResult {
    AttemptResult::Outcome(Outcome::rejected("url", code, detail), Timing::default())
}

impl Work {
    /// Reads or fetches the upload and runs the job. Each of its steps has the time limit: a recording takes turns with others, so its
    /// whole attempt can take long though each part of it comes. Also returns the model, if it has not answered anybody for
    /// the whole step.
    async fn run(self, progress: watch::Sender<Progress>) -> (AttemptResult, Option<String>) {
        let Self { requester, job, parameters, upload, uploads, recording, stream, pipeline, timeout } = self;
        let steps = progress.subscribe();
        let work = async {
            let field = match (&recording, upload.as_ref().and_then(|(upload, _)| upload.of_caller())) {
                (Some(_), _) => Some("url"),
                (None, Some(_)) => Some("upload"),
                (None, None) => None,
            };
            let file = match recording {
                Some(recording) => match recording.fetch(&progress).await {
                    Ok(file) => Some(file),
                    Err(result) => return result,
                },
                None => match fetch(&uploads, upload, || goes_on(&progress)).await {
                    Ok(file) => file,
                    Err(UploadError::Lost(error)) => {
                        return AttemptResult::FailedForGood("upload-lost", error);
                    }
                    Err(UploadError::Unavailable(error)) => return AttemptResult::Unread(error),
                },
            };
            match pipeline.work((requester, job), &parameters, (file, &stream), &progress).await {
                Ok((outcome, timing)) => AttemptResult::Outcome(of_field(outcome, field), timing),
                Err(error) => failed(&error),
            }
        };
        let began = match in_steps(timeout, steps, work).await {
            Ok(result) => return (result, None),
            Err(began) => began,
        };
        let late = AttemptResult::Failed("timeout", format!("the attempt took longer than {timeout:?}"));
        let is_stuck = || pipeline.is_stuck_since(&parameters, began);
        if !is_stuck() {
            return (late, None);
        }
        // The whole process may have been stopped. Then the model goes on now too.
        tokio::time::sleep(TO_GO_ON).await;
        (late, is_stuck().then(|| pipeline.model(&parameters).to_owned()))
    }
}

/// Does `work` while each of its steps ends within `limit`: `steps` changes at their ends. Otherwise returns when the last
/// step began.
async fn in_steps<T>(
    limit: Duration,
    mut steps: watch::Receiver<Progress>,
    work: impl Future<Output = T>,
) -> Result<T, Instant> {
    let mut work = pin!(work);
    loop {
        let began = Instant::now();
        tokio::select! {
            done = &mut work => return Ok(done),
            Ok(()) = steps.changed() => (),
            () = tokio::time::sleep(limit) => return Err(began),
        }
    }
}

impl Attempts {
    /// Runs one attempt at a claimed job in a task of its own. So the attempt goes on when the caller is
    /// dropped, and a panic in the attempt does not reach the caller.
    pub(crate) async fn attempt(self: Arc<Self>, job: ClaimedJob) {
        let tracker = self.tracker.clone();
        let ClaimedJob { claimed, hold } = job;
        let span = tracing::info_span!(
            "job",
            job = %claimed.fence.job,
            attempt = claimed.fence.attempt,
            request_id = %claimed.request_id,
            traceparent = claimed.traceparent.as_deref(),
        );
        let traceparent = claimed.traceparent.as_deref();
        if claimed.is_asynchronous {
            traces::link(&span, traceparent);
        } else {
            traces::continue_trace(&span, traceparent);
        }
        traces::describe_message(&span, Messaging::Process, claimed.queue.name(), claimed.fence.job);
        let _ = tracker.spawn(self.work(claimed, hold).instrument(span)).await; // the panic hook has logged a panic
    }

    async fn work(self: Arc<Self>, mut claimed: Claimed, mut hold: Hold) {
        let pipeline = self.models.pipeline();
        let (parameters, media_type) = match akhar_requests::claimed(&claimed) {
            Ok(read) => read,
            // The job stays claimed, is returned to its queue as lost, and fails in the end, unless a newer worker gets it.
            Err(error) => return tracing::error!(%error, "cannot read a claimed job"),
        };
        let report = Report::begin(&claimed, &parameters, pipeline.model(&parameters));
        let fence = claimed.fence;
        let may_have_webhook = claimed.has_webhook;
        let (progress, seen) = watch::channel(Progress::default());
        let upload = claimed.upload.take().zip(media_type);
        let config = self.live.now();
        let recording = claimed.recording_url.take().map(|url| Recording {
            url,
            downloads: self.downloads.clone(),
            max_bytes: config.max_fetched_bytes.get(),
            is_last_attempt: claimed.is_last_attempt,
        });
        let work = Work {
            requester: Requester { account_id: claimed.account_id, is_asynchronous: claimed.is_asynchronous },
            job: fence.job,
            parameters,
            upload,
            uploads: self.uploads.clone(),
            recording,
            stream: self.streams.of(fence),
            pipeline,
            timeout: ConsumerConfig::of(claimed.queue, &config).timeout,
        };
        // The work has a task of its own, so that a panic in it counts as a failed attempt.
        let working = AbortOnDropHandle::new(tokio::spawn(work.run(progress).in_current_span()));
        let worked = async {
            let is_current = self.note_progress(fence, seen).await;
            if is_current { Some(working.await) } else { None } // dropping the handle stops the work
        };
        let worked = tokio::select! {
            worked = worked => worked,
            () = self.is_to_be_handed_back(claimed.queue) => return self.hand_back(fence, &report).await,
        };
        hold.work_is_over();
        let Some(worked) = worked else {
            tracing::info!("attempt stopped: the job was cancelled, claimed again or queued again");
            return report.stopped();
        };
        let failed = |panic| AttemptResult::Failed("panic", format!("the attempt panicked: {panic}"));
        let (result, stuck) = worked.unwrap_or_else(|panic| (failed(panic), None));
        let result = match result {
            AttemptResult::Unread(error) if fence.attempt >= FIRST_SPENT_UNREAD => {
                AttemptResult::Failed(UNREAD, error)
            }
            other => other,
        };
        if let Some(model) = stuck {
            // Any of its jobs may be what stopped the model, so all of them are left to other workers, as those of a dead worker.
            tracing::error!(model, "the model does not answer any more: ending this worker");
            return self.stuck.cancel();
        }
        match result {
            AttemptResult::Outcome(outcome, timing) => {
                let kept = Kept::of(&outcome);
                let end = match End::try_from(outcome) {
                    Ok(end) => end,
                    Err(error) => return tracing::error!(%error, "cannot write the outcome of a job"),
                };
                let ending = Ending {
                    guard: Guard::Claimed(fence),
                    end,
                    timing: Some(timing),
                    error: None,
                    may_have_webhook,
                };
                let has_ended = self.end(ending).await;
                report.ended(has_ended, &kept, timing);
            }
            AttemptResult::FailedForGood(code, error) => {
                self.give_up(fence, may_have_webhook, &report, code, error).await;
            }
            AttemptResult::Unread(error) => self.try_again(fence, &report, UNREAD, error, false).await,
            AttemptResult::Failed(code, error) if claimed.is_last_attempt => {
                self.give_up(fence, may_have_webhook, &report, code, error).await;
            }
            AttemptResult::Failed(code, error) => self.try_again(fence, &report, code, error, true).await,
        }
    }

    /// Waits until this worker may not finish the attempt. Another one goes on with a live session where this one stops, so it is not
    /// finished here.
    async fn is_to_be_handed_back(&self, queue: Queue) {
        let stop = if queue == LIVE { &self.shutdown.soft } else { &self.shutdown.deadline };
        stop.cancelled().await;
    }

    /// Writes the job's progress to the database, at most once a second, until its work is over. Progress is
    /// informative only, so a failed write is logged. The next one includes its segments. Returns `false` as soon as a
    /// write finds that the claim is no longer current.
    async fn note_progress(&self, fence: Fence, mut seen: watch::Receiver<Progress>) -> bool {
        let mut n_written = 0;
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while seen.changed().await.is_ok() {
            tokio::select! {
                _ = ticks.tick() => (),
                _ = seen.wait_for(|_| false) => return true, // the sender is gone: the work is over
            }
            let (transcribed_s, parts) = {
                let progress = seen.borrow_and_update();
                let further = progress.segments[n_written..].iter().cloned();
                (progress.transcribed_s, further.map(Part::from).collect::<Vec<_>>())
            };
            match store::note_progress(&self.db, fence, transcribed_s, n_written, &parts).await {
                Ok(true) => n_written += parts.len(),
                Ok(false) => return false,
                Err(error) => tracing::debug!(%error, "could not write the job's progress"),
            }
        }
        true
    }

    /// Ends the job. Returns false if the write failed or the claim is no longer this attempt's.
    async fn end(&self, ending: Ending) -> bool {
        let write = || self.endings.end(ending.clone());
        let ended = retry_until_shutdown("end", &self.shutdown, write).await;
        warn_if_claim_lost(ended);
        ended == Some(true)
    }

    /// Ends a job that the service failed to process.
    async fn give_up(
        &self,
        fence: Fence,
        may_have_webhook: bool,
        report: &Report,
        code: &'static str,
        error: String,
    ) {
        let has_ended = self.end(Ending::dead(fence, error.clone(), may_have_webhook)).await;
        report.dead(has_ended, code, &error);
    }

    async fn try_again(&self, fence: Fence, report: &Report, code: &str, error: String, is_spent: bool) {
        let delay = backoff::after(fence.attempt);
        report.retried(code, &error, delay);
        self.requeue(Requeue { fence, is_spent, is_death: false, delay, error }).await;
    }

    /// Returns a job whose attempt has not ended to its queue, because this worker stops.
    async fn hand_back(&self, fence: Fence, report: &Report) {
        report.handed_back();
        tracing::warn!("stopping before the attempt has ended: the job goes back to its queue");
        let error = "the worker stopped before the attempt had ended".to_owned();
        let delay = Duration::ZERO;
        self.requeue(Requeue { fence, is_spent: false, is_death: false, delay, error }).await;
    }

    async fn requeue(&self, requeue: Requeue) {
        let write = || self.endings.requeue(requeue.clone());
        warn_if_claim_lost(retry_until_shutdown("requeue", &self.shutdown, write).await);
    }
}

/// Logs that a guarded write changed nothing. Then the job no longer belongs to this attempt: it was claimed
/// again, it was ended, or a crash of Postgres lost the claim and the job is queued.
fn warn_if_claim_lost(written: Option<bool>) {
    if written == Some(false) {
        tracing::warn!(
            "the result of this attempt was discarded: the job was cancelled or ended, claimed again or queued again"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn a_recording_with_which_a_decoder_does_not_go_on_is_not_tried_again() {
        let result = failed(&OperationError::DecoderStuck);
        assert!(matches!(result, AttemptResult::FailedForGood("decoder-stuck", _)));
        assert!(matches!(failed(&OperationError::Decoder), AttemptResult::Failed("error", _)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_has_the_time_limit_for_each_of_its_steps() {
        let (progress, steps) = watch::channel(Progress::default());
        let work = |n_steps: u32, last: Duration| {
            let progress = progress.clone();
            async move {
                for _ in 0..n_steps {
                    tokio::time::sleep(LIMIT / 2).await;
                    goes_on(&progress);
                }
                tokio::time::sleep(last).await;
            }
        };
        assert!(in_steps(LIMIT, steps.clone(), work(10, LIMIT / 2)).await.is_ok());
        assert!(in_steps(LIMIT, steps.clone(), work(10, LIMIT * 2)).await.is_err());
        assert!(in_steps(LIMIT, steps, work(0, LIMIT * 2)).await.is_err());
    }
}
