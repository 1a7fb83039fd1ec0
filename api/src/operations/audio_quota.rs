//! Refuses a recording if the minutes of its account are used up for the day.

use std::time::Duration;

use akhar_jobs::{Operation, store};

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, rate_limit::RateLimit},
    problems::Problem,
    retry::retry_transient,
};

const NAME: &str = "audio-minutes";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Checks the quota of recordings. Jobs count when they have ended, so an account that has any time left may submit a
/// recording of any length.
pub(super) async fn check(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    operation: Operation,
) -> Result<(), Problem> {
    let quota = caller.quotas.audio_minutes_per_day.and_then(|minutes| u32::try_from(minutes).ok());
    let (Operation::SpeechRecognition, Some(quota)) = (operation, quota) else { return Ok(()) };
    let used = retry_transient(|_| store::audio_today(&app.database.volatile, caller.account_id)).await?;
    let left_s = f64::from(quota) * 60.0 - used.seconds;
    context.request.rate_limits.add(RateLimit {
        name: NAME,
        unit: Some("minutes"),
        quota,
        window: DAY,
        n_left: whole_minutes(left_s),
        reset_in: used.day_ends_in,
    });
    if left_s > 0.0 {
        return Ok(());
    }
    let detail = format!("Your account may have {quota} minutes of recordings transcribed in a day (UTC).");
    Err(Problem::quota(NAME, detail, used.day_ends_in))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "minutes of a quota, rounded down"
)]
fn whole_minutes(seconds: f64) -> u32 {
    (seconds / 60.0) as u32
}
