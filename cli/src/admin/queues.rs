//! Queues, workers and their models.

use akhar_api::admin::documents;
use akhar_client::{
    AdminLoadBody, AdminModelBody, AdminModelsBody, AdminQueueBody, AdminQueuesBody, AdminWorkerBody,
    AdminWorkersBody,
};
use akhar_jobs::{
    Queue,
    store::{self, QueueMode},
};
use serde_json::json;

use super::{Admin, refused, segment};
use crate::failure::Failure;

impl Admin {
    /// All queues.
    pub(crate) async fn queues(&self) -> Result<Vec<AdminQueueBody>, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::queues(db).await?),
            Self::Server { client, base } => {
                let body: AdminQueuesBody = client.admin("queues").await.map_err(refused(base))?;
                Ok(body.queues)
            }
        }
    }

    /// What happens now.
    pub(crate) async fn load(&self) -> Result<AdminLoadBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::load(db).await?),
            Self::Server { client, base } => client.admin("load").await.map_err(refused(base)),
        }
    }

    /// Sets the mode of a queue.
    pub(crate) async fn set_queue(&self, queue: Queue, mode: QueueMode) -> Result<(), Failure> {
        match self {
            Self::Database { db, actor, .. } => Ok(store::set_queue_mode(db, actor, queue, mode).await?),
            Self::Server { client, base } => {
                let path = format!("queues/{}", queue.name());
                client.admin_set(&path, &json!({"mode": mode.name()})).await.map_err(refused(base))
            }
        }
    }

    /// All workers.
    pub(crate) async fn workers(&self) -> Result<Vec<AdminWorkerBody>, Failure> {
        match self {
            Self::Database { db, .. } => {
                Ok(store::list_workers(db).await?.into_iter().map(documents::worker).collect())
            }
            Self::Server { client, base } => {
                let body: AdminWorkersBody = client.admin("workers").await.map_err(refused(base))?;
                Ok(body.workers)
            }
        }
    }

    /// The models that workers serve.
    pub(crate) async fn models(&self) -> Result<Vec<AdminModelBody>, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::models(db).await?),
            Self::Server { client, base } => {
                let body: AdminModelsBody = client.admin("models").await.map_err(refused(base))?;
                Ok(body.models)
            }
        }
    }

    /// Makes a worker claim no more jobs, or claim jobs again. `false` if there is no such worker.
    pub(crate) async fn drain_worker(&self, name: &str, drain: bool) -> Result<bool, Failure> {
        match self {
            Self::Database { db, actor, .. } => Ok(store::drain_worker(db, actor, name, drain).await?),
            Self::Server { client, base } => {
                let path = format!("workers/{}", segment(name));
                match client.admin_set(&path, &json!({"drain": drain})).await {
                    Err(error) if error.status() == Some(404) => Ok(false),
                    set => set.map(|()| true).map_err(refused(base)),
                }
            }
        }
    }
}
