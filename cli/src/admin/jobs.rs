//! Jobs of all accounts.

use std::time::Duration;

use akhar_accounts::keys;
use akhar_api::admin::documents;
use akhar_client::{
    AdminChangedBody, AdminJobBody, AdminJobCountsBody, AdminJobGroupBody, AdminJobLifeBody, AdminJobsBody,
};
use akhar_jobs::{
    GroupName, JobId, JobState, Operation, Queue,
    store::{self, Change, JobSearch, PageStart},
};
use akhar_platform::database::Pool;
use serde_json::{Map, Value};

use super::{Admin, pages, refused, with_query};
use crate::failure::Failure;

/// The most jobs that one request changes.
const MOST_CHANGED: usize = 10_000;

/// The most jobs that one request names.
const MOST_NAMED: usize = 1000;

/// Which jobs are meant. `None` means any.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobFilter {
    pub(crate) state: Option<JobState>,
    pub(crate) queue: Option<Queue>,
    pub(crate) operation: Option<Operation>,
    pub(crate) account: Option<String>,
    pub(crate) group: Option<GroupName>,
    pub(crate) request_id: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) older_than: Option<Duration>,
    pub(crate) ended_before: Option<Duration>,
}

impl JobFilter {
    async fn resolve(&self, db: &Pool) -> Result<JobSearch, Failure> {
        let Self { state, queue, operation, account, group, request_id, error, older_than, ended_before } =
            self.clone();
        let account_id = match account {
            Some(account) => Some(keys::find_account(db, &account).await?),
            None => None,
        };
        let ids = None;
        Ok(JobSearch {
            ids,
            state,
            queue,
            operation,
            account_id,
            group,
            request_id,
            error,
            older_than,
            ended_before,
        })
    }

    /// The parameters of a request.
    fn parameters(&self) -> Vec<(&'static str, Option<String>)> {
        let seconds = |age: Option<Duration>| age.map(|age| age.as_secs().to_string());
        vec![
            ("state", self.state.map(|state| state.name().to_owned())),
            ("queue", self.queue.map(|queue| queue.name().to_owned())),
            ("operation", self.operation.map(|operation| operation.name().to_owned())),
            ("account", self.account.clone()),
            ("group", self.group.clone().map(String::from)),
            ("request-id", self.request_id.clone()),
            ("error", self.error.clone()),
            ("older-than-s", seconds(self.older_than)),
            ("ended-before-s", seconds(self.ended_before)),
        ]
    }

    /// The fields of a body. Ages are numbers there.
    fn fields(&self) -> Map<String, Value> {
        let given = self.parameters().into_iter().filter_map(|(name, value)| Some((name, value?)));
        let typed = given.map(|(name, value)| {
            let number: Option<u64> = value.parse().ok().filter(|_| name.ends_with("-s"));
            (name.to_owned(), number.map_or_else(|| value.into(), Value::from))
        });
        typed.collect()
    }
}

impl Admin {
    /// At most `limit` jobs.
    pub(crate) async fn jobs(&self, filter: &JobFilter, limit: u16) -> Result<Vec<AdminJobBody>, Failure> {
        let page = async |from, n| {
            let page = self.jobs_page(filter, from, n).await?;
            Ok((page.jobs, page.next))
        };
        pages(limit.into(), page).await
    }

    async fn jobs_page(
        &self,
        filter: &JobFilter,
        from: Option<String>,
        limit: u8,
    ) -> Result<AdminJobsBody, Failure> {
        match self {
            Self::Database { db, .. } => {
                let search = filter.resolve(db).await?;
                let from = from.and_then(|from| PageStart::parse(&from));
                let page = store::search(db, &search, from, limit.into()).await?;
                let jobs = page.jobs.into_iter().map(documents::job).collect();
                Ok(AdminJobsBody { jobs, next: page.next.map(PageStart::text) })
            }
            Self::Server { client, base } => {
                let mut parameters = filter.parameters();
                parameters.extend([("from", from), ("limit", Some(limit.to_string()))]);
                client.admin(&with_query("jobs", &parameters)).await.map_err(refused(base))
            }
        }
    }

    /// A job with its failed attempts. `None` if there is no such job.
    pub(crate) async fn job(&self, id: JobId) -> Result<Option<AdminJobLifeBody>, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::job_life(db, id).await?),
            Self::Server { client, base } => match client.admin(&format!("jobs/{id}")).await {
                Err(error) if error.status() == Some(404) => Ok(None),
                job => job.map(Some).map_err(refused(base)),
            },
        }
    }

    /// Counts jobs by account, operation and state; with a change, those to which it is possible.
    pub(crate) async fn count_jobs(
        &self,
        filter: &JobFilter,
        ids: Option<&[JobId]>,
        change: Option<Change>,
    ) -> Result<Vec<AdminJobGroupBody>, Failure> {
        match self {
            Self::Database { db, .. } => {
                let search = JobSearch { ids: ids.map(<[JobId]>::to_vec), ..filter.resolve(db).await? };
                let groups = store::count_jobs(db, &search, change.map(|change| (change, i64::MAX))).await?;
                Ok(groups.into_iter().map(documents::group).collect())
            }
            Self::Server { .. } if ids.is_some() => Err(Failure::Command(
                "--dry-run of named jobs needs the database: leave --url out".to_owned(),
            )),
            Self::Server { client, base } => {
                let mut parameters = filter.parameters();
                parameters.push(("change", change.map(|change| change.name().to_owned())));
                let path = with_query("jobs/count", &parameters);
                let body: AdminJobCountsBody = client.admin(&path).await.map_err(refused(base))?;
                Ok(body.groups)
            }
        }
    }

    /// Changes at most `limit` jobs, and returns their number.
    pub(crate) async fn change_jobs(
        &self,
        change: Change,
        filter: &JobFilter,
        ids: Option<&[JobId]>,
        limit: usize,
    ) -> Result<usize, Failure> {
        if let Self::Database { db, actor, .. } = self {
            let search = JobSearch { ids: ids.map(<[JobId]>::to_vec), ..filter.resolve(db).await? };
            return Ok(store::change_jobs(db, actor, change, &search, limit).await?);
        }
        let mut fields = filter.fields();
        fields.insert("change".to_owned(), change.name().into());
        let Some(ids) = ids else {
            fields.insert("all".to_owned(), true.into());
            return self.change_found(fields, limit).await;
        };
        let mut n_changed = 0;
        for some in ids.chunks(MOST_NAMED) {
            let some: Value = some.iter().map(JobId::to_string).collect();
            fields.insert("ids".to_owned(), some);
            n_changed += self.change_found(fields.clone(), MOST_NAMED).await?;
        }
        Ok(n_changed)
    }

    /// Changes at most `limit` of the jobs that the fields select, with as many requests as are needed.
    async fn change_found(&self, mut fields: Map<String, Value>, limit: usize) -> Result<usize, Failure> {
        let Self::Server { client, base } = self else { return Ok(0) };
        let mut n_changed = 0;
        while n_changed < limit {
            let wanted = (limit - n_changed).min(MOST_CHANGED);
            fields.insert("limit".to_owned(), wanted.into());
            let body: AdminChangedBody =
                client.admin_change("jobs/change", &fields).await.map_err(refused(base))?;
            n_changed += body.n_changed;
            if body.n_changed < wanted {
                break;
            }
        }
        Ok(n_changed)
    }
}
