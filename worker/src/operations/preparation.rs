//! Prepares a recording for a speech model: a file comes in; windows of its sound with their features go out, one by one.

use std::{
    io,
    ops::AddAssign,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::speech::{Chunker, Clock, FrontEnd, Window, features::Features};
use akhar_platform::telemetry::traces;
use tokio::sync::mpsc;

use crate::{
    decode::{
        audio::{Audio, AudioLimits},
        job_file::JobFile,
        undecodable::Undecodable,
    },
    low_priority,
};

/// How many prepared windows may wait for the model while the decoding thread goes on.
const MAX_PREPARED: usize = 1;

/// A message from the decoding thread: first the windows, ready for the model, then how decoding ended.
pub(super) enum Prepared {
    Window(Window, Features),
    End { seconds: f64, warnings: Vec<String>, preparing: Preparing },
    Undecodable(Undecodable, Preparing),
}

/// The time spent before the model runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Preparing {
    /// From the file to samples at 16 kHz; includes `resampling`.
    pub(super) decoding: Duration,
    /// The part of `decoding` that changed the sampling rate.
    pub(super) resampling: Duration,
    /// From samples to features.
    pub(super) features: Duration,
}

impl AddAssign for Preparing {
    fn add_assign(&mut self, other: Self) {
        self.decoding += other.decoding;
        self.resampling += other.resampling;
        self.features += other.features;
    }
}

impl Preparing {
    pub(super) fn total(&self) -> Duration {
        self.decoding + self.features
    }
}

/// Decodes a recording, or one channel of it, into windows on a thread of its own. The thread ends early when the receiver is dropped.
pub(super) fn prepare(
    file: JobFile,
    limits: AudioLimits,
    front_end: Arc<dyn FrontEnd>,
    clock: Clock,
    channel: Option<usize>,
) -> io::Result<mpsc::Receiver<Prepared>> {
    let (sender, prepared) = mpsc::channel(MAX_PREPARED);
    let span = tracing::info_span!(target: traces::TARGET, "decode");
    low_priority::spawn("decode", move || {
        let _in_span = span.entered();
        let mut preparing = Preparing::default();
        let windows = |window, features| sender.blocking_send(Prepared::Window(window, features)).is_ok();
        let last = match decode((file, channel), &limits, &*front_end, clock, &mut preparing, windows) {
            Ok(None) => return, // nobody waits for the windows any more
            Ok(Some(audio)) => {
                Prepared::End { seconds: audio.seconds(), warnings: audio.warnings().to_vec(), preparing }
            }
            Err(undecodable) => Prepared::Undecodable(undecodable, preparing),
        };
        let _ = sender.blocking_send(last); // fails when nobody waits for it any more
    })?;
    Ok(prepared)
}

/// Gives each window of a recording to `take`, until that returns false. Returns the recording, of which
/// all is decoded; `None` if `take` ended it.
fn decode(
    (file, channel): (JobFile, Option<usize>),
    limits: &AudioLimits,
    front_end: &dyn FrontEnd,
    clock: Clock,
    preparing: &mut Preparing,
    take: impl Fn(Window, Features) -> bool,
) -> Result<Option<Audio>, Undecodable> {
    let mut chunker = Chunker::new(clock.grid);
    let mut audio = timed(&mut preparing.decoding, || Audio::open(file, limits, channel))?;
    let give = |windows: Vec<Window>, spent: &mut Duration| {
        windows.into_iter().all(|window| {
            let features = timed(spent, || front_end.features(&window.samples));
            features.n_frames == 0 || take(window, features)
        })
    };
    loop {
        let piece = timed(&mut preparing.decoding, || audio.next())?;
        let Some(piece) = piece else { break };
        let windows = timed(&mut preparing.decoding, || chunker.push(&piece));
        if !give(windows, &mut preparing.features) {
            return Ok(None);
        }
    }
    let last = timed(&mut preparing.decoding, || chunker.finish());
    if !give(last.into_iter().collect(), &mut preparing.features) {
        return Ok(None);
    }
    preparing.resampling = audio.resampling();
    Ok(Some(audio))
}

/// Adds the time that `work` takes to `spent`.
fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    *spent += started.elapsed();
    done
}
