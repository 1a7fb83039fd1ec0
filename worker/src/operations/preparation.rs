//! Prepares a recording for a speech model: a file comes in; windows of its sound with their features go out, one by one, of
//! each channel that is read by itself.

use std::{
    iter,
    ops::AddAssign,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::speech::{Chunker, Clock, FrontEnd, Window, features::Features};
use akhar_platform::telemetry::traces;
use tokio::sync::{mpsc, oneshot};

use super::error::OperationError;
use crate::{
    decode::{
        audio::{Audio, AudioLimits, Channels, Pace},
        job_file::JobFile,
        undecodable::Undecodable,
    },
    decoding::{Decoding, DecodingPace, DecodingTurns},
    fair_queue::Turn,
    low_priority,
};

/// How many prepared windows may wait for the model while the decoding thread goes on.
const MAX_PREPARED: usize = 1;

/// What makes a recording louder by more than this is said in a warning.
const MAX_SILENT_GAIN_DB: f32 = 40.0;

/// A message from the decoding thread about one track: first the windows, ready for the model, then how decoding ended.
pub(super) enum Prepared {
    Window(Window, Features),
    Last(Last, Preparing),
}

/// How decoding ended.
#[derive(Clone)]
pub(super) enum Last {
    End { seconds: f64, warnings: Vec<String> },
    Undecodable(Undecodable),
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

/// How opening a recording ended.
pub(super) type Opened = Result<Vec<Track>, (Undecodable, Preparing)>;

/// What is read of a recording: one channel, or all of them mixed.
pub(super) struct Track {
    windows: mpsc::Receiver<Prepared>,
    decoding: Decoding,
}

impl Track {
    /// The next message. Calls `step` whenever decoding goes on meanwhile.
    pub(super) async fn next(&mut self, step: impl Fn()) -> Result<Prepared, OperationError> {
        let next = self.decoding.wait_for(self.windows.recv(), step).await;
        next.ok_or(OperationError::DecoderStuck)?.ok_or(OperationError::Decoder)
    }
}

/// What the thread works with.
struct Job {
    file: JobFile,
    limits: AudioLimits,
    channels: Channels,
    front_end: Arc<dyn FrontEnd>,
    clock: Clock,
    pace: Arc<DecodingPace>,
}

/// Decodes a recording into windows of each of its tracks, on a thread of its own that takes turns with others. The thread
/// ends early when the tracks are dropped.
pub(super) async fn prepare(
    (file, limits): (JobFile, AudioLimits),
    channels: Channels,
    (front_end, clock): (Arc<dyn FrontEnd>, Clock),
    (turns, turn): (&DecodingTurns, Turn),
    step: impl Fn(),
) -> Result<Opened, OperationError> {
    let (pace, mut decoding) = turns.decoding(turn, file.content.len());
    let job = Job { file, limits, channels, front_end, clock, pace: Arc::new(pace) };
    let (sender, opened) = oneshot::channel();
    let span = tracing::info_span!(target: traces::TARGET, "decode");
    low_priority::spawn("decode", move || {
        let _in_span = span.entered();
        job.run(sender);
    })
    .map_err(OperationError::Thread)?;
    let opened = decoding.wait_for(opened, step).await.ok_or(OperationError::DecoderStuck)?;
    let opened = opened.map_err(|_| OperationError::Decoder)?;
    let track = |windows| Track { windows, decoding: decoding.clone() };
    Ok(opened.map(|tracks| tracks.into_iter().map(track).collect()))
}

type Windows = Result<Vec<mpsc::Receiver<Prepared>>, (Undecodable, Preparing)>;

impl Job {
    /// Sends the windows of each track, and how decoding ended.
    fn run(self, opened: oneshot::Sender<Windows>) {
        let mut preparing = Preparing::default();
        let pace: Arc<dyn Pace> = self.pace.clone();
        let open = || Audio::open_at(&pace, self.file.clone(), &self.limits, self.channels);
        let audio = match timed(&mut preparing.decoding, open) {
            Ok(audio) => audio,
            Err(undecodable) => {
                let _ = opened.send(Err((undecodable, preparing))); // fails when nobody waits for it any more
                return;
            }
        };
        let (senders, windows): (Vec<_>, Vec<_>) =
            (0..audio.n_tracks()).map(|_| mpsc::channel(MAX_PREPARED)).unzip();
        if opened.send(Ok(windows)).is_err() {
            return;
        }
        let last = match self.decode(audio, &senders, &mut preparing) {
            Ok(None) => return, // nobody waits for the windows any more
            Ok(Some((seconds, warnings))) => Last::End { seconds, warnings },
            Err(undecodable) => Last::Undecodable(undecodable),
        };
        // The time is that of all tracks together.
        let times = iter::once(preparing).chain(iter::repeat(Preparing::default()));
        for (sender, preparing) in senders.iter().zip(times) {
            self.send(sender, Prepared::Last(last.clone(), preparing));
        }
    }

    /// Sends the windows of each track. Returns the length, in seconds, and the warnings of the recording. `None` if nobody waits
    /// for it any more.
    fn decode(
        &self,
        mut audio: Audio,
        senders: &[mpsc::Sender<Prepared>],
        preparing: &mut Preparing,
    ) -> Result<Option<(f64, Vec<String>)>, Undecodable> {
        let mut chunkers: Vec<_> = senders.iter().map(|_| Chunker::new(self.clock.grid)).collect();
        let mut gain_db = 0.0_f32;
        while let Some(pieces) = timed(&mut preparing.decoding, || audio.next())? {
            for ((piece, chunker), sender) in pieces.iter().zip(&mut chunkers).zip(senders) {
                let windows = timed(&mut preparing.decoding, || chunker.push(piece));
                gain_db = windows.iter().fold(gain_db, |most, window| most.max(window.gain_db));
                if !self.give(windows, sender, &mut preparing.features)? {
                    return Ok(None);
                }
            }
        }
        for (chunker, sender) in chunkers.into_iter().zip(senders) {
            let last = timed(&mut preparing.decoding, || chunker.finish());
            gain_db = last.iter().fold(gain_db, |most, window| most.max(window.gain_db));
            if !self.give(last, sender, &mut preparing.features)? {
                return Ok(None);
            }
        }
        preparing.resampling = audio.resampling();
        let mut warnings = audio.warnings().to_vec();
        if gain_db > MAX_SILENT_GAIN_DB {
            warnings.push(format!("the recording is very quiet: it was made {gain_db:.0} dB louder"));
        }
        Ok(Some((audio.seconds(), warnings)))
    }

    /// Sends windows with their features. Returns whether somebody waits for them.
    fn give(
        &self,
        windows: impl IntoIterator<Item = Window>,
        sender: &mpsc::Sender<Prepared>,
        spent: &mut Duration,
    ) -> Result<bool, Undecodable> {
        for window in windows {
            self.pace.go_on()?;
            let features = timed(spent, || self.front_end.features(&window.samples));
            if features.n_frames > 0 && !self.send(sender, Prepared::Window(window, features)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends a message, and lets others work until it is taken. Returns whether somebody waits for it.
    fn send(&self, sender: &mpsc::Sender<Prepared>, message: Prepared) -> bool {
        self.pace.rest();
        sender.blocking_send(message).is_ok()
    }
}

/// Adds the time that `work` takes to `spent`.
fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    *spent += started.elapsed();
    done
}
