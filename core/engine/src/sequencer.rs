//! Puts the results of any worker back into input order and applies them one after another.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

use crate::RunError;

/// Takes results in order.
pub(crate) trait Effects<R>: Send {
    /// Applies one result; nothing is applied after an error.
    fn apply(&mut self, result: R) -> Result<(), RunError>;
}

/// The order of effects of one unit. Whoever delivers the next result in order applies it, and those waiting behind it;
/// nobody waits for a turn with a result in hand.
pub(crate) struct Sequencer<'a, R, E: Effects<R>> {
    state: Mutex<State<R>>,
    moved: Condvar,
    effects: Mutex<&'a mut E>,
    in_flight: u64,
}

struct State<R> {
    /// Sequence number of the next result to apply.
    next: u64,
    waiting: BTreeMap<u64, R>,
    applying: bool,
    ended: Option<RunError>,
}

impl<'a, R, E: Effects<R>> Sequencer<'a, R, E> {
    /// At most `in_flight` blocks are between being cut and being applied.
    pub(crate) fn new(effects: &'a mut E, in_flight: usize) -> Self {
        let state = State { next: 0, waiting: BTreeMap::new(), applying: false, ended: None };
        Self {
            state: Mutex::new(state),
            moved: Condvar::new(),
            effects: Mutex::new(effects),
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
    pub(crate) fn submit(&self, sequence: u64, result: R) {
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
            let outcome = self.effects.lock().expect(UNPOISONED).apply(result);
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

    fn lock(&self) -> std::sync::MutexGuard<'_, State<R>> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "a worker that panics ends the process before others go on";

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Recorder {
        seen: Vec<u64>,
        stop_at: Option<u64>,
    }

    impl Effects<u64> for Recorder {
        fn apply(&mut self, result: u64) -> Result<(), RunError> {
            self.seen.push(result);
            match self.stop_at {
                Some(at) if at == result => Err(RunError::internal("asked to stop")),
                _ => Ok(()),
            }
        }
    }

    #[test]
    fn eng_193_results_are_applied_in_input_order_whatever_the_order_they_arrive_in() {
        let mut recorder = Recorder::default();
        let sequencer = Sequencer::new(&mut recorder, 8);
        for sequence in [3, 1, 0, 2, 5, 4] {
            sequencer.submit(sequence, sequence);
        }
        assert!(sequencer.into_outcome().is_ok());
        assert_eq!(recorder.seen, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn dlq_14_nothing_is_applied_behind_the_result_that_ends_the_unit() {
        let mut recorder = Recorder { stop_at: Some(1), ..Recorder::default() };
        let sequencer = Sequencer::new(&mut recorder, 8);
        for sequence in [2, 0, 1, 3] {
            sequencer.submit(sequence, sequence);
        }
        assert!(!sequencer.admit(4), "no further block is cut");
        assert!(sequencer.into_outcome().is_err());
        assert_eq!(recorder.seen, [0, 1]);
    }

    #[test]
    fn eng_30_no_more_blocks_are_in_flight_than_allowed() {
        let mut recorder = Recorder::default();
        let sequencer = Sequencer::new(&mut recorder, 2);
        assert!(sequencer.admit(0) && sequencer.admit(1));
        std::thread::scope(|scope| {
            let third = scope.spawn(|| sequencer.admit(2));
            // Only what is applied makes room: block 1 alone does not.
            sequencer.submit(1, 1);
            sequencer.submit(0, 0);
            assert!(third.join().expect("the waiting thread ends"));
        });
    }
}
