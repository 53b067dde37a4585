//! Puts the results of any worker back into input order and applies them one after another.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

use crate::RunError;
use crate::apply::Applier;
use crate::block::BlockResult;

/// The order of effects of one unit. Whoever delivers the next result in order applies it, and those waiting behind it;
/// nobody waits for a turn with a result in hand.
pub(crate) struct Sequencer<'a, 'p> {
    state: Mutex<State>,
    moved: Condvar,
    applier: Mutex<&'a mut Applier<'p>>,
    in_flight: u64,
}

struct State {
    /// Sequence number of the next result to apply.
    next: u64,
    waiting: BTreeMap<u64, BlockResult>,
    applying: bool,
    ended: Option<RunError>,
}

impl<'a, 'p> Sequencer<'a, 'p> {
    /// At most `in_flight` blocks are between being cut and being applied.
    pub(crate) fn new(applier: &'a mut Applier<'p>, in_flight: usize) -> Self {
        let state = State { next: 0, waiting: BTreeMap::new(), applying: false, ended: None };
        Self {
            state: Mutex::new(state),
            moved: Condvar::new(),
            applier: Mutex::new(applier),
            in_flight: in_flight.max(1) as u64,
        }
    }

    /// Waits until block `sequence` may be cut; `false` when the unit has ended early.
    pub(crate) fn admit(&self, sequence: u64) -> bool {
        let mut state = self.lock();
        while state.ended.is_none() && sequence >= state.next + self.in_flight {
            state = self.moved.wait(state).expect(UNPOISONED);
        }
        state.ended.is_none()
    }

    /// Hands over the result of block `sequence`.
    pub(crate) fn submit(&self, sequence: u64, result: BlockResult) {
        let mut state = self.lock();
        state.waiting.insert(sequence, result);
        if state.applying {
            return;
        }
        state.applying = true;
        loop {
            let next = state.next;
            let Some(result) = (if state.ended.is_none() { state.waiting.remove(&next) } else { None }) else {
                break;
            };
            drop(state);
            let outcome = self.applier.lock().expect(UNPOISONED).apply(result);
            state = self.lock();
            state.next += 1;
            if let Err(error) = outcome {
                state.ended = Some(error);
                state.waiting.clear();
            }
            self.moved.notify_all();
        }
        state.applying = false;
    }

    /// Ends the unit at once, whatever waits; for cancellation.
    pub(crate) fn end(&self, error: RunError) {
        let mut state = self.lock();
        state.ended.get_or_insert(error);
        self.moved.notify_all();
    }

    /// The error that ended the unit, if one did.
    pub(crate) fn into_outcome(self) -> Result<(), RunError> {
        match self.state.into_inner().expect(UNPOISONED).ended {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "a worker that panics ends the process before others go on";
