//! Which workers serve each model, by what their heartbeats say.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{LoadedModel, WorkerRow};

/// A model that serves an operation and language, and the workers that have loaded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedModel {
    /// The model, and what it serves.
    pub model: LoadedModel,
    /// The names of the workers, in order.
    pub workers: Vec<String>,
    /// When the first of them loaded it.
    pub since: DateTime<Utc>,
    /// Whether other workers serve the same operation and language with another model, or with another version of this one.
    pub is_mixed: bool,
}

/// The models that these workers serve, in the order of operations and languages. A worker that is silent serves none.
pub fn served_models(workers: &[WorkerRow]) -> Vec<ServedModel> {
    let mut by_model: BTreeMap<&LoadedModel, Vec<&WorkerRow>> = BTreeMap::new();
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
            model: (*model).clone(),
            workers: names,
            since: workers.iter().map(|worker| worker.models_since).min()?,
            is_mixed: others.count() > 1,
        })
    });
    served.collect()
}

#[cfg(test)]
mod tests {
    use sqlx::types::Json;

    use super::*;

    #[test]
    fn a_model_is_mixed_if_living_workers_serve_its_operation_and_language_in_two_versions() {
        let model = |language: Option<&str>, version: &str| LoadedModel {
            operation: "speech-recognition".to_owned(),
            language: language.map(str::to_owned),
            id: "speech".to_owned(),
            version: version.to_owned(),
        };
        let worker = |name: &str, is_alive, since_s, models: &[LoadedModel]| WorkerRow {
            name: name.to_owned(),
            started_at: DateTime::UNIX_EPOCH,
            seen_at: DateTime::UNIX_EPOCH,
            is_alive,
            is_draining: false,
            n_jobs: 0,
            models: Json(models.to_vec()),
            models_since: DateTime::from_timestamp(since_s, 0).expect("a time"),
        };
        let (old, new) = (model(Some("pa"), "1"), model(Some("pa"), "2"));
        let english = model(Some("en"), "1");
        let all = [
            worker("b", true, 7, &[old.clone(), english.clone()]),
            worker("a", true, 5, &[new.clone(), english.clone()]),
            worker("dead", false, 1, &[old.clone(), model(Some("en"), "0")]),
        ];
        let served = |model, workers: &[&str], since_s, is_mixed| ServedModel {
            model,
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
