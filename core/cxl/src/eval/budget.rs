//! How many bytes one batch may build.
//!
//! Each text has a limit of its own, but a batch has thousands of rows: without a bound on their sum, one expression
//! could ask for any amount of memory. Kernels charge what they build; when the budget is exceeded they stop, the rest
//! of the evaluation is null, and the caller evaluates the batch again in smaller pieces.

use std::cell::Cell;

/// A bound on the bytes built for one batch, temporary ones included.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
    exceeded: Cell<bool>,
}

impl Budget {
    /// So many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), exceeded: Cell::new(false) }
    }

    /// Charges bytes that are about to be built, or were. The answer says whether to go on.
    #[inline]
    pub(crate) fn charge(&self, bytes: usize) -> bool {
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None => self.exceeded.set(true),
        }
        !self.exceeded.get()
    }

    /// Whether more was built than may be.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded.get()
    }
}
