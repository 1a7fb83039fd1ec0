//! Repeats a request after errors that may pass: a connection that breaks, a server that restarts or has too much to do.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use backon::{BackoffBuilder as _, ExponentialBuilder, Retryable as _};

use crate::error::ClientError;

/// How long each pause may be, unless the server asks for a longer one.
const MAX_PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(250))
    .with_max_delay(Duration::from_secs(15))
    .without_max_times();

/// How long, and with what notice, [`Client::retrying`](crate::Client::retrying) repeats a request.
///
/// A pause before a repetition has a random length up to 0.25 s, 0.5 s, 1 s and so on up to 15 s, so that many clients do
/// not come back at the same time. It is as long as the server's `Retry-After` says, if it sent one. If that is longer than
/// the time that is left, the error is returned at once.
#[derive(Clone)]
pub struct Retries {
    limit: Duration,
    on_error: Arc<dyn Fn(&ClientError) + Send + Sync>,
}

impl fmt::Debug for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retries").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Retries {
    /// Repeats a request for this time, from its first attempt on. After that its last error is returned.
    pub fn within(limit: Duration) -> Self {
        Self { limit, on_error: Arc::new(|_| ()) }
    }

    /// Calls `on_error` with each error before the pause, for example to send fewer requests at a time.
    #[must_use]
    pub fn on_error(self, on_error: impl Fn(&ClientError) + Send + Sync + 'static) -> Self {
        Self { on_error: Arc::new(on_error), ..self }
    }
}

/// Makes attempts until one succeeds, fails with an error that will not pass, or the time is over.
pub(crate) async fn repeat<T, F: Future<Output = Result<T, ClientError>>>(
    retries: &Retries,
    attempt: impl Fn() -> F,
) -> Result<T, ClientError> {
    let deadline = Instant::now() + retries.limit;
    let pauses = MAX_PAUSES.build().map(|longest| longest.mul_f64(rand::random_range(0.1..=1.0)));
    let repeated = attempt.retry(pauses).when(ClientError::may_pass).adjust(|error, pause| {
        (retries.on_error)(error);
        let pause = error.retry_after_s().map(Duration::from_secs).or(pause);
        pause.filter(|pause| *pause < deadline.saturating_duration_since(Instant::now()))
    });
    repeated.await
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::ProblemBody;

    fn refusal(status: u16) -> ClientError {
        refusal_for(status, 0)
    }

    fn refusal_for(status: u16, retry_after_s: u64) -> ClientError {
        let problem = ProblemBody {
            problem_type: "/problems/busy".to_owned(),
            title: "busy".into(),
            status,
            detail: String::new(),
            instance: String::new(),
            request_id: String::new(),
            errors: Vec::new(),
            violated_policies: Vec::new(),
            error: None,
        };
        ClientError::Problem { problem: Box::new(problem), retry_after_s: Some(retry_after_s) }
    }

    /// Runs attempts that end like this, the last one first. Returns the end and the number of attempts that are left.
    fn run(limit: Duration, ends: Vec<Result<u8, ClientError>>) -> (Result<u8, ClientError>, usize) {
        let ends = RefCell::new(ends);
        let attempt = || async { ends.borrow_mut().pop().unwrap() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ended = runtime.block_on(repeat(&Retries::within(limit), attempt));
        (ended, ends.take().len())
    }

    #[test]
    fn a_request_is_repeated_until_it_succeeds_or_its_error_will_not_pass() {
        let limit = Duration::from_secs(60);
        let (ended, n_left) = run(limit, vec![Ok(7), Err(refusal(503)), Err(refusal(429))]);
        assert_eq!((ended.unwrap(), n_left), (7, 0));
        let (ended, n_left) = run(limit, vec![Ok(7), Err(refusal(422)), Err(refusal(500))]);
        assert_eq!((ended.unwrap_err().status(), n_left), (Some(422), 1));
    }

    #[test]
    fn the_last_error_is_returned_when_the_time_is_over() {
        let (ended, n_left) = run(Duration::ZERO, vec![Ok(7), Err(refusal(503))]);
        assert_eq!((ended.unwrap_err().status(), n_left), (Some(503), 1));
    }

    #[test]
    fn a_server_that_asks_for_more_time_than_is_left_is_not_asked_again() {
        for seconds in [61, u64::MAX] {
            let (ended, n_left) = run(Duration::from_secs(60), vec![Ok(7), Err(refusal_for(429, seconds))]);
            assert_eq!((ended.unwrap_err().status(), n_left), (Some(429), 1));
        }
    }

    #[test]
    fn an_error_of_the_request_does_not_pass() {
        for (status, expected) in
            [(400, false), (401, false), (404, false), (408, true), (413, false), (422, false)]
                .into_iter()
                .chain([(429, true), (500, true), (501, false), (503, true), (505, false), (507, true)])
        {
            assert_eq!(refusal(status).may_pass(), expected, "{status}");
        }
    }
}
