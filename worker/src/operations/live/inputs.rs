//! The parts of the input of a session that the next attempt would have to read again.

use std::collections::VecDeque;

use akhar_jobs::store::StreamStart;
use akhar_requests::live::{LiveParameters, LiveSession, SoundFormat};
use serde::{Deserialize, Serialize};

use super::{context::ContextState, cutter::CutterState};

/// So many parts are kept at most, which is less than the api writes ahead of a session.
const MOST_KEPT: usize = 512;

/// From where an attempt goes on. It is stored in rows: never rename a field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    pub(super) cutter: CutterState,
    /// The sound before it that is recognised with what follows.
    pub(super) context: ContextState,
    /// The number of the last part whose mark is processed, and the session behind it.
    n_processed: i64,
    pub(super) session: LiveSession,
    /// The bytes of the parts that are deleted.
    n_bytes: u64,
}

/// A part that is read to its end, with its mark.
#[derive(Debug)]
struct Read {
    n: i64,
    /// The bytes of the session up to its end.
    end: u64,
    /// The session behind it, if it has changed there.
    session: Option<LiveSession>,
}

/// The parts since the last checkpoint.
#[derive(Debug)]
pub(super) struct Inputs {
    format: SoundFormat,
    read: VecDeque<Read>,
    /// From where this attempt went on, or would go on now.
    pub(super) checkpoint: Checkpoint,
    /// The number of the last part that is deleted.
    pub(super) n_deleted: i64,
    /// The number of the last part that is known, and the bytes up to its end.
    pub(super) n_known: i64,
    n_bytes: u64,
}

impl Inputs {
    /// Those behind the parts that an earlier attempt has read.
    pub(super) fn new(parameters: &LiveParameters, start: StreamStart) -> Self {
        let first = || Checkpoint {
            cutter: CutterState::default(),
            context: ContextState::default(),
            n_processed: 0,
            session: parameters.session.clone(),
            n_bytes: 0,
        };
        let checkpoint: Checkpoint =
            start.checkpoint.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_else(first);
        Self {
            format: parameters.format,
            read: VecDeque::new(),
            n_bytes: checkpoint.n_bytes,
            checkpoint,
            n_deleted: start.n_read,
            n_known: start.n_read,
        }
    }

