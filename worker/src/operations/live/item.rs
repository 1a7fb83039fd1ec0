//! The utterance that is open, or comes next: which of its events are said already, also by an earlier attempt.

use akhar_requests::live::LiveEvent;

use super::stable::StableWords;

/// The open utterance.
#[derive(Debug)]
pub(super) struct Item {
    /// Its number, from 1.
    pub(super) number: u32,
    has_started: bool,
    has_stopped: bool,
    is_committed: bool,
    pub(super) words: StableWords,
}

impl Item {
    fn new(number: u32) -> Self {
        Self {
            number,
            has_started: false,
            has_stopped: false,
            is_committed: false,
            words: StableWords::default(),
        }
    }

    /// What is known of it by all that was said before.
    pub(super) fn after(said: impl Iterator<Item = LiveEvent>) -> Self {
        let mut item = Self::new(1);
        let mut text = String::new();
        for event in said {
            match event {
                LiveEvent::SpeechStarted { .. } => item.has_started = true,
                LiveEvent::SpeechStopped { .. } => item.has_stopped = true,
                LiveEvent::Committed { .. } => item.is_committed = true,
                LiveEvent::Delta { text: further, .. } => text.push_str(&further),
                LiveEvent::Completed(_) | LiveEvent::Failed { .. } => {
                    item = Self::new(item.number + 1);
                    text.clear();
                }
                LiveEvent::Cleared => {
                    item = Self::new(item.number);
                    text.clear();
                }
                LiveEvent::TranslationDelta { .. } => (),
            }
        }
        item.words = StableWords::new(&text);
        item
    }

    /// The next one.
    pub(super) fn next(&self) -> Self {
        Self::new(self.number + 1)
    }

    /// The same one without its sound.
    pub(super) fn cleared(&self) -> Self {
        Self::new(self.number)
    }

    pub(super) fn started(&mut self, start_ms: u64) -> Option<LiveEvent> {
        let event = LiveEvent::SpeechStarted { item: self.number, start_ms };
        (!std::mem::replace(&mut self.has_started, true)).then_some(event)
    }

    pub(super) fn stopped(&mut self, end_ms: u64) -> Option<LiveEvent> {
        let event = LiveEvent::SpeechStopped { item: self.number, end_ms };
        (!std::mem::replace(&mut self.has_stopped, true)).then_some(event)
    }

    pub(super) fn committed(&mut self, start_ms: u64, end_ms: u64) -> Option<LiveEvent> {
        let event = LiveEvent::Committed { item: self.number, start_ms, end_ms };
        (!std::mem::replace(&mut self.is_committed, true)).then_some(event)
    }

    pub(super) fn delta(&self, text: String) -> Option<LiveEvent> {
        (!text.is_empty()).then_some(LiveEvent::Delta { item: self.number, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_said_again() {
        let said = [
            LiveEvent::SpeechStarted { item: 1, start_ms: 0 },
            LiveEvent::Failed { item: 1, code: String::new(), detail: String::new() },
            LiveEvent::SpeechStarted { item: 2, start_ms: 0 },
            LiveEvent::Cleared,
            LiveEvent::SpeechStarted { item: 2, start_ms: 5 },
            LiveEvent::Delta { item: 2, text: "a".to_owned() },
            LiveEvent::Delta { item: 2, text: " b".to_owned() },
        ];
        let mut item = Item::after(said.into_iter());
        assert_eq!((item.number, item.words.text().as_str()), (2, "a b"));
        assert_eq!(item.started(5), None);
        assert_eq!(item.committed(5, 6), Some(LiveEvent::Committed { item: 2, start_ms: 5, end_ms: 6 }));
        assert_eq!(item.committed(5, 6), None);
        let mut next = item.next();
        assert_eq!(next.started(7), Some(LiveEvent::SpeechStarted { item: 3, start_ms: 7 }));
    }
}
