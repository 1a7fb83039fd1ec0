//! The webhooks of all accounts: lists them, and sends them again.

use akhar_jobs::JobId;
use akhar_platform::database::Pool;
use akhar_webhooks::store::DeliveryState;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{Postgres, QueryBuilder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    audit::{Action, Actor, ChangeError},
    search::JobSearch,
};

/// The most rows that one page reads. Then it ends, even if it has found none, and the next one goes on.
const MAX_READ: i64 = 10_000;

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
    /// The name of the account.
    pub account: Option<String>,
    /// Where it is sent, without the query, which may have a secret: `?…` stands for it.
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

/// Which webhooks are meant. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct WebhookFilter {
    /// Only those in this state.
    pub state: Option<DeliveryState>,
    /// Only those of this account.
    pub account: Option<Uuid>,
    /// Only those whose URL, without its query, contains this text, in large or small letters.
    pub url: Option<String>,
    /// Only those with ids before this one.
    pub before: Option<Uuid>,
}

/// Webhooks, those of the newest ends first.
#[derive(Debug)]
pub struct WebhookPage {
    /// The webhooks.
    pub webhooks: Vec<Webhook>,
    /// Before which one the next page begins. `None` if this is the last one. A page reads 10,000 rows at most, and ends even if it
    /// has found none.
    pub next: Option<Uuid>,
}

/// At most `limit` webhooks.
pub async fn page(db: &Pool, filter: &WebhookFilter, limit: u16) -> Result<WebhookPage, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new("with read as materialized (");
    push_read(&mut query, filter);
    query.push(
        ") select d.id, d.group_name as \"group\", d.account_id, a.name as account, d.receiver || d.query as url, d.state,
             d.attempt as attempts, d.created_at, case when d.state = 'pending' then d.due_at end as due_at, d.ended_at, d.last_error
         from read d left join accounts a on a.id = d.account_id where true",
    );
    if let Some(state) = filter.state {
        query.push(" and d.state = ").push_bind(state.name());
    }
    if let Some(account) = filter.account {
        query.push(" and d.account_id = ").push_bind(account);
    }
    if let Some(url) = &filter.url {
        query.push(" and position(lower(").push_bind(url).push(") in lower(d.receiver)) > 0");
    }
    // One row more than the page has tells whether there is a next page.
    query.push(" order by d.id desc limit ").push_bind(i64::from(limit) + 1);
    let mut webhooks: Vec<Webhook> = query.build_query_as().fetch_all(db).await?;
    let next = if webhooks.len() > usize::from(limit) {
        webhooks.truncate(limit.into());
        webhooks.last().map(|webhook| webhook.id)
    } else {
        let mut query = QueryBuilder::<Postgres>::new("with read as materialized (");
        push_read(&mut query, filter);
        query.push(") select id from read order by id desc offset ").push_bind(MAX_READ - 1);
        query.build_query_scalar().fetch_optional(db).await?
    };
    Ok(WebhookPage { webhooks, next })
}

/// The statement that reads the rows of a page. Those that were given up have an index.
fn push_read(query: &mut QueryBuilder<Postgres>, filter: &WebhookFilter) {
    query.push(
        "select *, split_part(url, '?', 1) as receiver, case when position('?' in url) > 0 then '?…' else '' end as query
         from webhook_deliveries where true",
    );
    if filter.state == Some(DeliveryState::Dead) {
        query.push(" and state = 'dead'");
    }
    if let Some(before) = filter.before {
        query.push(" and id < ").push_bind(before);
    }
    query.push(" order by id desc limit ").push_bind(MAX_READ);
}

/// A receiver that webhooks do not reach.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct FailingHost {
    /// Host and port of the URLs.
    pub host: String,
    /// The number of webhooks that have failed and are sent again later.
    pub n_repeated: i64,
    /// The number of those that were given up in the last day.
    pub n_dead: i64,
    /// Why an attempt failed.
    pub last_error: String,
}

/// The receivers that webhooks do not reach, those of the most webhooks first.
pub async fn failing(db: &Pool) -> Result<Vec<FailingHost>, sqlx::Error> {
    sqlx::query_as(
        "select host, count(*) filter (where state = 'pending') as n_repeated, count(*) filter (where state = 'dead') as n_dead,
             max(last_error) as last_error
         from webhook_deliveries
         where last_error is not null
             and (state = 'pending' and attempt > 0 or state = 'dead' and ended_at > now() - interval '1 day')
         group by host order by count(*) desc, host",
    )
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
