//! The utterance that is open, or comes next: which of its events are said already, also by an earlier attempt.

use std::{
    collections::HashSet,
    mem::{Discriminant, discriminant},
};

use akhar_requests::live::LiveEvent;

use super::stable::StableWords;

/// The open utterance.
#[derive(Debug)]
pub(super) struct Item {
    /// Its number, from 1.
    pub(super) number: u32,
    /// The kinds of events that were said of it.
    said: HashSet<Discriminant<LiveEvent>>,
    pub(super) words: StableWords,
}

impl Item {
    /// One of which nothing is said.
    pub(super) fn new(number: u32) -> Self {
        Self { number, said: HashSet::new(), words: StableWords::default() }
    }

    /// What is known of it by all that was said before.
    pub(super) fn after(said: Vec<LiveEvent>) -> Self {
        let mut item = Self::new(1);
        let mut text = String::new();
        for event in said {
            match event {
                LiveEvent::SpeechStarted { .. }
                | LiveEvent::SpeechStopped { .. }
                | LiveEvent::Committed { .. } => drop(item.once(event)),
                LiveEvent::Delta { text: further, .. } => {
                    text.push_str(&further);
                    item.delta(further);
                }
                LiveEvent::Completed(_) | LiveEvent::Failed { .. } => {
                    item = Self::new(item.number + 1);
                    text.clear();
                }
                LiveEvent::Cleared => {
                    item = item.cleared();
                    text.clear();
                }
                LiveEvent::TranslationDelta { .. } => (),
            }
        }
        item.words = StableWords::new(&text);
        item
    }

    /// An event about it, unless there was one of its kind.
    pub(super) fn once(&mut self, event: LiveEvent) -> Option<LiveEvent> {
        self.said.insert(discriminant(&event)).then_some(event)
    }

    /// Further text, if there is any.
    pub(super) fn delta(&mut self, text: String) -> Option<LiveEvent> {
        let is_further = !text.is_empty();
        let delta = LiveEvent::Delta { item: self.number, text };
        is_further.then(|| {
            self.said.insert(discriminant(&delta));
            delta
        })
    }

    /// The one behind it when its sound is dropped. What was said of it is no part of the next one.
    pub(super) fn cleared(&self) -> Self {
        Self::new(self.number + u32::from(!self.said.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_said_again() {
        let said = vec![
            LiveEvent::SpeechStarted { item: 1, start_ms: 0 },
            LiveEvent::Failed { item: 1, code: String::new(), detail: String::new() },
            LiveEvent::SpeechStarted { item: 2, start_ms: 0 },
            LiveEvent::Cleared,
            LiveEvent::Cleared,
            LiveEvent::Delta { item: 3, text: "c".to_owned() },
            LiveEvent::Cleared,
            LiveEvent::SpeechStarted { item: 4, start_ms: 5 },
            LiveEvent::Delta { item: 4, text: "a".to_owned() },
            LiveEvent::Delta { item: 4, text: " b".to_owned() },
        ];
        let mut item = Item::after(said);
        assert_eq!((item.number, item.words.text().as_str()), (4, "a b"));
        assert_eq!(item.once(LiveEvent::SpeechStarted { item: 4, start_ms: 5 }), None);
        let committed = LiveEvent::Committed { item: 4, start_ms: 5, end_ms: 6 };
        assert_eq!(item.once(committed.clone()), Some(committed.clone()));
        assert_eq!(item.once(committed), None);
        let next = LiveEvent::SpeechStarted { item: 5, start_ms: 7 };
        assert_eq!(Item::new(5).once(next.clone()), Some(next));
    }
}
