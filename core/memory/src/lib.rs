//! The memory budget of a run: one [`Budget`], and a named [`Reservation`] for everybody who holds state.
//!
//! Memory is asked for, never taken: a holder reserves before it allocates and gives back by dropping. The budget
//! knows what is held by whom and the peak; whoever reads input asks it how much may be in flight.

pub mod spill;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The budget of one run. Shared; counting is atomic.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) })
    }

    /// The hard limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The threshold above which state is spilled or readers pause: 80 % of the limit.
    pub fn soft(&self) -> u64 {
        self.limit / 10 * 8
    }

    /// Bytes reserved now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that was ever reserved at one time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// A reservation of `bytes` for a named holder.
    pub fn reserve(self: &Arc<Self>, holder: &'static str, bytes: u64) -> Reservation {
        self.add(bytes);
        Reservation { budget: Arc::clone(self), holder, bytes }
    }

    fn add(&self, bytes: u64) {
        let now = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }
}

/// Bytes held by one holder; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    holder: &'static str,
    bytes: u64,
}

impl Reservation {
    /// Who holds it.
    pub fn holder(&self) -> &'static str {
        self.holder
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the number of bytes held.
    pub fn resize(&mut self, bytes: u64) {
        if bytes >= self.bytes {
            self.budget.add(bytes - self.bytes);
        } else {
            self.budget.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Resident memory of this process in bytes, where the platform reports it.
pub fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_89_everything_alive_at_once_is_counted() {
        let budget = Budget::new(1000);
        let mut first = budget.reserve("first", 100);
        let second = budget.reserve("second", 50);
        first.resize(30);
        assert_eq!((budget.used(), budget.peak()), (80, 150));
        drop(first);
        drop(second);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn eng_88_the_soft_threshold_is_four_fifths() {
        assert_eq!(Budget::new(1000).soft(), 800);
    }
}
