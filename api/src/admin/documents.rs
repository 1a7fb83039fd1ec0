//! The documents that operators get, made from what the statements return. The routes and the commands share them.

use akhar_accounts::{
    Actor, ChangeError, KeyError, KeyInfo, ListedAccount, ListedKey, NewKey,
    audit::{self, AuditFilter, AuditRow},
    keys, list_accounts,
};
use akhar_client::{
    AdminAccountBody, AdminAccountsBody, AdminAttemptBody, AdminAuditBody, AdminAuditRowBody, AdminJobBody,
    AdminJobGroupBody, AdminJobLifeBody, AdminKeyBody, AdminKeysBody, AdminLoadBody, AdminModelBody,
    AdminNewKeyBody, AdminQueueBody, AdminQueueJobsBody, AdminQueueLoadBody, AdminRedeliveredBody,
    AdminWebhookBody, AdminWebhooksBody, AdminWorkerBody,
};
use akhar_jobs::{
    JobId, JobState,
    store::{
        self, AccountJobs, Change, DeliveryState, FailedAttempt, JobGroup, JobSearch, JobSummary,
        ListedDelivery, QueueLoad, ServedModel, WorkerRow,
    },
};
use akhar_platform::database::Pool;
use uuid::Uuid;

use crate::{
    outcomes::document::state as state_body,
    page::{cut, more},
};

/// A page of at most `limit` accounts, the newest first: those that were made before the account `before`.
pub async fn accounts(db: &Pool, before: Option<Uuid>, limit: u8) -> Result<AdminAccountsBody, sqlx::Error> {
    let mut found = list_accounts(db, before, more(limit)).await?;
    let next = cut(&mut found, limit, |account| account.id);
    let ids: Vec<Uuid> = found.iter().map(|account| account.id).collect();
    let jobs = store::jobs_of_accounts(db, &ids).await?;
    let accounts = found.into_iter().map(|found| {
        let jobs = jobs.iter().find(|jobs| jobs.account_id == found.id);
        account(found, jobs)
    });
    Ok(AdminAccountsBody { accounts: accounts.collect(), next })
}

fn account(account: ListedAccount, jobs: Option<&AccountJobs>) -> AdminAccountBody {
    AdminAccountBody {
        id: account.id,
        name: account.name,
        created_at: account.created_at,
        n_keys: account.n_keys,
        rpm: account.quotas.requests_per_minute,
        max_queued: account.quotas.max_queued,
        audio_minutes: account.quotas.audio_minutes_per_day,
        stored_mb: account.quotas.stored_mb,
        retain_s: account.quotas.retention.retain_s,
        max_retain_s: account.quotas.retention.max_retain_s,
        webhook_url: account.webhook_url,
        queued: jobs.map_or(0, |jobs| jobs.n_queued),
        running: jobs.map_or(0, |jobs| jobs.n_running),
    }
}

/// A page of at most `limit` keys, the newest first: those that were created before the key `before`.
pub async fn keys(db: &Pool, before: Option<Uuid>, limit: u8) -> Result<AdminKeysBody, KeyError> {
    let mut found = keys::page(db, before, more(limit)).await?;
    let next = cut(&mut found, limit, |listed| listed.key.id);
    Ok(AdminKeysBody { keys: found.into_iter().map(key).collect(), next })
}

/// All keys, the oldest first.
pub async fn all_keys(db: &Pool) -> Result<Vec<AdminKeyBody>, KeyError> {
    Ok(keys::list(db).await?.into_iter().map(key).collect())
}

fn key(ListedKey { key, quotas, webhook }: ListedKey) -> AdminKeyBody {
    AdminKeyBody {
        id: key.id,
        state: key_state(&key).to_owned(),
        prefix: key.prefix,
        name: key.name,
        account_id: key.account_id,
        role: key.role.map(|role| role.name().to_owned()),
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        expires_at: key.expires_at,
        revoked_at: key.revoked_at,
        is_replaced: key.replaced_by.is_some(),
        rpm: quotas.requests_per_minute,
        max_queued: quotas.max_queued,
        audio_minutes: quotas.audio_minutes_per_day,
        stored_mb: quotas.stored_mb,
        retain_s: quotas.retention.retain_s,
        max_retain_s: quotas.retention.max_retain_s,
        webhook_url: webhook.url,
    }
}

