//! What a program logs: `trace` statements and `debug` calls.

use std::cell::RefCell;

use clinker_events::Level;

use crate::outcome::LogEvent;

/// The events of one evaluation, in the order of evaluation of each row.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The most detailed level that is wanted.
    level: Option<Level>,
    events: RefCell<Vec<LogEvent>>,
}

impl Log {
    /// A log of events up to a level; of nothing when there is none.
    pub(crate) fn new(level: Option<Level>) -> Self {
        Self { level, events: RefCell::default() }
    }

    /// Whether events of a level are wanted.
    pub(crate) fn wants(&self, level: Level) -> bool {
        self.level.is_some_and(|most| level <= most)
    }

    /// Adds an event of a batch row.
    pub(crate) fn event(&self, row: u32, level: Level, text: String) {
        self.events.borrow_mut().push(LogEvent { row, level, text });
    }

    /// The events, row by row.
    pub(crate) fn into_events(self) -> Vec<LogEvent> {
        let mut events = self.events.into_inner();
        events.sort_by_key(|event| event.row);
        events
    }
}
