//! Counts results and jobs after a run.

use akhar_tests::{Stack, bulk::Folders};

use super::clips::Clips;
use crate::report::count;

/// What was found after a run.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "they are numbers of something")]
pub(super) struct Verdict {
    /// Recordings with one result.
    n_results: usize,
    n_good: usize,
    /// Broken files with a reason in `failures.jsonl`.
    n_reasons: usize,
    n_broken: usize,
    /// Other files that failed.
    n_failed: usize,
    /// Jobs of the command that succeeded.
    n_succeeded: usize,
    /// Those of them that are pieces of long recordings.
    n_pieces: usize,
    /// Jobs with the file and the parameters of another job.
    n_repeated: usize,
    /// Jobs that ended more than once.
    n_ended_twice: usize,
    /// Jobs that were started more than once, because their worker was killed.
    n_restarted: usize,
    /// Jobs that have not ended.
    n_open: usize,
}

impl Verdict {
    pub(super) async fn count(stack: &Stack, folders: &Folders, clips: &Clips) -> Self {
        let has_result = |name: &&String| folders.results.join(format!("{name}.json")).is_file();
        let failures = folders.failures();
        let failed = |name: &str| failures.iter().any(|(path, _)| path == name);
        let of_command = "operation = 'speech-recognition'
            and account_id = (select account_id from api_keys where name = 'test')";
        let n_jobs = n_of(stack, &format!("jobs where {of_command}")).await;
        let n_succeeded = n_of(stack, &format!("jobs where state = 'succeeded' and {of_command}")).await;
        // A fingerprint is a hash of the file and the parameters.
        let contents = "(select distinct fingerprint from idempotency_keys k join jobs j on j.id = k.job_id) as contents";
        let n_contents = n_of(stack, contents).await;
        let more_than_once = |table: &str| {
            format!("(select job_id from {table} group by job_id having count(*) > 1) as repeated")
        };
        Self {
            n_results: clips.good.iter().filter(has_result).count(),
            n_good: clips.good.len(),
            n_reasons: clips.broken.iter().filter(|name| failed(name)).count(),
            n_broken: clips.broken.len(),
            n_failed: failures.len() - clips.broken.iter().filter(|name| failed(name)).count(),
            n_succeeded,
            n_pieces: n_succeeded.saturating_sub(clips.n_short),
            n_repeated: n_jobs - n_contents,
            n_ended_twice: n_of(stack, &more_than_once("ends")).await,
            n_restarted: n_of(stack, &more_than_once("starts")).await,
            n_open: n_of(stack, "jobs where state in ('queued', 'running')").await,
        }
    }

    /// The row of the report.
    pub(super) fn numbers(&self) -> Vec<(&'static str, f64)> {
        [
            ("results", self.n_results),
            ("of", self.n_good),
            ("reasons", self.n_reasons),
            ("of_broken", self.n_broken),
            ("failed", self.n_failed),
            ("succeeded_jobs", self.n_succeeded),
            ("of_them_pieces", self.n_pieces),
            ("repeated_jobs", self.n_repeated),
            ("ended_twice", self.n_ended_twice),
            ("restarted", self.n_restarted),
            ("open", self.n_open),
        ]
        .map(|(name, n)| (name, count(n)))
        .into()
    }

    /// What is wrong, if anything is.
    pub(super) fn failure(&self) -> Option<String> {
        let is_right = self.n_results == self.n_good
            && self.n_reasons == self.n_broken
            && [self.n_failed, self.n_repeated, self.n_ended_twice, self.n_open] == [0; 4];
        (!is_right).then(|| format!("{self:?}"))
    }
}

/// The number of rows of a table or of a query.
async fn n_of(stack: &Stack, rows: &str) -> usize {
    let statement = format!("select count(*) from {rows}");
    let n: i64 =
        sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).fetch_one(&stack.db).await.expect("a count");
    usize::try_from(n).expect("a count")
}
