//! Which of the frames of a recording are its sound, and where silence belongs between them.

use std::collections::VecDeque;

/// What becomes of the next frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// So many frames of silence come before the next frame.
    Silence(u64),
    /// So many frames are no sound: an encoder put them there, or they were cut out.
    Skip(u64),
    /// So many frames are sound.
    Keep(u64),
}

impl Edit {
    /// The same edit of frames, of which `frames` gives the number in its own unit.
    pub(super) fn scaled(self, frames: impl Fn(u64) -> u64) -> Self {
        match self {
            Self::Silence(n) => Self::Silence(frames(n)),
            Self::Skip(n) => Self::Skip(frames(n)),
            Self::Keep(n) => Self::Keep(frames(n)),
        }
    }
}

/// The edits of a recording, from its beginning on. The frames behind the last of them are no sound.
#[derive(Debug, Clone)]
pub(super) struct Timeline(VecDeque<Edit>);

impl Timeline {
    pub(super) fn new(edits: impl IntoIterator<Item = Edit>) -> Self {
        let mut timeline = Self(edits.into_iter().collect());
        timeline.drop_empty();
        timeline
    }

    /// The frames of the sound, of which `n_frames` frames are in the file.
    pub(super) fn n_frames(&self, n_frames: u64) -> u64 {
        let mut left = n_frames;
        let mut sound = 0_u64;
        for edit in &self.0 {
            match *edit {
                Edit::Silence(n) => sound = sound.saturating_add(n),
                Edit::Skip(n) => left = left.saturating_sub(n),
                Edit::Keep(n) => {
                    sound = sound.saturating_add(n.min(left));
                    left = left.saturating_sub(n);
                }
            }
        }
        sound
    }

    /// The silence that comes next, at most `max` frames.
    pub(super) fn silence(&mut self, max: u64) -> u64 {
        self.take_next(max, |edit| if let Edit::Silence(n) = edit { Some(n) } else { None })
    }

    /// How many of the next frames are no sound, at most `max`.
    pub(super) fn skip(&mut self, max: u64) -> u64 {
        if self.0.is_empty() {
            return max;
        }
        self.take_next(max, |edit| if let Edit::Skip(n) = edit { Some(n) } else { None })
    }

    /// How many of the next frames are sound, at most `max`.
    pub(super) fn keep(&mut self, max: u64) -> u64 {
        self.take_next(max, |edit| if let Edit::Keep(n) = edit { Some(n) } else { None })
    }

    /// Takes at most `max` frames from the next edit, if it is of this kind.
    fn take_next(&mut self, max: u64, of_kind: impl Fn(&mut Edit) -> Option<&mut u64>) -> u64 {
        let Some(n) = self.0.front_mut().and_then(of_kind) else { return 0 };
        let taken = max.min(*n);
        *n -= taken;
        self.drop_empty();
        taken
    }

    fn drop_empty(&mut self) {
        while let Some(Edit::Silence(0) | Edit::Skip(0) | Edit::Keep(0)) = self.0.front() {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_kept_and_skipped_in_order() {
        let edits =
            [Edit::Skip(0), Edit::Silence(5), Edit::Skip(3), Edit::Keep(4), Edit::Silence(1), Edit::Keep(9)];
        let mut timeline = Timeline::new(edits);
        assert_eq!([3, 5, 7, 100].map(|n| timeline.n_frames(n)), [6, 8, 10, 19]);
        assert_eq!((timeline.keep(9), timeline.skip(9)), (0, 0), "silence comes first");
        assert_eq!((timeline.silence(2), timeline.silence(9)), (2, 3));
        assert_eq!((timeline.skip(2), timeline.skip(9), timeline.keep(9)), (2, 1, 4));
        assert_eq!((timeline.keep(9), timeline.silence(9), timeline.keep(8), timeline.keep(8)), (0, 1, 8, 1));
        assert_eq!((timeline.keep(9), timeline.skip(9)), (0, 9), "no frame behind the last edit is sound");
    }
}
