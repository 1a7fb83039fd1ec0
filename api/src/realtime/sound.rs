//! The sound of a session on its way to the database: what a client sends comes in, and numbered parts go out.

use std::{collections::VecDeque, mem, time::Duration};

use akhar_requests::live::{LiveMark, SoundFormat};
use bytes::Bytes;
use tokio::time::Instant;

/// The sound that a part waits for, and the time that it waits for it.
const PART: Duration = Duration::from_millis(200);
/// The most sound of a part.
const LONGEST_PART: Duration = Duration::from_millis(500);
/// The most bytes that may wait for the database before no more are read.
pub(super) const MAX_WAITING_BYTES: usize = 256 * 1024;
/// The most sound that may be ahead of the worker, which reads an utterance to its end before it is deleted.
const MOST_AHEAD: Duration = Duration::from_secs(60);
/// The most parts of it.
const MOST_PARTS_AHEAD: usize = 1000;
/// The most sessions that may wait for the database, because each may be large.
const MOST_SESSIONS_WAITING: usize = 4;

/// A part that is to be stored.
#[derive(Debug, PartialEq)]
pub(super) struct Part {
    /// Its number, from 1.
    pub(super) n: i64,
    /// The bytes of the session up to its end.
    pub(super) end: u64,
    pub(super) bytes: Bytes,
    pub(super) mark: Option<LiveMark>,
}

/// The sound of a session that is not read by a worker yet.
#[derive(Debug, Default)]
pub(super) struct Sound {
    format: SoundFormat,
    /// What the next part begins with, and since when that waits.
    open: Vec<u8>,
    since: Option<Instant>,
    /// The parts that follow, with what the client asks for behind them.
    closed: VecDeque<(Vec<u8>, Option<LiveMark>)>,
    n_waiting: usize,
    /// The bytes that a client sends again, which are stored already.
    n_repeated: usize,
    /// The number of parts, their bytes, and those of them that are stored.
    n_parts: i64,
    n_bytes: u64,
    n_stored: u64,
    /// The numbers and bytes of parts with sound that are on their way to the worker.
    ahead: VecDeque<(i64, usize)>,
    n_ahead: usize,
}

impl Sound {
    /// The sound behind so many parts and bytes. The client goes on from [`Self::stored_ms`].
    pub(super) fn behind(format: SoundFormat, n_parts: i64, n_stored: u64) -> Self {
        let mut sound = Self { format, n_parts, n_bytes: n_stored, n_stored, ..Self::default() };
        let known = sound.stored_ms() * u64::from(sound.bytes_per_s()) / 1000;
        sound.n_repeated = usize::try_from(n_stored - known).unwrap_or(0);
        sound
    }

    /// Adds sound.
    pub(super) fn push(&mut self, bytes: &[u8], now: Instant) {
        let n_repeated = self.n_repeated.min(bytes.len());
        self.n_repeated -= n_repeated;
        let bytes = &bytes[n_repeated..];
        self.n_waiting += bytes.len();
        let longest = self.n_bytes(LONGEST_PART);
        for piece in bytes.chunks(longest) {
            if self.open.len() + piece.len() > longest {
                self.close(None);
            }
            self.open.extend_from_slice(piece);
        }
        if !bytes.is_empty() {
            self.since.get_or_insert(now);
        }
    }

    /// Adds what the client asks for behind all sound so far.
    pub(super) fn mark(&mut self, mark: LiveMark) {
        self.close(Some(mark));
    }

    /// Adds a part without sound, by which the worker knows that the client is there.
    pub(super) fn keep_alive(&mut self) {
        if self.closed.is_empty() && self.since.is_none() {
            self.close(None);
        }
    }

    /// Closes the open part. What is less than a sample waits for the rest of it.
    fn close(&mut self, mark: Option<LiveMark>) {
        let size = usize::try_from(self.format.bytes_per_sample()).unwrap_or(1);
        let rest = self.open.split_off(self.open.len() / size * size);
        self.closed.push_back((mem::replace(&mut self.open, rest), mark));
        self.since = None;
    }

