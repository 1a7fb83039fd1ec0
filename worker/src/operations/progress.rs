//! How far the transcription of a recording is.

use akhar_requests::Segment;
use tokio::sync::watch;

/// How far the transcription of a recording is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The seconds that are transcribed.
    pub(crate) transcribed_s: f64,
    /// The segments that are finished: nothing changes them any more. They only become more.
    pub(crate) segments: Vec<Segment>,
}

/// Shows that the attempt goes on, although it has not transcribed more.
pub(crate) fn goes_on(progress: &watch::Sender<Progress>) {
    progress.send_modify(|_| ());
}
