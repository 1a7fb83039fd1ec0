//! Counts results and jobs after a run.

use akhar_tests::{
    Stack,
    bulk::Folders,
    ends::{n_of, n_repeated},
    figures::{Row, count},
};

use super::clips::Clips;

/// What was found after a run.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Numbers that must be the second one.
    expected: Vec<(&'static str, usize, usize)>,
    /// Numbers that are only printed.
    others: Vec<(&'static str, usize)>,
}

impl Verdict {
    /// Counts everything.
    pub(super) async fn count(stack: &Stack, folders: &Folders, clips: &Clips) -> Self {
        let has_result = |name: &&String| folders.results.join(format!("{name}.json")).is_file();
        let failures = folders.failures();
        let has_reason = |name: &&String| failures.iter().any(|(path, _)| path == *name);
        let n_reasons = clips.broken.iter().filter(has_reason).count();
        let of_command = "operation = 'speech-recognition'
            and account_id = (select account_id from api_keys where name = 'test')";
        let n_jobs = n_of(&stack.db, &format!("jobs where {of_command}")).await;
        let n_succeeded = n_of(&stack.db, &format!("jobs where state = 'succeeded' and {of_command}")).await;
        // A fingerprint is a hash of the file and the parameters.
        let contents = "(select distinct fingerprint from idempotency_keys k join jobs j on j.id = k.job_id) as contents";
        let n_contents = n_of(&stack.db, contents).await;
        let n_open = n_of(&stack.db, "jobs where state in ('queued', 'running')").await;
        Self {
            expected: vec![
                ("results", clips.good.iter().filter(has_result).count(), clips.good.len()),
                ("reasons of broken files", n_reasons, clips.broken.len()),
                ("other failed files", failures.len() - n_reasons, 0),
                ("jobs with the file and the parameters of another one", n_jobs - n_contents, 0),
                ("jobs that ended twice", n_repeated(&stack.db, "ends").await, 0),
                ("open jobs", n_open, 0),
            ],
            others: vec![
                ("succeeded jobs", n_succeeded),
                ("pieces of long recordings", n_succeeded.saturating_sub(clips.n_short)),
                ("jobs that started twice", n_repeated(&stack.db, "starts").await),
            ],
        }
    }

    /// All numbers.
    pub(super) fn row(&self) -> Row {
        let expected = self.expected.iter().map(|(name, n, _)| (*name, count(*n)));
        expected.chain(self.others.iter().map(|(name, n)| (*name, count(*n)))).collect()
    }

    /// What is wrong.
    pub(super) fn failures(&self) -> Vec<String> {
        let wrong = self.expected.iter().filter(|(_, n, expected)| n != expected);
        wrong.map(|(name, n, expected)| format!("{name}: {n} instead of {expected}")).collect()
    }
}
