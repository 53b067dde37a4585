//! The memory budget of a run: one [`Budget`], and a named [`Reservation`] for everybody who holds state.
//!
//! Memory is asked for, never taken: a holder reserves before it allocates and gives back by dropping. The budget
//! knows what is held by whom and the peak; whoever reads input asks it how much may be in flight.

pub mod spill;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Who spills first: the smaller number.
pub mod priority {
    /// Rows that are held for a reader.
    pub const SLOT: u8 = 0;
    /// A sort.
    pub const SORT: u8 = 20;
    /// The file of a Source whose order is verified: when nobody else can give anything back.
    pub const BARRIER: u8 = 40;
}

/// Which holder spills when memory is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one with the smallest priority number; of several the largest.
    Priority,
    /// The largest one.
    LargestFirst,
}

/// What a holder that can spill has reserved.
#[derive(Clone, Copy, Debug)]
struct Holder {
    priority: u8,
    bytes: u64,
}

/// The budget of one run. Shared; counting is atomic.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    policy: Policy,
    used: AtomicU64,
    peak: AtomicU64,
    /// The holders that can spill; none for numbers that were given back.
    spillable: Mutex<Vec<Option<Holder>>>,
    /// Tells the resident size of the process; a backstop for what nobody has reserved.
    resident: fn() -> Option<u64>,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        Self::watching(limit, Policy::Priority, || None)
    }

    /// A budget that also looks at the resident size of the process.
    pub fn watching(limit: u64, policy: Policy, resident: fn() -> Option<u64>) -> Arc<Self> {
        let (used, peak) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { limit, policy, used, peak, spillable: Mutex::new(Vec::new()), resident })
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
        Reservation { budget: Arc::clone(self), holder, bytes, number: None }
    }

    /// An empty reservation for a named holder that can give its memory back when it is asked to.
    pub fn reserve_spillable(self: &Arc<Self>, holder: &'static str, priority: u8) -> Reservation {
        let mut spillable = self.holders();
        let number = spillable.iter().position(Option::is_none).unwrap_or_else(|| {
            spillable.push(None);
            spillable.len() - 1
        });
        spillable[number] = Some(Holder { priority, bytes: 0 });
        drop(spillable);
        Reservation { budget: Arc::clone(self), holder, bytes: 0, number: Some(number) }
    }

    fn holders(&self) -> std::sync::MutexGuard<'_, Vec<Option<Holder>>> {
        self.spillable.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether the holder of that number is the one to spill now: above the soft threshold the one that the policy chooses,
    /// and above the limit whoever asks. Where the resident size alone is too large, a holder is asked only while it holds
    /// enough that spilling helps.
    fn asks(&self, number: usize) -> bool {
        let holders = self.holders();
        let own = holders[number].map_or(0, |holder| holder.bytes);
        let used = self.used();
        if own == 0 {
            false
        } else if used > self.limit {
            true
        } else if used > self.soft() {
            self.victim(&holders) == Some(number)
        } else {
            own > self.limit / 8
                && self.victim(&holders) == Some(number)
                && (self.resident)().is_some_and(|resident| resident > self.limit)
        }
    }

    /// The holder that the policy chooses.
    fn victim(&self, holders: &[Option<Holder>]) -> Option<usize> {
        let held = holders.iter().enumerate().filter_map(|(number, holder)| Some((number, (*holder)?)));
        let chosen = held.filter(|(_, holder)| holder.bytes > 0).min_by_key(|(_, holder)| match self.policy {
            Policy::Priority => (holder.priority, std::cmp::Reverse(holder.bytes)),
            Policy::LargestFirst => (0, std::cmp::Reverse(holder.bytes)),
        });
        chosen.map(|(number, _)| number)
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
    /// Among the holders that can spill.
    number: Option<usize>,
}

impl Reservation {
    /// Whether the holder should give its memory back now. Asked at the end of each batch; never by a holder that was
    /// not reserved as one that can spill.
    pub fn is_asked_to_spill(&self) -> bool {
        self.number.is_some_and(|number| self.budget.asks(number))
    }

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
        if let Some(number) = self.number
            && let Some(holder) = &mut self.budget.holders()[number]
        {
            holder.bytes = bytes;
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        if let Some(number) = self.number {
            self.budget.holders()[number] = None;
        }
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
    fn eng_8_4_the_chosen_holder_is_asked_and_above_the_limit_everybody() {
        let budget = Budget::new(1000);
        let (mut small, mut large) = (budget.reserve_spillable("small", 9), budget.reserve_spillable("large", 9));
        let fixed = budget.reserve("block", 300);
        small.resize(100);
        large.resize(350);
        assert!(!small.is_asked_to_spill() && !large.is_asked_to_spill(), "750 is below the soft threshold");
        large.resize(450);
        assert!(!small.is_asked_to_spill() && large.is_asked_to_spill());
        large.resize(700);
        assert!(small.is_asked_to_spill() && large.is_asked_to_spill());
        drop(large);
        assert!(!small.is_asked_to_spill() && !fixed.is_asked_to_spill());
    }

    #[test]
    fn eng_8_4_the_smaller_priority_goes_first_unless_the_largest_is_wanted() {
        for (policy, chosen) in [(Policy::Priority, "slot"), (Policy::LargestFirst, "sort")] {
            let budget = Budget::watching(1000, policy, || None);
            let mut slot = budget.reserve_spillable("slot", priority::SLOT);
            let mut sort = budget.reserve_spillable("sort", priority::SORT);
            slot.resize(100);
            sort.resize(800);
            let asked: Vec<&str> =
                [&slot, &sort].iter().filter(|one| one.is_asked_to_spill()).map(|one| one.holder()).collect();
            assert_eq!(asked, [chosen]);
            // A holder with nothing to give back is not asked: it frees nothing, and that is no error.
            slot.resize(0);
            sort.resize(900);
            assert!(sort.is_asked_to_spill() && !slot.is_asked_to_spill());
        }
    }

    #[test]
    fn eng_89_the_resident_size_is_a_backstop() {
        let budget = Budget::watching(1000, Policy::Priority, || Some(1200));
        let mut holder = budget.reserve_spillable("sort", priority::SORT);
        holder.resize(100);
        assert!(!holder.is_asked_to_spill(), "there is nothing to gain");
        holder.resize(200);
        assert!(holder.is_asked_to_spill());
    }

    #[test]
    fn eng_88_the_soft_threshold_is_four_fifths() {
        assert_eq!(Budget::new(1000).soft(), 800);
    }
}