fn key_state(key: &KeyInfo) -> &'static str {
    match key.revoked_at {
        Some(_) => "revoked",
        None if key.works() => "works",
        None => "expired",
    }
}

/// A new key.
pub fn new_key(info: KeyInfo, key: &NewKey) -> AdminNewKeyBody {
    AdminNewKeyBody { key: key.expose().to_owned(), prefix: info.prefix }
}

/// All queues.
pub async fn queues(db: &Pool) -> Result<Vec<AdminQueueBody>, sqlx::Error> {
    let depths = store::queue_depths(db).await?;
    let controls = store::queue_controls(db).await?;
    let queues = controls.into_iter().map(|(queue, control)| {
        let n = |state: JobState| {
            let depth = depths.iter().find(|depth| depth.queue == queue.name() && depth.state == state);
            depth.map_or(0, |depth| depth.n_jobs)
        };
        AdminQueueBody {
            queue: queue.name().to_owned(),
            mode: control.mode.name().to_owned(),
            changed_at: control.changed_at,
            jobs: AdminQueueJobsBody {
                queued: n(JobState::Queued),
                running: n(JobState::Running),
                succeeded: n(JobState::Succeeded),
                failed: n(JobState::Failed),
                cancelled: n(JobState::Cancelled),
            },
        }
    });
    Ok(queues.collect())
}

/// What happens now.
pub async fn load(db: &Pool) -> Result<AdminLoadBody, sqlx::Error> {
    let queues = store::queue_loads(db).await?.into_iter().map(|load| {
        let QueueLoad { queue, mode, n_queued, n_running, oldest_s, ended_per_minute, failed_per_minute } =
            load;
        let mode = mode.name().to_owned();
        AdminQueueLoadBody {
            queue,
            mode,
            queued: n_queued,
            running: n_running,
            oldest_s,
            ended_per_minute,
            failed_per_minute,
        }
    });
    Ok(AdminLoadBody { queues: queues.collect(), workers: workers(db).await? })
}

/// All workers.
pub async fn workers(db: &Pool) -> Result<Vec<AdminWorkerBody>, sqlx::Error> {
    Ok(store::list_workers(db).await?.into_iter().map(worker).collect())
}

fn worker(worker: WorkerRow) -> AdminWorkerBody {
    AdminWorkerBody {
        state: worker.state().name().to_owned(),
        name: worker.name,
        started_at: worker.started_at,
        seen_at: worker.seen_at,
        is_alive: worker.is_alive,
        is_draining: worker.is_draining,
        n_jobs: worker.n_jobs,
    }
}

/// The models that workers serve.
pub async fn models(db: &Pool) -> Result<Vec<AdminModelBody>, sqlx::Error> {
    let workers = store::list_workers(db).await?;
    Ok(store::served_models(&workers).into_iter().map(model).collect())
}

fn model(ServedModel { model, workers, since, is_mixed }: ServedModel) -> AdminModelBody {
    AdminModelBody {
        operation: model.operation,
        language: model.language,
        id: model.id,
        version: model.version,
        workers,
        since,
        is_mixed,
    }
}

/// A page of at most `limit` webhooks, the newest first: those before the webhook `before`.
pub async fn webhooks(
    db: &Pool,
    state: Option<DeliveryState>,
    before: Option<Uuid>,
    limit: u8,
) -> Result<AdminWebhooksBody, sqlx::Error> {
    let mut found = store::list_deliveries(db, state, before, more(limit)).await?;
    let next = cut(&mut found, limit, |delivery| delivery.id);
    Ok(AdminWebhooksBody { webhooks: found.into_iter().map(webhook).collect(), next })
}

/// At most `limit` webhooks, the newest first.
pub async fn newest_webhooks(
    db: &Pool,
    state: Option<DeliveryState>,
    limit: i64,
) -> Result<Vec<AdminWebhookBody>, sqlx::Error> {
    Ok(store::list_deliveries(db, state, None, limit).await?.into_iter().map(webhook).collect())
}

fn webhook(delivery: ListedDelivery) -> AdminWebhookBody {
    AdminWebhookBody {
        id: delivery.id,
        group: delivery.group_name.map(String::from),
        account_id: delivery.account_id,
        url: delivery.url,
        state: delivery.state.name().to_owned(),
        attempts: delivery.attempt,
        created_at: delivery.created_at,
        due_at: (delivery.state == DeliveryState::Pending).then_some(delivery.due_at),
        ended_at: delivery.ended_at,
        last_error: delivery.last_error,
    }
}

