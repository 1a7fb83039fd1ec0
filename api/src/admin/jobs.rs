//! `/v1/admin/jobs`: finds, counts and shows jobs of all accounts, and retries, cancels and deletes them.

use akhar_jobs::{JobId, Queue};
use akhar_operators::{
    Change, JobSearch,
    changes::{self, JobGroup},
    search::{self, JobLife, JobRow, PageStart, Text},
    with_job_conditions,
};
use akhar_requests::{Bounded, QUICK};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{operator::Operator, values::AtLeast};
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{
        field::{File, field},
        fields::{Fields as _, fields},
        form::Form,
        query,
    },
    jobs::get::JobPath,
    operations::form::Checked,
    page,
    problems::{Code, Problem, ProblemType, Violation, responses::problems},
};

problems! {
    /// The problems of finding and counting jobs.
    JobsProblems at "/v1/admin/jobs", JobsQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotAcceptable, InvalidInput, QuotaExceeded,
    AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of showing a job.
    JobProblems at "/v1/admin/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", JobsQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotFound,
    NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of changing jobs.
    ChangeProblems at "/v1/admin/jobs/change", ChangeForm::violation() => MalformedBody, Unauthorized, OutOfScope, Forbidden, NotAcceptable,
    BodyTimeout, TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// The most jobs that one request changes.
const MAX_CHANGED: usize = 10_000;

/// Fields with the conditions on jobs among them: after the first ones, before the last ones.
macro_rules! fields_with_conditions {
    (
        [$($field:ident: $type:ty, $name:literal, $about:literal, $help:literal, $option:tt;)+]
        $(#[doc = $text:literal])+ $fields:ident { $($first:tt)* } { $($last:tt)* }
    ) => {
        fields! {
            $(#[doc = $text])+
            $fields { $($first)* $(#[doc = $about] $field: $type = field($name),)+ $($last)* }
        }

        impl $fields {
            /// The search with the conditions, which are taken.
            fn search(&mut self) -> JobSearch {
                JobSearch { ids: None, $($field: self.$field.take()),+ }
            }
        }
    };
}

with_job_conditions! { fields_with_conditions
    /// The parameters of the list.
    JobsQuery {} {
        /// Where the page begins: `next` of the former page.
        from: Text = field("from"),
        /// The most jobs in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

with_job_conditions! { fields_with_conditions
    /// The parameters of the counts.
    CountQuery {} {
        /// Only jobs to which this change is possible.
        change: Change = field("change"),
    }
}

with_job_conditions! { fields_with_conditions
    /// What is done to jobs, and to which. At least one condition must be there, or `all`.
    ChangeForm {
        /// `retry` returns jobs that the service failed to process to their queues, `cancel` cancels jobs that have not ended, `purge`
        /// deletes jobs that have ended.
        change: Change = field("change").required().wrong("delete"),
        /// Only these jobs, at most 1,000.
        ids: Vec<JobId> = field("ids"),
    } {
        /// Whether all jobs are meant if there is no condition.
        all: bool = field("all").or("false"),
        /// The most jobs that are changed, the oldest first. One request changes at most 10,000.
        limit: AtLeast<1> = field("limit").or("10000"),
    }
}

/// What is done to jobs.
#[derive(Debug)]
pub(crate) struct Wanted {
    change: Change,
    search: JobSearch,
    limit: usize,
}

impl Form for ChangeForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Wanted;

    fn check(mut self, violations: &mut Vec<Violation>) -> Option<Wanted> {
        let search = JobSearch { ids: self.ids.take(), ..self.search() };
        if search.is_all() && self.all == Some(false) {
            let detail = "there is no condition: add one, such as ids or state, or all if all jobs are meant";
            violations.push(Violation::new("all", Code::Missing, detail));
        }
        Some(Wanted {
            change: self.change?,
            search,
            limit: usize::try_from(self.limit?.0).map_or(MAX_CHANGED, |n| n.min(MAX_CHANGED)),
        })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"change": "retry", "state": "failed", "error": "the disk was full"}))
    }
}

/// A page of jobs.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminJobs)]
pub(crate) struct Jobs {
    /// The jobs. It may have none although there is a next page: a page reads a limited number of jobs.
    jobs: Vec<JobRow>,
    /// The value of `from` for the next page. Present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<String>,
}

/// The numbers of jobs.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminJobCounts)]
pub(crate) struct Counts {
    /// The jobs by account, operation and state, the most numerous first.
    groups: Vec<JobGroup>,
}

/// What a change of jobs did.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminChanged)]
pub(crate) struct Changed {
    /// How many jobs were changed.
    n_changed: usize,
}

/// Responds with a page of jobs.
#[utoipa::path(
    get,
    path = "/v1/admin/jobs",
    operation_id = "admin-list-jobs",
    tag = "admin",
    summary = "Find jobs of all accounts",
    description = "Lists the jobs that match all parameters: those that wait in the order of claims, those that have succeeded or \
        were cancelled in the order of their ends, and others newest first. It never has what a caller sent or got.",
    params(JobsQuery),
    responses((status = 200, description = "The jobs.", body = Jobs), JobsProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let mut fields: JobsQuery = query::parse(&uri)?;
    let limit = page::limit(fields.limit);
    let db = app.database.lists();
    let search = fields.search().resolve(db).await?;
    let from = fields.from.and_then(|from| PageStart::parse(&from.0));
    let page = search::search(db, &search, from, limit.into()).await?;
    Ok(Json(Jobs { jobs: page.jobs, next: page.next.map(PageStart::text) }).into_response())
}

/// Responds with the numbers of jobs.
#[utoipa::path(
    get,
    path = "/v1/admin/jobs/count",
    operation_id = "admin-count-jobs",
    tag = "admin",
    summary = "Count jobs by account, operation and state",
    params(CountQuery),
    responses((status = 200, description = "The numbers.", body = Counts), JobsProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn count(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let mut fields: CountQuery = query::parse(&uri)?;
    let change = fields.change.map(|change| (change, i64::MAX));
    let db = app.database.lists();
    let search = fields.search().resolve(db).await?;
    let groups = changes::count(db, &search, change).await?;
    Ok(Json(Counts { groups }).into_response())
}

/// Responds with a job.
#[utoipa::path(
    get,
    path = "/v1/admin/jobs/{id}",
    operation_id = "admin-get-job",
    tag = "admin",
    summary = "Get a job of any account with its failed attempts",
    params(JobPath),
    responses((status = 200, description = "The job.", body = JobLife), JobProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    JobPath(id): JobPath,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    let life = search::find(&app.database.pool, id).await?;
    Ok(Json(life.ok_or(Problem::of(ProblemType::NotFound))?).into_response())
}

/// Changes jobs.
#[utoipa::path(
    post,
    path = "/v1/admin/jobs/change",
    operation_id = "admin-change-jobs",
    tag = "admin",
    summary = "Retry, cancel or delete jobs of any account",
    description = "Needs the role `operate`. Changes the jobs that match all conditions, as far as that is possible.",
    responses(
        (status = 200, description = "How many were changed.", body = Changed, example = json!({"n_changed": 312})),
        ChangeProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn change(
    State(app): State<App>,
    operator: Operator,
    _accepts: AcceptsJson,
    form: Checked<ChangeForm>,
) -> Result<Response, Problem> {
    let Wanted { change, search, limit } = form.fields;
    let db = &app.database.pool;
    let search = search.resolve(db).await?;
    let n_changed = changes::apply(db, &operator.actor, change, &search, limit).await?;
    Ok(Json(Changed { n_changed }).into_response())
}
