//! Decides how long the job of a request is kept after its end.

use akhar_accounts::Retention;

use crate::{
    auth::caller::Caller,
    http::{context::RequestContext, retain},
    problems::{Code, Problem, Violation},
};

/// How long the job is kept, seconds: what the request says, or else its account. `None` for as long as the server keeps jobs,
/// which is `server_s`. A violation if the request asks for more than it may have.
pub(super) fn seconds(
    caller: &Caller,
    context: &RequestContext,
    server_s: u64,
) -> Result<Option<i32>, Problem> {
    Ok(of(caller.quotas.retention, context.retain_s, server_s)?)
}

fn of(account: Retention, asked: Option<i32>, server_s: u64) -> Result<Option<i32>, Violation> {
    let server_s = i32::try_from(server_s).unwrap_or(i32::MAX);
    let most = account.max_retain_s.map_or(server_s, |most| most.min(server_s));
    match asked {
        Some(seconds) if seconds > most => {
            let detail = format!("is {seconds}, expected 0 to {most}: your jobs are kept for no longer");
            Err(retain::HEADER.violation(Code::OutOfRange, detail))
        }
        Some(seconds) => Ok(Some(seconds)),
        None => Ok(account.retain_s.or(account.max_retain_s).map(|seconds| seconds.min(most))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retained(account: (Option<i32>, Option<i32>), asked: Option<i32>) -> Result<Option<i32>, String> {
        let (retain_s, max_retain_s) = account;
        of(Retention { retain_s, max_retain_s }, asked, 86_400).map_err(|violation| violation.detail)
    }

    #[test]
    fn a_request_may_ask_for_less_than_the_most() {
        assert_eq!(retained((None, None), None), Ok(None));
        assert_eq!(retained((None, None), Some(86_400)), Ok(Some(86_400)));
        assert_eq!(retained((Some(60), None), Some(600)), Ok(Some(600)));
        assert_eq!(retained((Some(60), Some(600)), Some(0)), Ok(Some(0)));
        let more = "Akhar-Retain is 601, expected 0 to 600: your jobs are kept for no longer";
        assert_eq!(retained((Some(60), Some(600)), Some(601)), Err(more.to_owned()));
        assert!(retained((None, Some(100_000)), Some(86_401)).is_err(), "the server keeps none so long");
    }

    #[test]
    fn without_a_header_the_account_decides() {
        assert_eq!(retained((Some(60), Some(600)), None), Ok(Some(60)));
        assert_eq!(retained((None, Some(600)), None), Ok(Some(600)));
        assert_eq!(retained((Some(700), Some(600)), None), Ok(Some(600)));
        assert_eq!(retained((Some(100_000), None), None), Ok(Some(86_400)));
        assert_eq!(retained((Some(0), None), None), Ok(Some(0)));
    }
}
