//! Reserves the minutes of a recording, and refuses it if those of its account are used up for the day.

use std::time::Duration;

use akhar_jobs::{
    JobId,
    store::{self, Reservation},
};
use akhar_platform::database::retry_transient;
use akhar_requests::{MAX_FETCHED_S, MAX_RECORDING_S, MediaType, Operation};

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, rate_limit::RateLimit},
    input::source::Source,
    problems::Problem,
};

const NAME: &str = "audio-minutes";
/// What is reserved at a time for sound that goes on, seconds.
pub(crate) const LIVE_STEP_S: f64 = 60.0;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The time after which a recording is sent again whose minutes are reserved by others that wait or run.
const RESERVED_FOR: Duration = Duration::from_secs(5);

/// The least bytes in a second of compressed sound: 8 kbit/s, the lowest rate of MP3. Longer recordings can only be of
/// another format and nearly silent.
const LEAST_RATE: f64 = 1000.0;

/// Reserves the greatest length of a recording for its job. An account that has any time left may submit a recording of any
/// length.
pub(super) async fn reserve(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    (job, operation): (JobId, Operation),
    source: Option<&Source>,
) -> Result<(), Problem> {
    let (Operation::SpeechRecognition | Operation::LiveTranscription, Some(source)) = (operation, source)
    else {
        return Ok(());
    };
    reserve_seconds(app, caller, context, (job, greatest_length(source)), 0.0).await
}

/// Reserves more for a job whose sound goes on, of which there are so many seconds.
pub(crate) async fn go_on(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    (job, seconds): (JobId, f64),
) -> Result<(), Problem> {
    reserve_seconds(app, caller, context, (job, seconds + LIVE_STEP_S), seconds).await
}

/// Reserves so many seconds, of which the first ones are used.
async fn reserve_seconds(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    (job, seconds): (JobId, f64),
    sent_s: f64,
) -> Result<(), Problem> {
    let quota = caller.quotas.audio_minutes_per_day.and_then(|minutes| u32::try_from(minutes).ok());
    let Some(quota) = quota else { return Ok(()) };
    let quota_s = f64::from(quota) * 60.0;
    let reservation = Reservation { job, account_id: caller.account_id, seconds, quota_s };
    let mut usage = retry_transient(|_| store::reserve_amount(&app.database.pool, reservation)).await?;
    usage.used_s += sent_s;
    context.request.rate_limits.add(RateLimit {
        name: NAME,
        unit: Some("minutes"),
        quota,
        window: DAY,
        n_left: whole_minutes(quota_s - usage.used_s - usage.reserved_s),
        reset_in: usage.day_ends_in,
    });
    if usage.is_accepted && (sent_s == 0.0 || usage.used_s + usage.reserved_s < quota_s) {
        return Ok(());
    }
    let is_used_up = usage.used_s >= quota_s;
    let rest = if is_used_up { "" } else { " Those that wait or run may need the rest." };
    let detail =
        format!("Your account may have {quota} minutes of recordings transcribed in a day (UTC).{rest}");
    let retry_after = if is_used_up { usage.day_ends_in } else { usage.day_ends_in.min(RESERVED_FOR) };
    Err(Problem::quota(NAME, detail, retry_after))
}

/// The greatest length that a recording can have, seconds. The exact one if its samples are not compressed. One that the
/// request does not have may have any.
fn greatest_length(source: &Source) -> f64 {
    let upload = match source {
        Source::Sent(upload) => upload,
        Source::Live(_) => return LIVE_STEP_S,
        Source::Url(_) | Source::Upload(_) => return MAX_FETCHED_S.into(),
    };
    let is_wav = upload.media_type == MediaType::Wav;
    let rate = is_wav.then(|| sample_rate_bytes(&upload.bytes)).flatten().unwrap_or(LEAST_RATE);
    let n_bytes = u32::try_from(upload.bytes.len()).unwrap_or(u32::MAX);
    (f64::from(n_bytes) / rate).min(MAX_RECORDING_S.into())
}

/// Bytes in a second of a WAV file. `None` if its samples are compressed, or if it does not begin with its format, as nearly
/// all files do.
fn sample_rate_bytes(bytes: &[u8]) -> Option<f64> {
    const UNCOMPRESSED: [u16; 5] = [1, 3, 6, 7, 0xfffe];
    let format: &[u8; 20] = bytes.get(12..36)?.strip_prefix(b"fmt ")?.try_into().ok()?;
    let field = |at: usize| u16::from_le_bytes([format[at], format[at + 1]]);
    let (tag, n_channels, block, bits) = (field(4), field(6), field(16), field(18));
    let n_bytes = u32::from(block).min(u32::from(n_channels) * u32::from(bits) / 8);
    let rate = u32::from(field(8)) + (u32::from(field(10)) << 16);
    let is_known = UNCOMPRESSED.contains(&tag) && n_bytes > 0 && rate > 0;
    is_known.then(|| f64::from(n_bytes) * f64::from(rate))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "minutes of a quota, rounded down"
)]
fn whole_minutes(seconds: f64) -> u32 {
    (seconds / 60.0) as u32
}

#[cfg(test)]
mod tests {
    use akhar_requests::Upload;

    use super::*;

    #[test]
    fn a_recording_has_at_most_the_length_of_its_bytes() {
        let of = |media_type, bytes: Vec<u8>| {
            greatest_length(&Source::Sent(Upload { media_type, bytes: bytes.into() }))
        };
        let wav = |tag: u16, block: u16, bits: u16| {
            let mut wav = b"RIFF....WAVEfmt ....".to_vec();
            for field in [tag, 1, 16_000, 0, 0, 0, block, bits] {
                wav.extend(field.to_le_bytes());
            }
            wav.resize(320_000, 0);
            of(MediaType::Wav, wav)
        };
        let is_close = |length: f64, expected: f64| (length - expected).abs() < 1e-6;
        assert!(is_close(wav(1, 2, 16), 10.0));
        assert!(is_close(wav(1, 4, 16), 10.0) && is_close(wav(1, 2, 32), 10.0), "the smaller of two");
        for compressed in [wav(2, 256, 4), wav(1, 0, 16), of(MediaType::Mp3, vec![0; 320_000])] {
            assert!(is_close(compressed, 320.0));
        }
        assert!(is_close(of(MediaType::Ogg, vec![0; 5_000_000]), 3600.0));
        assert!(is_close(of(MediaType::Wav, b"RIFF".to_vec()), 0.004));
    }
}