/// Sends the webhooks with these ids again.
pub async fn redeliver(db: &Pool, actor: &Actor, ids: &[Uuid]) -> Result<AdminRedeliveredBody, ChangeError> {
    let redelivered = store::redeliver(db, actor, ids).await?;
    let unknown = ids.iter().copied().filter(|id| !redelivered.contains(id)).collect();
    Ok(AdminRedeliveredBody { n_redelivered: redelivered.len(), unknown })
}

/// Sends all webhooks again that were given up.
pub async fn redeliver_dead(db: &Pool, actor: &Actor) -> Result<AdminRedeliveredBody, ChangeError> {
    let n_redelivered = store::redeliver_dead(db, actor).await?;
    Ok(AdminRedeliveredBody { n_redelivered, unknown: Vec::new() })
}

/// A job.
pub fn job(job: JobSummary) -> AdminJobBody {
    AdminJobBody {
        id: job.id.0,
        operation: job.operation,
        queue: job.queue,
        state: state_body(job.state),
        attempt: job.attempt,
        max_attempts: job.max_attempts,
        priority: job.priority,
        account_id: job.account_id,
        account: job.account,
        group: job.group.map(String::from),
        request_id: job.request_id,
        worker: job.worker,
        created_at: job.created_at,
        run_at: job.run_at,
        started_at: job.started_at,
        ended_at: job.ended_at,
        decode_us: job.decode_us,
        infer_us: job.infer_us,
        transcribed_s: job.transcribed_s,
        last_error: job.last_error,
        rejection: job.rejection,
        upload_bytes: job.upload_bytes,
        can_be_retried: job.can_be_retried,
    }
}

/// A job with its failed attempts. `None` if there is no such job.
pub async fn job_life(db: &Pool, id: JobId) -> Result<Option<AdminJobLifeBody>, sqlx::Error> {
    let search = JobSearch { ids: Some(vec![id]), ..JobSearch::default() };
    let Some(found) = store::search(db, &search, None, 1).await?.jobs.pop() else { return Ok(None) };
    let failed_attempts = store::failed_attempts(db, id).await?.into_iter().map(attempt).collect();
    Ok(Some(AdminJobLifeBody { job: job(found), failed_attempts }))
}

fn attempt(failed: FailedAttempt) -> AdminAttemptBody {
    let FailedAttempt { attempt, worker, started_at, ended_at, error } = failed;
    AdminAttemptBody { attempt, worker, started_at, ended_at, error }
}

/// Counts the jobs of a search by account, operation and state; with a change, at most so many of those to which it is possible.
pub async fn count_jobs(
    db: &Pool,
    search: &JobSearch,
    change: Option<(Change, i64)>,
) -> Result<Vec<AdminJobGroupBody>, sqlx::Error> {
    Ok(store::count_jobs(db, search, change).await?.into_iter().map(group).collect())
}

fn group(group: JobGroup) -> AdminJobGroupBody {
    let JobGroup { account, operation, state, n_jobs, oldest_s } = group;
    AdminJobGroupBody { account, operation, state: state_body(state), n_jobs, oldest_s }
}

/// A page of at most `limit` changes, the newest first.
pub async fn audit(db: &Pool, filter: &AuditFilter, limit: u8) -> Result<AdminAuditBody, sqlx::Error> {
    let mut rows = audit::list(db, filter, more(limit)).await?;
    let next = cut(&mut rows, limit, |row| row.id);
    Ok(AdminAuditBody { rows: rows.into_iter().map(audit_row).collect(), next })
}

/// At most `limit` changes, the newest first.
pub async fn changes(
    db: &Pool,
    filter: &AuditFilter,
    limit: i64,
) -> Result<Vec<AdminAuditRowBody>, sqlx::Error> {
    Ok(audit::list(db, filter, limit).await?.into_iter().map(audit_row).collect())
}

fn audit_row(row: AuditRow) -> AdminAuditRowBody {
    let AuditRow { id, at, action, target, n_changed, actor, key_prefix, address } = row;
    AdminAuditRowBody { id, at, action, target, n_changed, actor, key_prefix, address }
}
