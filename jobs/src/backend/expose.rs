//! The listing and metrics traits of apalis: they show jobs, queues and workers, and count jobs by state.

use apalis_core::{
    backend::{
        Filter, ListAllTasks, ListQueues, ListTasks, ListWorkers, Metrics, QueueInfo, RunningWorker,
        StatType, Statistic, WireFormatBackend, codec::Codec,
    },
    task::{Task, builder::TaskBuilder, status::Status, task_id::TaskId},
};
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::{
    JobState, Parameters, Queue,
    backend::{consumer::JobBackend, persistence::QueueError},
    store::{self, ListedJob, QueueDepth, WorkerRow},
};

/// The codec of a listed job's parameters: JSON, as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParametersCodec;

impl Codec<Parameters> for ParametersCodec {
    type Error = serde_json::Error;
    type Compact = Value;

    fn encode(&self, parameters: &Parameters) -> Result<Value, serde_json::Error> {
        serde_json::to_value(parameters)
    }

    fn decode(&self, stored: &Value) -> Result<Parameters, serde_json::Error> {
        serde::Deserialize::deserialize(stored)
    }
}

impl WireFormatBackend for JobBackend {
    type Codec = ParametersCodec;
    type Compact = Value;

    fn codec(&self) -> &ParametersCodec {
        &ParametersCodec
    }
}

impl ListTasks for JobBackend {
    async fn list_tasks(&self, filter: &Filter) -> Result<Vec<Task<Value>>, QueueError> {
        list(self, self.store().queue(), filter).await
    }
}

impl ListAllTasks for JobBackend {
    async fn list_all_tasks(&self, filter: &Filter) -> Result<Vec<Task<Value>>, QueueError> {
        list(self, None, filter).await
    }
}

impl ListQueues for JobBackend {
    async fn list_queues(&self) -> Result<Vec<QueueInfo>, QueueError> {
        let depths = store::queue_depths(self.store().db()).await?;
        let workers = store::list_workers(self.store().db()).await?;
        let workers: Vec<String> = workers.into_iter().map(|worker| worker.name).collect();
        let info = |queue: Queue| QueueInfo {
            name: queue.name().to_owned(),
            stats: statistics(depths.iter().filter(|depth| depth.queue == queue.name())),
            workers: workers.clone(),
            activity: Vec::new(),
        };
        Ok(Queue::ALL.map(info).into())
    }
}

impl ListWorkers for JobBackend {
    async fn list_workers(&self) -> Result<Vec<RunningWorker>, QueueError> {
        let queue = self.store().queue().map_or("", Queue::name);
        let workers = store::list_workers(self.store().db()).await?;
        Ok(workers.iter().map(|worker| running(worker, queue)).collect())
    }

    async fn list_all_workers(&self) -> Result<Vec<RunningWorker>, QueueError> {
        let workers = store::list_workers(self.store().db()).await?;
        let of_queue = |queue: Queue| workers.iter().map(move |worker| running(worker, queue.name()));
        Ok(Queue::ALL.into_iter().flat_map(of_queue).collect())
    }
}

impl Metrics for JobBackend {
    async fn global(&self) -> Result<Vec<Statistic>, QueueError> {
        let depths = store::queue_depths(self.store().db()).await?;
        Ok(statistics(depths.iter()))
    }

    async fn fetch_by_queue(&self) -> Result<Vec<Statistic>, QueueError> {
        let depths = store::queue_depths(self.store().db()).await?;
        let name = self.store().queue().map(Queue::name);
        Ok(statistics(depths.iter().filter(|depth| Some(depth.queue.as_str()) == name)))
    }
}

async fn list(
    backend: &JobBackend,
    queue: Option<Queue>,
    filter: &Filter,
) -> Result<Vec<Task<Value>>, QueueError> {
    let state = match &filter.status {
        None => None,
        Some(status) => match state(status) {
            Some(state) => Some(state),
            None => return Ok(Vec::new()),
        },
    };
    let (limit, offset) = (filter.limit().into(), filter.offset().into());
    let jobs = store::list_jobs(backend.store().db(), queue, state, limit, offset).await?;
    Ok(jobs.into_iter().map(task).collect())
}

fn task(job: ListedJob) -> Task<Value> {
    let number = |n: i32| usize::try_from(n).unwrap_or(0);
    TaskBuilder::new(job.parameters)
        .task_id(TaskId::from_uuid(job.id.0))
        .queue(job.queue.as_str().into())
        .status(status(job.state))
        .attempt(number(job.attempt))
        .max_attempts(number(job.max_attempts))
        .priority(number(job.priority.into()))
        .run_at_timestamp(seconds(job.run_at))
        .lock_by(job.worker)
        .lock_at(job.started_at.map(seconds))
        .done_at(job.ended_at.map(seconds))
        .build()
}

const fn status(state: JobState) -> Status {
    match state {
        JobState::Queued => Status::Pending,
        JobState::Running => Status::Running,
        JobState::Succeeded => Status::Done,
        JobState::Failed => Status::Failed,
        JobState::Cancelled => Status::Killed,
    }
}

/// The job state that corresponds to an apalis status. `None` if there is no such state.
const fn state(status: &Status) -> Option<JobState> {
    match status {
        Status::Pending => Some(JobState::Queued),
        Status::Running => Some(JobState::Running),
        Status::Done => Some(JobState::Succeeded),
        Status::Failed => Some(JobState::Failed),
        Status::Killed => Some(JobState::Cancelled),
        _ => None,
    }
}

fn statistics<'a>(depths: impl Iterator<Item = &'a QueueDepth>) -> Vec<Statistic> {
    let mut counts = std::collections::BTreeMap::new();
    for depth in depths {
        *counts.entry(depth.state.name()).or_insert(0) += depth.n_jobs;
    }
    let statistic = |(state, n): (&str, i64)| Statistic {
        title: format!("{state} jobs"),
        stat_type: StatType::Number,
        value: n.to_string(),
        priority: None,
    };
    counts.into_iter().map(statistic).collect()
}

fn running(worker: &WorkerRow, queue: &str) -> RunningWorker {
    RunningWorker {
        id: worker.name.clone(),
        queue: queue.to_owned(),
        backend: "akhar jobs table".to_owned(),
        started_at: seconds(worker.started_at),
        last_heartbeat: seconds(worker.seen_at),
        layers: String::new(),
    }
}

/// Seconds since 1970.
fn seconds(at: DateTime<Utc>) -> u64 {
    at.timestamp().try_into().unwrap_or(0)
}
