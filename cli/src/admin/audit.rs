//! The audit trail.

use akhar_accounts::{Action, audit::AuditFilter};
use akhar_api::admin::documents;
use akhar_client::{AdminAuditBody, AdminAuditRowBody};

use super::{Admin, PAGE, refused, with_query};
use crate::failure::Failure;

impl Admin {
    /// At most `limit` changes, the newest first.
    pub(crate) async fn audit(
        &self,
        mut filter: AuditFilter,
        limit: usize,
    ) -> Result<Vec<AdminAuditRowBody>, Failure> {
        let mut rows = Vec::new();
        loop {
            let page = self.audit_page(&filter).await?;
            rows.extend(page.rows);
            filter.before = page.next;
            if filter.before.is_none() || rows.len() >= limit {
                rows.truncate(limit);
                return Ok(rows);
            }
        }
    }

    async fn audit_page(&self, filter: &AuditFilter) -> Result<AdminAuditBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::audit(db, filter, PAGE).await?),
            Self::Server { client, base } => {
                let path = with_query(
                    "audit",
                    &[
                        ("action", filter.action.map(|action| Action::name(action).to_owned())),
                        ("actor", filter.actor.clone()),
                        ("before", filter.before.map(|id| id.to_string())),
                        ("limit", Some(PAGE.to_string())),
                    ],
                );
                client.admin(&path).await.map_err(refused(base))
            }
        }
    }
}
