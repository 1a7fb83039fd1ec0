//! The table of all metrics: name, kind, labels, which process has it, and what it means. Nothing else can be recorded.
//!
//! Values of labels are bounded: names of routes, operations, models, queues and states, and never ids, accounts or
//! anything else that callers choose.

use super::metric::{Counter, Gauge, Histogram, ITEMS, Kind, REAL_TIME, Read, SECONDS};

/// The processes that have a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// `akhar api`, and `akhar serve`.
    Api,
    /// `akhar worker`, and the worker of `akhar serve`.
    Worker,
    /// All of them.
    All,
}

impl Processes {
    /// The name on the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Worker => "worker",
            Self::All => "api, worker",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The name as it is exported.
    pub name: &'static str,
    /// The kind.
    pub kind: Kind,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// Where it is exported.
    pub processes: Processes,
    /// What the value is.
    pub help: &'static str,
    /// What is recorded.
    pub(super) metric: &'static dyn Read,
}

macro_rules! table {
    ($($(#[doc = $help:literal])+ $constant:ident: $kind:ident $(($buckets:ident))? [$($label:literal),*] = $name:literal, $processes:ident;)+) => {
        $(
            $(#[doc = $help])+
            pub static $constant: $kind<{ <[&str]>::len(&[$($label),*]) }> = $kind::new($($buckets)?);
        )+

        /// All metrics, in the order of the reference page.
        pub static TABLE: &[Description] = &[$(Description {
            name: $name,
            kind: Kind::$kind $(($buckets))?,
            labels: &[$($label),*],
            processes: Processes::$processes,
            help: concat!($($help),+),
            metric: &$constant,
        }),+];
    };
}

table! {
    /// Requests whose headers were received.
    HTTP_REQUESTS: Counter[] = "akhar_http_requests_total", Api;
    /// Requests that have no response yet.
    HTTP_REQUESTS_IN_PROGRESS: Gauge[] = "akhar_http_requests_in_progress", Api;
    /// Responses by route, method and status. `route` is `unmatched` if no route has the path, and `status` is `none` if the client disconnected before the response.
    HTTP_RESPONSES: Counter["route", "method", "status"] = "akhar_http_responses_total", Api;
    /// Time from the headers of a request to those of its response.
    HTTP_REQUEST_SECONDS: Histogram(SECONDS)["route"] = "akhar_http_request_duration_seconds", Api;
    /// Responses that are problems, by the slug of their type, such as `queue-full`.
    PROBLEMS: Counter["type"] = "akhar_problems_total", Api;
    /// Requests that were refused because of a quota of their account: `rpm` (requests in a minute), `queued` (waiting jobs), `audio-minutes` (recordings in a day), `uploads` (bytes in the bucket) or `streams` (of events).
    QUOTA_REFUSALS: Counter["quota"] = "akhar_quota_refusals_total", Api;
    /// Requests that submitted a job, also repeated ones with an idempotency key. `mode` is `sync` if a caller waits for the job and `async` if not.
    JOBS_SUBMITTED: Counter["operation", "mode"] = "akhar_jobs_submitted_total", Api;
    /// Jobs that were cancelled. `by` is `request` (DELETE) or `disconnect` (the client closed its connection before the job had started).
    JOBS_CANCELLED: Counter["operation", "by"] = "akhar_jobs_cancelled_total", Api;
    /// Jobs that requests of this process wait for.
    WAITERS: Gauge[] = "akhar_waiters", Api;
    /// Streams of events that are open.
    EVENT_STREAMS: Gauge[] = "akhar_event_streams", Api;
    /// Memory that is reserved for the bodies of requests.
    UPLOAD_MEMORY: Gauge[] = "akhar_upload_memory_bytes", Api;
    /// Whether the last count of the queues succeeded: 1 or 0. Without it, the values about queues are those of the last one.
    QUEUE_COUNTED: Gauge[] = "akhar_queue_count_success", Api;
    /// Time that the last count of the queues took.
    QUEUE_COUNT_SECONDS: Gauge[] = "akhar_queue_count_duration_seconds", Api;
    /// Jobs that have not ended, in the whole database, by state: `queued` or `running`. Every api has the same values.
    QUEUE_JOBS: Gauge["queue", "operation", "state"] = "akhar_queue_jobs", Api;
    /// Age of the oldest waiting job, in the whole database. 0 if none waits. Every api has the same values.
    QUEUE_OLDEST: Gauge["queue", "operation"] = "akhar_queue_oldest_seconds", Api;
    /// The longest time for which a running job has not progressed, in the whole database. 0 if none runs. Every api has the same values.
    QUEUE_STALLED: Gauge["queue", "operation"] = "akhar_queue_stalled_seconds", Api;
    /// The modes of the queues: 1 for the mode that a queue has (`open`, `paused` or `draining`), 0 for the others. Every api has the same values.
    QUEUE_MODE: Gauge["queue", "mode"] = "akhar_queue_mode", Api;
    /// Workers in the whole database, by state: `works`, `draining`, `drained` or `silent` (its heartbeats have stopped). Every api has the same values.
    WORKERS: Gauge["state"] = "akhar_workers", Api;
    /// Attempts to deliver a webhook. `result` is `delivered`, `failed` (it is repeated later), `dead` (it was given up) or `error` (the database failed; it is repeated in a minute).
    WEBHOOK_ATTEMPTS: Counter["result"] = "akhar_webhook_attempts_total", Api;
    /// Time of one attempt to deliver a webhook, with the writing of its result.
    WEBHOOK_ATTEMPT_SECONDS: Histogram(SECONDS)[] = "akhar_webhook_attempt_duration_seconds", Api;
    /// Webhooks that are due and that no process attempts yet, in the whole database; at most 10,001. Every api has the same value.
    WEBHOOKS_DUE: Gauge[] = "akhar_webhooks_due", Api;
    /// How long the oldest of them has been due, in the whole database. 0 if none is due. Every api has the same value.
    WEBHOOKS_OLDEST_DUE: Gauge[] = "akhar_webhooks_oldest_due_seconds", Api;

    /// Attempts that have ended. `result` is `succeeded`, `rejected` (the caller's input), `retried`, `dead` (no attempts are left), `stopped` (the job was cancelled or claimed again), `handed-back` (the worker stopped) or `discarded` (the write was too late).
    ATTEMPTS: Counter["operation", "model", "result"] = "akhar_attempts_total", Worker;
    /// Jobs that failed for good. `cause` is `attempt` (the last attempt failed) or `worker-lost` (the worker of the last attempt died).
    DEAD_JOBS: Counter["cause"] = "akhar_dead_jobs_total", Worker;
    /// Jobs that this process returned to their queues because their claim was lost. `cause` is `worker-lost` (the worker died or took too long) or `claim-lost` (the answer to a claim was lost).
    RESCUED_JOBS: Counter["cause"] = "akhar_rescued_jobs_total", Worker;
    /// Time that jobs waited in the queue, from acceptance, or from the end of the pause after a failed attempt, to the claim.
    JOB_WAIT_SECONDS: Histogram(SECONDS)["operation"] = "akhar_job_wait_seconds", Worker;
    /// Time of attempts, from the claim until the outcome is written.
    JOB_RUN_SECONDS: Histogram(SECONDS)["operation", "model"] = "akhar_job_run_seconds", Worker;
    /// Time that attempts spent decoding and preparing their input.
    JOB_DECODE_SECONDS: Histogram(SECONDS)["operation"] = "akhar_job_decode_seconds", Worker;
    /// Time that attempts spent in models, with the wait for a batch.
    JOB_INFERENCE_SECONDS: Histogram(SECONDS)["operation", "model"] = "akhar_job_inference_seconds", Worker;
    /// Length of the recordings that were transcribed.
    RECORDING_SECONDS: Histogram(SECONDS)["model"] = "akhar_recording_seconds", Worker;
    /// Time of decoding and inference for one second of a recording.
    REAL_TIME_FACTOR: Histogram(REAL_TIME)["model"] = "akhar_real_time_factor_ratio", Worker;
    /// Inputs in one run of a model.
    MODEL_BATCH: Histogram(ITEMS)["model"] = "akhar_model_batch_items", Worker;
    /// Time of one run of a model.
    MODEL_RUN_SECONDS: Histogram(SECONDS)["model"] = "akhar_model_run_seconds", Worker;
    /// The models in use, value 1. `version` is another one for another program, other weights, or another value in the manifest that an
    /// answer can depend on.
    MODEL_INFO: Gauge["operation", "language", "model", "version"] = "akhar_model_info", Worker;
    /// Jobs that this process may run at a time.
    WORKER_PLACES: Gauge["queue"] = "akhar_worker_places", Worker;
    /// Jobs that this process runs.
    WORKER_JOBS: Gauge["queue"] = "akhar_worker_jobs", Worker;

    /// Operations on the store of uploads outside the database (`AKHAR_UPLOAD_STORE`) that failed: `write`, `read`, `list`, `delete` or `sign` (a URL for a caller). Each worker lists the store once a minute.
    UPLOAD_STORE_FAILURES: Counter["operation"] = "akhar_upload_store_failures_total", All;
    /// Items in one statement that many callers share: `submit`, `lookup`, `follow`, `append`, `outputs` and `keys` in an api, `claim`, `end`, `requeue`, `inputs` and `say` in a worker.
    STATEMENT_ITEMS: Histogram(ITEMS)["statement"] = "akhar_statement_items", All;
    /// Time of one statement of the queue.
    STATEMENT_SECONDS: Histogram(SECONDS)["statement"] = "akhar_statement_duration_seconds", All;
    /// Connections of the pool. `state` is `used` or `idle`.
    POOL_CONNECTIONS: Gauge["state"] = "akhar_pool_connections", All;
    /// Connections that the pool may have.
    POOL_LIMIT: Gauge[] = "akhar_pool_connections_limit", All;
    /// Whether lists are read from the replica (`AKHAR_DATABASE_READ_URL`): 1 or 0.
    REPLICA_USED: Gauge[] = "akhar_replica_used", Api;
    /// How far the clock of this process is ahead of that of Postgres. Times of jobs are Postgres's.
    CLOCK_OFFSET: Gauge[] = "akhar_clock_offset_seconds", All;
    /// The version of the program, value 1. `process` is `api` or `worker`.
    BUILD_INFO: Gauge["version", "process"] = "akhar_build_info", All;
    /// Processor time of the process.
    PROCESS_CPU: Counter[] = "process_cpu_seconds_total", All;
    /// Resident memory of the process.
    PROCESS_RESIDENT: Gauge[] = "process_resident_memory_bytes", All;
    /// Virtual memory of the process.
    PROCESS_VIRTUAL: Gauge[] = "process_virtual_memory_bytes", All;
    /// The limit of virtual memory. 0 if there is none.
    PROCESS_VIRTUAL_MAX: Gauge[] = "process_virtual_memory_max_bytes", All;
    /// Files and connections that the process has open.
    PROCESS_FDS: Gauge[] = "process_open_fds", All;
    /// The limit of open files and connections.
    PROCESS_MAX_FDS: Gauge[] = "process_max_fds", All;
    /// Threads of the process.
    PROCESS_THREADS: Gauge[] = "process_threads", All;
    /// When the process started, in seconds since 1970.
    PROCESS_START: Gauge[] = "process_start_time_seconds", All;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_follow_the_conventions_of_prometheus() {
        let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), TABLE.len(), "each name is in the table once");
        for Description { name, kind, help, labels, .. } in TABLE {
            assert!(name.starts_with("akhar_") || name.starts_with("process_"), "{name}");
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            assert!(
                help.trim_start().starts_with(char::is_uppercase) && help.ends_with('.'),
                "{name}: {help}"
            );
            assert!(!labels.iter().any(|l| ["id", "account", "job", "request_id"].contains(l)), "{name}");
        }
    }
}
