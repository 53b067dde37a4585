//! How many bytes one batch, and one record of it, may build.
//!
//! Each text has a limit of its own, but a batch has thousands of rows: without a bound on their sum, one expression
//! could ask for any amount of memory. Kernels charge what they build; when the budget is exceeded they stop, the rest
//! of the evaluation is null, and the caller evaluates the batch again in smaller pieces. What one record builds has
//! limits that fail the record, so that a batch of one row always has an outcome.

use std::cell::{Cell, RefCell};

use super::faults;
use crate::outcome::EvalError;

/// Containers inside one another.
pub(crate) const MAX_DEPTH: usize = 64;
/// Cost of all literals and comprehensions that are evaluated for one record.
const MAX_CONSTRUCTED: usize = 10_485_760;
/// Cost of all arrays and maps that methods build for one record. The language bounds only constructors; without this
/// bound a map merged into itself again and again would grow without end.
const MAX_BUILT: usize = 64 << 20;

/// A bound on the bytes built for one batch, temporary ones included.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
    exceeded: Cell<bool>,
    /// What each batch row has built, once one has.
    rows: RefCell<Vec<RowCost>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RowCost {
    constructed: usize,
    built: usize,
}

impl Budget {
    /// So many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), exceeded: Cell::new(false), rows: RefCell::default() }
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

    /// Charges what a literal or a comprehension costs a batch row.
    pub(crate) fn construct(&self, row: u32, cost: usize) -> Result<(), EvalError> {
        self.row(row, cost, MAX_CONSTRUCTED, |row| &mut row.constructed)
    }

    /// Charges what a method has built for a batch row.
    pub(crate) fn build(&self, row: u32, cost: usize) -> Result<(), EvalError> {
        self.row(row, cost, MAX_BUILT, |row| &mut row.built)
    }

    /// Evaluates without counting against the limits of the rows.
    pub(crate) fn apart<T>(&self, evaluate: impl FnOnce() -> T) -> T {
        let rows = self.rows.take();
        let result = evaluate();
        self.rows.replace(rows);
        result
    }

    fn row(
        &self,
        row: u32,
        cost: usize,
        limit: usize,
        sum: impl FnOnce(&mut RowCost) -> &mut usize,
    ) -> Result<(), EvalError> {
        let mut rows = self.rows.borrow_mut();
        let row = row as usize;
        if rows.len() <= row {
            rows.resize(row + 1, RowCost::default());
        }
        let sum = sum(&mut rows[row]);
        *sum = sum.saturating_add(cost);
        // When the batch is too large, the error stops the row and is never seen.
        if *sum > limit || !self.charge(cost) { Err(faults::construction_limit(limit)) } else { Ok(()) }
    }
}

/// Refuses an array or map of a method that alone is over the limit.
pub(crate) fn check_built(cost: usize) -> Result<(), EvalError> {
    if cost > MAX_BUILT { Err(faults::construction_limit(MAX_BUILT)) } else { Ok(()) }
}
