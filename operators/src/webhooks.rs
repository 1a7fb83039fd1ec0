//! The webhooks of all accounts: lists them, and sends them again.

use akhar_jobs::JobId;
use akhar_platform::database::Pool;
use akhar_webhooks::store::DeliveryState;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    audit::{Action, Actor, ChangeError},
    search::JobSearch,
};

/// The most dead webhooks that one statement makes pending again.
const REDELIVERED_AT_ONCE: i64 = 1000;

/// A webhook that announces the end of a job or a group.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminWebhook)]
pub struct Webhook {
    /// The id of the webhook, which is that of the job, or of the end of the group.
    pub id: Uuid,
    /// The group that has ended. `null` if a job has.
    pub group: Option<String>,
    /// The account that owns the job or the group.
    pub account_id: Uuid,
    /// Where it is sent.
    pub url: String,
    /// `pending`, `delivered` or `dead`.
    #[schema(value_type = String)]
    pub state: DeliveryState,
    /// The number of attempts so far.
    pub attempts: i32,
    /// When the job or the group ended.
    pub created_at: DateTime<Utc>,
    /// When the next attempt is due.
    pub due_at: Option<DateTime<Utc>>,
    /// When it was delivered or given up.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// At most `limit` webhooks with ids before `before`, those of the newest ends first. `None` as the state means every state.
pub async fn page(
    db: &Pool,
    state: Option<DeliveryState>,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Webhook>, sqlx::Error> {
    sqlx::query_as(
        "select id, group_name as \"group\", account_id, url, state, attempt as attempts, created_at,
             case when state = 'pending' then due_at end as due_at, ended_at, last_error
         from webhook_deliveries where ($1 is null or state = $1) and ($2 is null or id < $2)
         order by id desc limit $3",
    )
    .bind(state.map(DeliveryState::name))
    .bind(before)
    .bind(limit)
    .fetch_all(db)
    .await
}

/// The webhooks that are sent again.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = AdminRedelivered)]
pub struct Redelivered {
    /// Their number.
    pub n_redelivered: usize,
    /// The ids in the request that no webhook has.
    pub unknown: Vec<Uuid>,
}

/// Sends the webhooks with these ids again, now and with all attempts before them.
pub async fn redeliver(db: &Pool, actor: &Actor, ids: &[Uuid]) -> Result<Redelivered, ChangeError> {
    let entry = actor.begin(Action::WebhooksRedeliver)?;
    let meant = ids.to_vec();
    let redelivered = db.transaction(move |transaction| {
        Box::pin(async move {
            // The ends of groups before those of jobs, as the end of a job changes them.
            let redelivered: Vec<Uuid> = sqlx::query_scalar(
                "update webhook_deliveries set state = 'pending', attempt = 0, due_at = now(), ended_at = null
                 where id in (
                     select id from webhook_deliveries where id = any($1)
                     order by job_id nulls first, account_id, group_name for update)
                 returning id",
            )
            .bind(meant)
            .fetch_all(&mut *transaction)
            .await?;
            let of_these = Some(redelivered.iter().copied().map(JobId).collect());
            let search = JobSearch { ids: of_these, ..JobSearch::default() };
            entry.record(transaction, &search.to_string(), redelivered.len()).await?;
            Ok::<_, sqlx::Error>(redelivered)
        })
    });
    let redelivered = redelivered.await?;
    let unknown = ids.iter().copied().filter(|id| !redelivered.contains(id)).collect();
    Ok(Redelivered { n_redelivered: redelivered.len(), unknown })
}

/// Sends all dead webhooks again, but not those that die meanwhile. Those that another statement has locked are skipped: they are
/// being deleted or redelivered.
pub async fn redeliver_dead(db: &Pool, actor: &Actor) -> Result<Redelivered, ChangeError> {
    let entry = actor.begin(Action::WebhooksRedeliver)?;
    let began: DateTime<Utc> = sqlx::query_scalar("select now()").fetch_one(db).await?;
    let mut n = 0;
    loop {
        let entry = entry.clone();
        let redelivered = db.transaction(move |transaction| {
            Box::pin(async move {
                let redelivered = sqlx::query(
                    "update webhook_deliveries set state = 'pending', attempt = 0, due_at = now(), ended_at = null
                     where id in (
                         select id from webhook_deliveries where state = 'dead' and ended_at <= $1
                         limit $2 for update skip locked)
                     returning id",
                )
                .bind(began)
                .bind(REDELIVERED_AT_ONCE)
                .fetch_all(&mut *transaction)
                .await?
                .len();
                entry.record(transaction, "all that were given up", redelivered).await?;
                Ok::<_, sqlx::Error>(redelivered)
            })
        });
        let redelivered = redelivered.await?;
        if redelivered == 0 {
            return Ok(Redelivered { n_redelivered: n, unknown: Vec::new() });
        }
        n += redelivered;
    }
}
