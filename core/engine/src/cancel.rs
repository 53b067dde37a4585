//! Cancellation: one token, three states.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const ACTIVE: u8 = 0;
const CANCELLED: u8 = 1;
const PUBLISHING: u8 = 2;

/// Shared by everything that must stop when the user says so. Either cancellation wins or publication does, decided by
/// one atomic exchange.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    requested: Arc<AtomicBool>,
    state: Arc<AtomicU8>,
}

impl CancelToken {
    /// The flag a signal handler sets.
    pub fn request_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requested)
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Whether the run must stop.
    pub fn is_cancelled(&self) -> bool {
        if self.requested.load(Ordering::SeqCst) {
            let _ = self.state.compare_exchange(ACTIVE, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        }
        self.state.load(Ordering::SeqCst) == CANCELLED
    }

    /// Starts publication; `false` when cancellation has won. Later requests are ignored.
    pub fn begin_publishing(&self) -> bool {
        !self.is_cancelled()
            && self.state.compare_exchange(ACTIVE, PUBLISHING, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_185_cancellation_and_publication_exclude_each_other() {
        let first = CancelToken::default();
        first.cancel();
        assert!(first.is_cancelled());
        assert!(!first.begin_publishing());

        let second = CancelToken::default();
        assert!(second.begin_publishing());
        second.cancel();
        assert!(!second.is_cancelled(), "a request after the first rename is ignored");
    }
}
