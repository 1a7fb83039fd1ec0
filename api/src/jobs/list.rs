//! `GET /v1/jobs`: responds with a list of the caller's jobs, newest first.

use akhar_client::JobsBody;
use akhar_jobs::{
    GroupName, JobId, JobState, Label,
    store::{self, JobFilter},
};
use akhar_platform::database::retry_transient;
use akhar_requests::{Bounded, Operation, QUEUES, Unreadable};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, Utc};

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, representation::Representation},
    input::{
        field::field,
        fields::{Fields as _, fields},
        query,
    },
    outcomes::document,
    page::{self, cut, more},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of listing jobs.
    JobsProblems at "/v1/jobs", JobsQuery::violation() => Unauthorized, OutOfScope, NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    JobsQuery {
        /// Only jobs in this state.
        state: JobState = field("state"),
        /// Only jobs of this operation.
        operation: Operation = field("operation"),
        /// Only jobs that were accepted at this time or later.
        since: DateTime<Utc> = field("since"),
        /// Only jobs that were accepted before this time.
        until: DateTime<Utc> = field("until"),
        /// Only jobs of this group.
        group: GroupName = field("group"),
        /// Only jobs with this label, `key=value`.
        label: Label = field("label"),
        /// Only jobs that were accepted before this job.
        before: JobId = field("before"),
        /// The most jobs in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

/// Responds with the caller's jobs that match all parameters, newest first. `next` in the response is the value of
/// `before` for the next page. A job that is submitted meanwhile does not move jobs to another page.
#[utoipa::path(
    get,
    path = "/v1/jobs",
    operation_id = "list-jobs",
    tag = "jobs",
    summary = "List your jobs, newest first",
    description = "Lists the jobs of the key's account that match all parameters. For the next page, send the same \
        parameters and `before` with the value of `next`. The jobs in the list have no `result`.",
    params(JobsQuery),
    responses(
        (status = 200, description = "The jobs.", body = JobsBody,
            example = json!({"jobs": [{"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "succeeded", "attempt": 1, "created_at": "2026-11-21T09:00:00Z",
                "started_at": "2026-11-21T09:00:00.002Z", "ended_at": "2026-11-21T09:00:00.006Z"}]})),
        JobsProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    context.negotiate(Representation::JSON)?;
    let (filter, limit) = page(&uri)?;
    let list = |_| store::of_account(app.database.lists(), caller.account_id, &QUEUES, &filter, more(limit));
    let _turn = app.turns.take(caller.account_id).await?;
    let mut jobs = retry_transient(list).await?;
    let next = cut(&mut jobs, limit, |job| job.id.0);
    let jobs = jobs
        .into_iter()
        .map(|stored| Ok(document::job_body(akhar_requests::job(stored)?, &context.request.id)));
    let jobs = jobs.collect::<Result<_, Unreadable>>()?;
    Ok(Json(JobsBody { jobs, next }).into_response())
}

/// The filter and the number of jobs of the page. All violations are reported at once.
pub(crate) fn page(uri: &Uri) -> Result<(JobFilter, u8), Problem> {
    let JobsQuery { state, operation, since, until, group, label, before, limit } = query::parse(uri)?;
    let limit = page::limit(limit);
    let operation = operation.map(Operation::name);
    Ok((JobFilter { state, operation, since, until, group, label, before }, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(query: &str) -> Vec<String> {
        let uri = format!("/v1/jobs{query}").parse().unwrap();
        page(&uri).map_or_else(|problem| problem.codes(), |_| Vec::new())
    }

    #[test]
    fn every_parameter_is_parsed() {
        let uri = "/v1/jobs?state=failed&operation=digit-recognition&since=2026-11-21T09:00:00Z\
            &until=2026-11-22T09:00:00%2B05:30&limit=100&group=calls&label=customer%3D42&before=019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";
        let (filter, limit) = page(&uri.parse().unwrap()).unwrap();
        assert_eq!((filter.state, filter.operation), (Some(JobState::Failed), Some("digit-recognition")));
        assert_eq!(filter.until.unwrap() - filter.since.unwrap(), chrono::TimeDelta::minutes(24 * 60 - 330));
        assert!(filter.before.is_some());
        assert_eq!((filter.group, filter.label), (GroupName::parse("calls"), Label::parse("customer=42")));
        assert_eq!(limit, 100);
    }

    #[test]
    fn all_violations_are_reported_at_once() {
        assert_eq!(codes(""), [""; 0]);
        assert_eq!(
            codes(
                "?state=done&operation=x&since=today&until=2026-11-21&group=a/b&label=x&before=1&limit=0&page=2"
            ),
            [
                "unknown",
                "not_a_choice",
                "not_a_choice",
                "not_a_time",
                "not_a_time",
                "character_not_allowed",
                "character_not_allowed",
                "not_a_job",
                "out_of_range"
            ]
        );
    }
}
