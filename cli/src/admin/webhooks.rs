//! Webhooks.

use akhar_api::admin::documents;
use akhar_client::{AdminRedeliveredBody, AdminWebhookBody, AdminWebhooksBody};
use akhar_jobs::store::DeliveryState;
use serde_json::json;
use uuid::Uuid;

use super::{Admin, PAGE, refused, with_query};
use crate::failure::Failure;

impl Admin {
    /// At most `limit` webhooks, the newest first. `None` as the state means every state.
    pub(crate) async fn webhooks(
        &self,
        state: Option<DeliveryState>,
        limit: usize,
    ) -> Result<Vec<AdminWebhookBody>, Failure> {
        let mut webhooks = Vec::new();
        let mut before = None;
        loop {
            let page = self.webhooks_page(state, before).await?;
            webhooks.extend(page.webhooks);
            before = page.next;
            if before.is_none() || webhooks.len() >= limit {
                webhooks.truncate(limit);
                return Ok(webhooks);
            }
        }
    }

    async fn webhooks_page(
        &self,
        state: Option<DeliveryState>,
        before: Option<Uuid>,
    ) -> Result<AdminWebhooksBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::webhooks(db, state, before, PAGE).await?),
            Self::Server { client, base } => {
                let path = with_query(
                    "webhooks",
                    &[
                        ("state", state.map(|state| state.name().to_owned())),
                        ("before", before.map(|id| id.to_string())),
                        ("limit", Some(PAGE.to_string())),
                    ],
                );
                client.admin(&path).await.map_err(refused(base))
            }
        }
    }

    /// Sends webhooks again: those with the ids, or without any all that were given up.
    pub(crate) async fn redeliver(&self, ids: &[Uuid]) -> Result<AdminRedeliveredBody, Failure> {
        match self {
            Self::Database { db, actor, .. } if ids.is_empty() => {
                Ok(documents::redeliver_dead(db, actor).await?)
            }
            Self::Database { db, actor, .. } => Ok(documents::redeliver(db, actor, ids).await?),
            Self::Server { client, base } => {
                let body = if ids.is_empty() { json!({"all-dead": true}) } else { json!({"ids": ids}) };
                client.admin_change("webhooks/redeliver", &body).await.map_err(refused(base))
            }
        }
    }
}