    /// The bytes of a part that are needed.
    pub(super) fn new_bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let n = usize::try_from(self.needed().saturating_sub(self.n_bytes)).unwrap_or(usize::MAX);
        bytes.get(n..).unwrap_or_default()
    }

    /// The bytes before the first one that the next attempt needs.
    fn needed(&self) -> u64 {
        self.bytes(self.checkpoint.context.first_sample(self.format.rate()))
    }

    fn bytes(&self, position: u64) -> u64 {
        position * u64::from(self.format.bytes_per_sample())
    }

    /// Whether the mark of the last part that is known was processed before.
    pub(super) const fn is_processed(&self) -> bool {
        self.n_known <= self.checkpoint.n_processed
    }

    /// The bytes of the next part are processed.
    pub(super) const fn advance(&mut self, n: i64, n_bytes: usize) {
        self.n_known = n;
        self.n_bytes += n_bytes as u64;
    }

    /// So is its mark. `session`: the session behind it, if it has changed.
    pub(super) fn add(&mut self, session: Option<LiveSession>) {
        self.read.push_back(Read { n: self.n_known, end: self.n_bytes, session });
    }

    /// Whether more parts are read than may be kept.
    pub(super) fn are_too_many(&self) -> bool {
        self.read.len() > MOST_KEPT
    }

    /// The sound that is needed but deleted, because there were too many parts: it is taken for silence.
    pub(super) fn deleted(&self) -> Vec<f32> {
        let n_bytes = usize::try_from(self.n_bytes.saturating_sub(self.needed())).unwrap_or(0);
        vec![0.0; n_bytes / self.format.bytes_per_sample() as usize]
    }

    /// Whether there are parts before these states, which need not be read again.
    pub(super) fn can_delete(&self, cutter: CutterState, context: ContextState) -> bool {
        let needed = context.first_sample(self.format.rate()).min(cutter.position);
        self.are_too_many() || self.read.front().is_some_and(|read| read.end <= self.bytes(needed))
    }

    /// Makes a checkpoint at these states: the parts before them need not be read again.
    pub(super) fn reach(&mut self, cutter: CutterState, context: ContextState) {
        self.checkpoint.cutter = cutter;
        self.checkpoint.context = context;
        let processed = self.bytes(cutter.position);
        for read in self.read.iter_mut().take_while(|read| read.end <= processed) {
            self.checkpoint.n_processed = self.checkpoint.n_processed.max(read.n);
            if let Some(session) = read.session.take() {
                self.checkpoint.session = session;
            }
        }
        let needed = if self.are_too_many() { processed } else { self.needed().min(processed) };
        let n_deleted = self.read.iter().take_while(|read| read.end <= needed).count();
        for read in self.read.drain(..n_deleted) {
            self.n_deleted = read.n;
            self.checkpoint.n_bytes = read.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use akhar_inference::speech::WindowStart;
    use serde_json::json;

    use super::*;

    const PART: usize = 32_000;

    fn state<T: for<'de> Deserialize<'de>>(state: serde_json::Value) -> T {
        serde_json::from_value(state).unwrap()
    }

    #[test]
    fn sound_that_is_needed_again_stays_and_its_marks_are_not_processed_again() {
        let session: LiveSession = state(json!({"lang": "pa"}));
        let next = LiveSession { delay_ms: 9, ..session.clone() };
        let parameters = LiveParameters { format: SoundFormat::Pcm16000, session, shown: json!(null) };
        let mut inputs = Inputs::new(&parameters, StreamStart::default());
        for n in 1..=6 {
            inputs.advance(n, PART);
            inputs.add((n == 3).then(|| next.clone()));
        }
        let cutter: CutterState = state(json!({
            "position": 64_000, "level": {"noise": 0.0, "loud": 0.0}, "is_further": false
        }));
        let context = |sample: usize| state(json!({"window": WindowStart::at(sample), "boundary": 0}));
        assert!(!inputs.can_delete(cutter, context(16_000)));
        assert!(inputs.can_delete(cutter, context(40_000)));
        inputs.reach(cutter, context(40_000));
        assert_eq!(inputs.n_deleted, 2, "a part is one second, and what is needed begins in the third one");
        let checkpoint = json!(inputs.checkpoint);
        let start = StreamStart { n_read: inputs.n_deleted, checkpoint: Some(checkpoint) };
        let mut again = Inputs::new(&parameters, start);
        assert_eq!(again.checkpoint.session, next, "it begins with the fourth part");
        let needed = usize::try_from(again.checkpoint.context.first_sample(16_000)).unwrap() * 2;
        assert_eq!(again.new_bytes(&vec![0; PART]).len(), 3 * PART - needed);
        for (n, is_processed) in [(3, true), (4, true), (5, false)] {
            again.advance(n, PART);
            assert_eq!(again.is_processed(), is_processed, "{n}");
            assert_eq!(again.new_bytes(&vec![0; PART]).len(), PART);
        }
    }

    #[test]
    fn of_too_many_parts_none_is_kept_and_their_sound_is_silence_to_the_next_attempt() {
        let session: LiveSession = state(json!({"lang": "pa"}));
        let parameters = LiveParameters { format: SoundFormat::Pcm16000, session, shown: json!(null) };
        let mut inputs = Inputs::new(&parameters, StreamStart::default());
        let cutter: CutterState = state(json!({
            "position": 16_000, "level": {"noise": 0.0, "loud": 0.0}, "is_further": false
        }));
        let context = state(json!({"window": WindowStart::at(0), "boundary": 0}));
        for n in 1..=1000 {
            inputs.advance(n, if n == 1 { PART } else { 0 });
            inputs.add(None);
            assert!(inputs.n_known - inputs.n_deleted <= 513);
            if inputs.can_delete(cutter, context) {
                inputs.reach(cutter, context);
            }
        }
        let start = StreamStart { n_read: inputs.n_deleted, checkpoint: Some(json!(inputs.checkpoint)) };
        let again = Inputs::new(&parameters, start);
        assert_eq!(again.deleted().len(), 16_000);
        assert_eq!(again.new_bytes(&[0; 2]).len(), 2);
    }
}
