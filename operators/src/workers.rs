//! The workers, and the models that they serve.

use std::collections::BTreeMap;

use akhar_jobs::store::{DEAD_AFTER, LoadedModel};
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::types::Json;
use utoipa::ToSchema;

use crate::audit::{Action, Actor, ChangeError};

/// A worker process.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminWorker)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// `works`, `draining`, `drained` or `silent`.
    #[schema(value_type = String)]
    pub state: WorkerState,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// The time of its last heartbeat.
    pub seen_at: DateTime<Utc>,
    /// Whether its heartbeats come.
    pub is_alive: bool,
    /// Whether an operator decided that it claims no more jobs.
    pub is_draining: bool,
    /// The number of jobs that it runs.
    pub n_jobs: i64,
    /// The models that it has loaded. None if it is of a version that does not say so.
    #[serde(skip)]
    pub models: Json<Vec<LoadedModel>>,
    /// When it loaded them.
    #[serde(skip)]
    pub models_since: DateTime<Utc>,
    /// The version of the program. `None` if it is one that does not say so.
    #[serde(skip)]
    pub program: Option<String>,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum WorkerState {
    /// It claims jobs.
    Works,
    /// It claims no more jobs, and has some.
    Draining,
    /// It claims no more jobs, and has none.
    Drained,
    /// Its heartbeats have stopped.
    Silent,
}

impl WorkerState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Works, Self::Draining, Self::Drained, Self::Silent];

    /// The name in the output of commands and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Draining => "draining",
            Self::Drained => "drained",
            Self::Silent => "silent",
        }
    }
}

/// All workers. The one with the latest heartbeat comes first.
pub async fn list(db: &Pool) -> Result<Vec<Worker>, sqlx::Error> {
    sqlx::query_as(
        "select *, case when not is_alive then 'silent' when not is_draining then 'works' when n_jobs > 0 then 'draining'
             else 'drained' end as state
         from (
             select name, started_at, seen_at, seen_at > now() - make_interval(secs => $1) as is_alive, is_draining,
                 coalesce(r.n_jobs, 0) as n_jobs, models, models_since, program
             from workers w
             left join (select worker, count(*) as n_jobs from running_jobs() group by worker) r on r.worker = w.name) as found
         order by seen_at desc, name",
    )
    .bind(DEAD_AFTER.as_secs_f64())
    .fetch_all(db)
    .await
}

/// Makes a worker stop to claim jobs, or start again. The worker follows within about a second, and finishes the jobs
/// that it has. Returns `false` if there is no such worker.
pub async fn drain(db: &Pool, actor: &Actor, worker: &str, drain: bool) -> Result<bool, ChangeError> {
    let entry = actor.begin(if drain { Action::WorkerDrain } else { Action::WorkerResume })?;
    let worker = worker.to_owned();
    db.transaction(move |transaction| {
        Box::pin(async move {
            let was_draining: Option<bool> = sqlx::query_scalar(
                "with old as (select name, is_draining from workers where name = $1 for update)
                 update workers w set is_draining = $2 from old where w.name = old.name returning old.is_draining",
            )
            .bind(&worker)
            .bind(drain)
            .fetch_optional(&mut *transaction)
            .await?;
            let is_changed = was_draining.is_some_and(|was| was != drain);
            entry.record(transaction, &worker, usize::from(is_changed)).await?;
            Ok(was_draining.is_some())
        })
    })
    .await
}

/// A model that workers serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AdminModel)]
pub struct ServedModel {
    /// The operation in its manifest.
    pub operation: String,
    /// The language for which it is chosen. `null` if the operation has one model for all.
    pub language: Option<String>,
    /// Its id.
    pub id: String,
    /// Its version: the start of the SHA-256 of the hashes of its files.
    pub version: String,
    /// The names of the workers that serve it.
    pub workers: Vec<String>,
    /// When the first of them loaded it.
    pub since: DateTime<Utc>,
    /// Whether other workers serve the same operation and language with another model or version.
    pub is_mixed: bool,
}

/// The models that workers serve.
pub async fn models(db: &Pool) -> Result<Vec<ServedModel>, sqlx::Error> {
    Ok(served_models(&list(db).await?))
}

/// The models that these workers serve, in the order of operations and languages. A worker that is silent serves none.
pub fn served_models(workers: &[Worker]) -> Vec<ServedModel> {
    let mut by_model: BTreeMap<&LoadedModel, Vec<&Worker>> = BTreeMap::new();
    for worker in workers.iter().filter(|worker| worker.is_alive) {
        for model in &worker.models.0 {
            by_model.entry(model).or_default().push(worker);
        }
    }
    let served = by_model.iter().filter_map(|(model, workers)| {
        let others = by_model
            .keys()
            .filter(|other| other.operation == model.operation && other.language == model.language);
        let mut names: Vec<String> = workers.iter().map(|worker| worker.name.clone()).collect();
        names.sort_unstable();
        Some(ServedModel {
            operation: model.operation.clone(),
            language: model.language.clone(),
            id: model.id.clone(),
            version: model.version.clone(),
            workers: names,
            since: workers.iter().map(|worker| worker.models_since).min()?,
            is_mixed: others.count() > 1,
        })
    });
    served.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_mixed_if_living_workers_serve_its_operation_and_language_in_two_versions() {
        let model = |language: Option<&str>, version: &str| LoadedModel {
            operation: "speech-recognition".to_owned(),
            language: language.map(str::to_owned),
            id: "speech".to_owned(),
            version: version.to_owned(),
        };
        let worker = |name: &str, is_alive, since_s, models: &[LoadedModel]| Worker {
            state: if is_alive { WorkerState::Works } else { WorkerState::Silent },
            name: name.to_owned(),
            started_at: DateTime::UNIX_EPOCH,
            seen_at: DateTime::UNIX_EPOCH,
            is_alive,
            is_draining: false,
            n_jobs: 0,
            models: Json(models.to_vec()),
            models_since: DateTime::from_timestamp(since_s, 0).expect("a time"),
            program: None,
        };
        let (old, new) = (model(Some("pa"), "1"), model(Some("pa"), "2"));
        let english = model(Some("en"), "1");
        let all = [
            worker("b", true, 7, &[old.clone(), english.clone()]),
            worker("a", true, 5, &[new.clone(), english.clone()]),
            worker("dead", false, 1, &[old.clone(), model(Some("en"), "0")]),
        ];
        let served = |model: LoadedModel, workers: &[&str], since_s, is_mixed| ServedModel {
            operation: model.operation,
            language: model.language,
            id: model.id,
            version: model.version,
            workers: workers.iter().map(|name| (*name).to_owned()).collect(),
            since: DateTime::from_timestamp(since_s, 0).expect("a time"),
            is_mixed,
        };
        assert_eq!(
            served_models(&all),
            [
                served(english, &["a", "b"], 5, false),
                served(old.clone(), &["b"], 7, true),
                served(new, &["a"], 5, true)
            ]
        );
        assert_eq!(served_models(&all[..1])[1], served(old, &["b"], 7, false));
        assert_eq!(served_models(&all[2..]), []);
    }
}
