//! `GET /v1/jobs`: responds with a list of the caller's jobs, newest first.

use akhar_client::JobsBody;
use akhar_jobs::{
    JobId, JobState, Operation,
    store::{self, JobFilter},
};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, Utc};
use utoipa::ToSchema;
use uuid::Uuid;

use super::documentation::LIST_EXAMPLES;
use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, representation::Representation},
    input::{choice, fields::quoted, query, whole_number},
    outcomes::document,
    problems::{Code, Problem, Violation, responses::problems},
    retry::retry_transient,
};

problems! {
    /// The problems of listing jobs.
    JobsProblems at "/v1/jobs", LIST_EXAMPLES: Unauthorized, NotAcceptable, InvalidInput, QuotaExceeded, Internal, Busy, Draining, Unavailable,
}

const STATE: &str = "state";
const OPERATION: &str = "operation";
const SINCE: &str = "since";
const UNTIL: &str = "until";
const LIMIT: &str = "limit";
const BEFORE: &str = "before";
const PARAMETERS: [&str; 6] = [STATE, OPERATION, SINCE, UNTIL, LIMIT, BEFORE];
/// The states in the order of a job's life.
const STATES: [JobState; 5] =
    [JobState::Queued, JobState::Running, JobState::Succeeded, JobState::Failed, JobState::Cancelled];
/// The number of jobs in a response if the caller sets no limit.
const DEFAULT_LIMIT: u8 = 20;
/// The largest limit.
const MAX_LIMIT: u8 = 100;

/// An operation's name.
#[derive(ToSchema)]
#[schema(as = Operation, rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes akhar_jobs::Operation to the OpenAPI document")]
pub(crate) enum OperationSchema {
    /// Recognition of a letter.
    AlphabetRecognition,
    /// Recognition of a digit.
    DigitRecognition,
    /// Generation of handwriting.
    HandwritingGenerator,
    /// Recognition of speech.
    SpeechRecognition,
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
    params(
        ("state" = Option<akhar_client::JobState>, Query, description = "Only jobs in this state."),
        ("operation" = Option<OperationSchema>, Query, description = "Only jobs of this operation."),
        ("since" = Option<DateTime<Utc>>, Query, description = "Only jobs that were accepted at this time or later."),
        ("until" = Option<DateTime<Utc>>, Query, description = "Only jobs that were accepted before this time."),
        ("before" = Option<Uuid>, Query, description = "Only jobs that were accepted before this job."),
        ("limit" = Option<u8>, Query, description = "The most jobs in the response. The default is 20.",
            minimum = 1, maximum = 100),
    ),
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
    // One job more than the page has tells whether there is a next page.
    let more = i64::from(limit) + 1;
    let mut jobs =
        retry_transient(|_| store::of_account(&app.database.durable, caller.account_id, &filter, more))
            .await?;
    let is_last = jobs.len() <= usize::from(limit);
    jobs.truncate(limit.into());
    let next = jobs.last().filter(|_| !is_last).map(|job| job.id.0);
    let jobs = jobs.into_iter().map(|job| document::job_body(job, &context.request.id)).collect();
    Ok(Json(JobsBody { jobs, next }).into_response())
}

/// The filter and the number of jobs of the page. All violations are reported at once.
pub(crate) fn page(uri: &Uri) -> Result<(JobFilter, u8), Problem> {
    let (parameters, mut violations) = query::read(uri, &PARAMETERS);
    let mut filter = JobFilter::default();
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in &parameters {
        if let Err(violation) = set(&mut filter, &mut limit, name, value) {
            violations.push(violation);
        }
    }
    Problem::reject_if_any(violations)?;
    Ok((filter, limit))
}

fn set(filter: &mut JobFilter, limit: &mut u8, name: &str, value: &str) -> Result<(), Violation> {
    match name {
        STATE => {
            let state = choice::one_of(name, value, &STATES.map(JobState::name))?;
            filter.state = STATES.get(state).copied();
        }
        OPERATION => {
            let operation = choice::one_of(name, value, &Operation::ALL.map(Operation::name))?;
            filter.operation = Operation::ALL.get(operation).copied();
        }
        SINCE => filter.since = Some(time(name, value)?),
        UNTIL => filter.until = Some(time(name, value)?),
        BEFORE => filter.before = Some(job(name, value)?),
        _ => *limit = whole_number::parse(name, value, 1..=MAX_LIMIT)?,
    }
    Ok(())
}

fn time(name: &str, value: &str) -> Result<DateTime<Utc>, Violation> {
    let parsed = DateTime::parse_from_rfc3339(value).map(|time| time.to_utc());
    parsed.map_err(|_| {
        let expected = "expected a time as in RFC 3339, such as 2026-11-21T09:00:00Z";
        Violation::new(name, Code::NotATime, format!("{name} is {}, {expected}", quoted(value)))
    })
}

fn job(name: &str, value: &str) -> Result<JobId, Violation> {
    Uuid::try_parse(value).map(JobId).map_err(|_| {
        Violation::new(name, Code::NotAJob, format!("{name} is {}, expected the id of a job", quoted(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(query: &str) -> Vec<String> {
        let uri = format!("/v1/jobs{query}").parse().unwrap();
        page(&uri).map_or_else(|problem| problem.codes(), |_| Vec::new())
    }

    #[test]
    fn every_operation_is_documented() {
        let schema = serde_json::to_value(<OperationSchema as utoipa::PartialSchema>::schema()).unwrap();
        assert_eq!(schema["enum"], serde_json::json!(Operation::ALL.map(Operation::name)));
    }

    #[test]
    fn every_parameter_is_parsed() {
        let uri = "/v1/jobs?state=failed&operation=digit-recognition&since=2026-11-21T09:00:00Z\
            &until=2026-11-22T09:00:00%2B05:30&limit=100&before=019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";
        let (filter, limit) = page(&uri.parse().unwrap()).unwrap();
        assert_eq!(
            (filter.state, filter.operation),
            (Some(JobState::Failed), Some(Operation::DigitRecognition))
        );
        assert_eq!(filter.until.unwrap() - filter.since.unwrap(), chrono::TimeDelta::minutes(24 * 60 - 330));
        assert!(filter.before.is_some());
        assert_eq!(limit, 100);
    }

    #[test]
    fn all_violations_are_reported_at_once() {
        assert_eq!(codes(""), [""; 0]);
        assert_eq!(
            codes("?state=done&operation=x&since=today&until=2026-11-21&before=1&limit=0&page=2"),
            [
                "unknown",
                "not_a_choice",
                "not_a_choice",
                "not_a_time",
                "not_a_time",
                "not_a_job",
                "out_of_range"
            ]
        );
    }
}
