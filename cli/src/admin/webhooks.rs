//! Webhooks.

use akhar_api::admin::documents;
use akhar_client::{AdminRedeliveredBody, AdminWebhookBody, AdminWebhooksBody};
use akhar_jobs::store::DeliveryState;
use serde_json::json;
use uuid::Uuid;

use super::{Admin, pages, refused, with_query};
use crate::failure::Failure;

impl Admin {
    /// At most `limit` webhooks, the newest first. `None` as the state means every state.
    pub(crate) async fn webhooks(
        &self,
        state: Option<DeliveryState>,
        limit: usize,
    ) -> Result<Vec<AdminWebhookBody>, Failure> {
        let page = async |before, n| {
            let page = self.webhooks_page(state, before, n).await?;
            Ok((page.webhooks, page.next))
        };
        pages(limit, page).await
    }

    async fn webhooks_page(
        &self,
        state: Option<DeliveryState>,
        before: Option<Uuid>,
        limit: u8,
    ) -> Result<AdminWebhooksBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::webhooks(db, state, before, limit).await?),
            Self::Server { client, base } => {
                let path = with_query(
                    "webhooks",
                    &[
                        ("state", state.map(|state| state.name().to_owned())),
                        ("before", before.map(|id| id.to_string())),
                        ("limit", Some(limit.to_string())),
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
