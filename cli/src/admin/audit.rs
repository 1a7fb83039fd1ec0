//! The audit trail.

use akhar_accounts::{Action, audit::AuditFilter};
use akhar_api::admin::documents;
use akhar_client::{AdminAuditBody, AdminAuditRowBody};

use super::{Admin, pages, refused, with_query};
use crate::failure::Failure;

impl Admin {
    /// At most `limit` changes, the newest first.
    pub(crate) async fn audit(
        &self,
        filter: AuditFilter,
        limit: usize,
    ) -> Result<Vec<AdminAuditRowBody>, Failure> {
        let page = async |before, n| {
            let page = self.audit_page(&AuditFilter { before, ..filter.clone() }, n).await?;
            Ok((page.rows, page.next))
        };
        pages(limit, page).await
    }

    async fn audit_page(&self, filter: &AuditFilter, limit: u8) -> Result<AdminAuditBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::audit(db, filter, limit).await?),
            Self::Server { client, base } => {
                let path = with_query(
                    "audit",
                    &[
                        ("action", filter.action.map(|action| Action::name(action).to_owned())),
                        ("actor", filter.actor.clone()),
                        ("before", filter.before.map(|id| id.to_string())),
                        ("limit", Some(limit.to_string())),
                    ],
                );
                client.admin(&path).await.map_err(refused(base))
            }
        }
    }
}