    /// The next part, if it is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<Part> {
        if self.closed.is_empty()
            && (self.open.len() >= self.n_bytes(PART) || self.due().is_some_and(|due| due <= now))
        {
            self.close(None);
        }
        let (bytes, mark) = self.closed.pop_front()?;
        self.n_parts += 1;
        self.n_bytes += bytes.len() as u64;
        self.n_waiting -= bytes.len();
        if !bytes.is_empty() {
            self.ahead.push_back((self.n_parts, bytes.len()));
            self.n_ahead += bytes.len();
        }
        Some(Part { n: self.n_parts, end: self.n_bytes, bytes: bytes.into(), mark })
    }

    /// When the next part is due, at the latest.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + PART)
    }

    /// The sound up to this byte is stored. Returns how much it is, milliseconds.
    pub(super) fn stored(&mut self, end: u64) -> u64 {
        self.n_stored = end;
        self.stored_ms()
    }

    /// How much of the sound is stored, milliseconds.
    pub(super) fn stored_ms(&self) -> u64 {
        self.n_stored * 1000 / u64::from(self.bytes_per_s())
    }

    /// The worker has read the parts up to this one.
    pub(super) fn read(&mut self, n_read: i64) {
        let n = self.ahead.iter().take_while(|(n, _)| *n <= n_read).count();
        self.n_ahead -= self.ahead.drain(..n).map(|(_, n_bytes)| n_bytes).sum::<usize>();
    }

    /// Whether more sound can be taken.
    pub(super) fn has_room(&self) -> bool {
        let sessions = self.closed.iter().filter(|(_, mark)| matches!(mark, Some(LiveMark::Session { .. })));
        sessions.count() < MOST_SESSIONS_WAITING
            && self.n_waiting < MAX_WAITING_BYTES
            && self.closed.len() < MOST_PARTS_AHEAD
            && self.n_ahead + self.n_waiting < self.n_bytes(MOST_AHEAD)
            && self.ahead.len() < MOST_PARTS_AHEAD
    }

    /// All sound so far, also what is not stored yet, seconds.
    pub(super) fn seconds(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^52 bytes")]
        let n_bytes = (self.n_bytes + self.n_waiting as u64) as f64;
        n_bytes / f64::from(self.bytes_per_s())
    }

    const fn bytes_per_s(&self) -> u32 {
        self.format.rate() * self.format.bytes_per_sample()
    }

    fn n_bytes(&self, time: Duration) -> usize {
        let n = u128::from(self.bytes_per_s()) * time.as_millis() / 1000;
        usize::try_from(n).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use akhar_requests::live::LiveSession;
    use proptest::prelude::*;

    use super::*;

    fn sound() -> Sound {
        Sound::behind(SoundFormat::Mulaw8000, 0, 0)
    }

    #[test]
    fn a_part_waits_for_sound_or_time() {
        let (mut sound, now) = (sound(), Instant::now());
        sound.push(&[1; 1500], now);
        assert_eq!(sound.next(now), None);
        assert_eq!(sound.next(now + PART).map(|part| (part.n, part.bytes.len())), Some((1, 1500)));
        sound.push(&[1; 1600], now);
        assert_eq!(sound.next(now).map(|part| part.bytes.len()), Some(1600));
        sound.push(&[], now);
        assert_eq!((sound.next(now + PART), sound.due()), (None, None), "nothing is no part");
        sound.mark(LiveMark::Commit);
        let mark = Part { n: 3, end: 3100, bytes: Bytes::new(), mark: Some(LiveMark::Commit) };
        assert_eq!(sound.next(now), Some(mark));
        assert_eq!((sound.next(now), sound.due()), (None, None));
    }

    #[test]
    fn sound_is_taken_until_a_minute_is_ahead_of_the_worker() {
        let (mut sound, now) = (sound(), Instant::now());
        let mut n_sent = 0;
        while sound.has_room() {
            sound.push(&[0; 4000], now);
            n_sent += 4000;
            while let Some(part) = sound.next(now) {
                sound.stored(part.end);
            }
        }
        assert_eq!((n_sent, sound.stored_ms()), (60 * 8000, 60_000));
        sound.read(1);
        assert!(sound.has_room());
        for _ in 0..2 * MOST_PARTS_AHEAD {
            sound.mark(LiveMark::Clear);
            sound.next(now);
        }
        assert!(sound.has_room(), "a mark that is stored is no sound");
        while sound.has_room() {
            sound.mark(LiveMark::Clear);
        }
    }

    #[test]
    fn few_sessions_wait_for_the_database() {
        let (mut sound, now) = (sound(), Instant::now());
        let mut n = 0;
        while sound.has_room() {
            sound.push(&[0; 8], now);
            sound.mark(LiveMark::Session { session: LiveSession::default() });
            n += 1;
        }
        assert_eq!(n, MOST_SESSIONS_WAITING);
        sound.next(now);
        assert!(sound.has_room());
    }

    #[test]
    fn a_client_goes_on_from_a_millisecond_and_a_part_has_whole_samples() {
        let (mut sound, now) = (Sound::behind(SoundFormat::Pcm16000, 4, 1002), Instant::now());
        assert_eq!(sound.stored_ms(), 31, "992 bytes");
        sound.push(&[&[1; 10][..], &[2; 3]].concat(), now);
        let part = sound.next(now + PART).unwrap();
        assert_eq!((part.n, part.end, &part.bytes[..]), (5, 1004, &[2, 2][..]));
        sound.keep_alive();
        assert!(sound.next(now).unwrap().bytes.is_empty(), "half a sample is not due");
        sound.push(&[3], now);
        assert_eq!(sound.next(now + PART).unwrap().bytes[..], [2, 3]);
    }

    proptest! {
        #[test]
        fn parts_are_the_sound_in_order(pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..9000), any::<bool>()), 0..8)) {
            let (mut sound, now) = (sound(), Instant::now());
            let mut sent = Vec::new();
            let mut parts = Vec::new();
            for (bytes, is_end) in pieces {
                sound.push(&bytes, now);
                sent.extend(bytes);
                if is_end {
                    sound.mark(LiveMark::Commit);
                }
                parts.extend(std::iter::from_fn(|| sound.next(now)));
            }
            parts.extend(std::iter::from_fn(|| sound.next(now + PART)));
            let ids: Vec<i64> = parts.iter().map(|part| part.n).collect();
            prop_assert_eq!(ids, (1..).take(parts.len()).collect::<Vec<_>>());
            prop_assert!(parts.iter().all(|part| part.bytes.len() <= 4000));
            let all: Vec<u8> = parts.iter().flat_map(|part| part.bytes.to_vec()).collect();
            prop_assert_eq!(all, sent);
            prop_assert_eq!(sound.n_waiting, 0);
        }
    }
}
