//! Records how an attempt went, in metrics, in its trace and, if the job has ended, in one log line.

use std::time::{Duration, Instant};

use akhar_jobs::{JobState, Timing, store::Claimed};
use akhar_platform::{
    metrics,
    telemetry::{JOB_ENDED, traces},
};
use akhar_requests::{Outcome, Parameters};
use tracing::Span;
use uuid::Uuid;

/// An attempt that has begun. The span of the attempt has the job's id, the number of the attempt and the id of the
/// request, so its lines need not repeat them.
#[derive(Debug)]
pub(super) struct Report {
    operation: &'static str,
    model: String,
    account_id: Uuid,
    waited: Duration,
    began: Instant,
}

/// What a report says of an outcome. It is kept when the outcome is written.
#[derive(Debug)]
pub(super) struct Kept {
    state: JobState,
    /// The length of the recording, seconds.
    audio_s: Option<f64>,
    /// The code of a rejection.
    code: Option<String>,
}

impl Kept {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let code = match outcome {
            Outcome::Rejected { code, .. } => Some(code.clone()),
            _ => None,
        };
        let state = if outcome.is_answer() { JobState::Succeeded } else { JobState::Failed };
        Self { state, audio_s: outcome.audio_s(), code }
    }
}

impl Report {
    /// An attempt begins, with this model.
    pub(super) fn begin(claimed: &Claimed, parameters: &Parameters, model: &str) -> Self {
        let operation = parameters.operation().name();
        metrics::JOB_WAIT_SECONDS.record_duration([operation], claimed.waited);
        Self {
            operation,
            model: model.to_owned(),
            account_id: claimed.account_id,
            waited: claimed.waited,
            began: Instant::now(),
        }
    }

    /// The attempt has an outcome. `is_written`: it has ended the job.
    pub(super) fn ended(&self, is_written: bool, kept: &Kept, Timing { decode_us, infer_us }: Timing) {
        let result = match (is_written, kept.state) {
            (false, _) => "discarded",
            (true, JobState::Succeeded) => "succeeded",
            (true, _) => "rejected",
        };
        self.count(result);
        let seconds = |us: i32| Duration::from_micros(u64::try_from(us).unwrap_or(0));
        let decode = seconds(decode_us);
        let infer = seconds(infer_us);
        metrics::JOB_DECODE_SECONDS.record_duration([self.operation], decode);
        metrics::JOB_INFERENCE_SECONDS.record_duration([self.operation, &self.model], infer);
        if let Some(audio_s) = kept.audio_s.filter(|seconds| *seconds > 0.0) {
            metrics::REAL_TIME_FACTOR.record([&self.model], (decode + infer).as_secs_f64() / audio_s);
            metrics::RECORDING_SECONDS.record([&self.model], audio_s);
        }
        if is_written {
            let state = kept.state.name();
            let code = kept.code.as_deref();
            traces::set(&Span::current(), "state", state);
            tracing::info!(
                account = %self.account_id, operation = self.operation, model = self.model, state,
                wait_ms = milliseconds(self.waited), run_ms = milliseconds(self.began.elapsed()), decode_us, infer_us,
                audio_s = kept.audio_s, code, "{JOB_ENDED}"
            );
        }
    }

    /// The last attempt failed. `is_written`: it has ended the job.
    pub(super) fn dead(&self, is_written: bool, code: &str, error: &str) {
        self.count(if is_written { "dead" } else { "discarded" });
        traces::fail(&Span::current(), code.to_owned());
        if is_written {
            metrics::DEAD_JOBS.add_one(["attempt"]);
            let state = JobState::Failed.name();
            traces::set(&Span::current(), "state", state);
            tracing::error!(
                account = %self.account_id, operation = self.operation, model = self.model, state,
                wait_ms = milliseconds(self.waited), run_ms = milliseconds(self.began.elapsed()), code, error,
                "{JOB_ENDED}"
            );
        }
    }

    /// The attempt failed, and the job goes back to its queue.
    pub(super) fn retried(&self, code: &str, error: &str, delay: Duration) {
        self.count("retried");
        traces::fail(&Span::current(), code.to_owned());
        tracing::warn!(
            operation = self.operation,
            code,
            error,
            delay_ms = milliseconds(delay),
            "attempt failed: the job goes back to its queue"
        );
    }

    /// The attempt was stopped, because the job is no longer its own.
    pub(super) fn stopped(&self) {
        self.count("stopped");
    }

    /// The attempt was stopped, because the worker stops.
    pub(super) fn handed_back(&self) {
        self.count("handed-back");
    }

    fn count(&self, result: &'static str) {
        metrics::ATTEMPTS.add_one([self.operation, &self.model, result]);
        metrics::JOB_RUN_SECONDS.record_duration([self.operation, &self.model], self.began.elapsed());
        let span = Span::current();
        traces::set(&span, "operation", self.operation);
        traces::set(&span, "model", self.model.clone());
        traces::set(&span, "wait_ms", milliseconds(self.waited));
        traces::set(&span, "result", result);
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
