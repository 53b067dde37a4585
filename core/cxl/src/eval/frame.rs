//! The rows an expression is evaluated for: a batch, or a selection of it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use clinker_record::Batch;

use super::budget::Budget;
use super::log::Log;
use super::vector::Vector;
use crate::run::RunContext;

/// Rows with their columns and variables. Columns are taken when they are first asked for.
pub(crate) struct Frame<'b> {
    pub(crate) batch: &'b Batch,
    pub(crate) run: &'b RunContext,
    pub(crate) budget: &'b Budget,
    pub(crate) log: &'b Log,
    /// Number of rows.
    pub(crate) rows: usize,
    parent: Option<(Rc<Frame<'b>>, Rc<[u32]>)>,
    batch_rows: OnceCell<Rc<[u32]>>,
    columns: RefCell<Vec<Option<Vector>>>,
    slots: RefCell<Vec<Option<Vector>>>,
}

impl<'b> Frame<'b> {
    /// All rows of a batch.
    pub(crate) fn whole(
        batch: &'b Batch,
        run: &'b RunContext,
        (budget, log): (&'b Budget, &'b Log),
        slots: usize,
    ) -> Rc<Frame<'b>> {
        Rc::new(Frame {
            batch,
            run,
            budget,
            log,
            rows: batch.rows,
            parent: None,
            batch_rows: OnceCell::new(),
            columns: RefCell::new(vec![None; batch.columns.len()]),
            slots: RefCell::new(vec![None; slots]),
        })
    }

    /// Some rows of a frame, ascending.
    pub(crate) fn select(self: &Rc<Self>, rows: Rc<[u32]>) -> Rc<Frame<'b>> {
        Rc::new(Frame {
            batch: self.batch,
            run: self.run,
            budget: self.budget,
            log: self.log,
            rows: rows.len(),
            parent: Some((Rc::clone(self), rows)),
            batch_rows: OnceCell::new(),
            columns: RefCell::new(vec![None; self.batch.columns.len()]),
            slots: RefCell::new(vec![None; self.slots.borrow().len()]),
        })
    }

    /// The batch rows of its rows; nothing when they are the batch.
    pub(crate) fn batch_rows(&self) -> Option<&Rc<[u32]>> {
        let (parent, rows) = self.parent.as_ref()?;
        Some(self.batch_rows.get_or_init(|| match parent.batch_rows() {
            None => Rc::clone(rows),
            Some(outer) => rows.iter().map(|&row| outer[row as usize]).collect(),
        }))
    }

    /// The batch row of a row.
    pub(crate) fn batch_row(&self, row: u32) -> u32 {
        self.batch_rows().map_or(row, |rows| rows[row as usize])
    }

    /// A column of the input.
    pub(crate) fn column(&self, index: usize) -> Vector {
        if let Some(known) = &self.columns.borrow()[index] {
            return known.clone();
        }
        let vector = match &self.parent {
            None => Vector::from_column(self.batch.columns[index].clone()),
            Some((parent, rows)) => match &parent.columns.borrow()[index] {
                Some(known) => known.take(rows),
                None => {
                    let rows = self.batch_rows().expect("a selection knows its rows");
                    Vector::from_column(self.batch.columns[index].take(rows))
                }
            },
        };
        self.columns.borrow_mut()[index] = Some(vector.clone());
        vector
    }

    /// Binds a variable.
    pub(crate) fn bind(&self, slot: usize, vector: Vector) {
        self.slots.borrow_mut()[slot] = Some(vector);
    }

    /// The value of a variable bound here or in the frame this one was selected from.
    pub(crate) fn slot(&self, slot: usize) -> Vector {
        if let Some(known) = &self.slots.borrow()[slot] {
            return known.clone();
        }
        let (parent, rows) = self.parent.as_ref().expect("a variable is bound before it is read");
        let vector = parent.slot(slot).take(rows);
        self.slots.borrow_mut()[slot] = Some(vector.clone());
        vector
    }
}
