//! Three-valued logic over selections of rows.

use std::rc::Rc;

use arrow_array::Array;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use clinker_diagnostics::Span;
use clinker_record::{Column, Value};

use super::branch::Selected;
use super::cell;
use super::evaluate;
use super::faults::Faults;
use super::frame::Frame;
use super::vector::{Vector, bool_vector};
use crate::check::types::Base;
use crate::ir::{Node, NodeKind};

/// Which rows are true and which are false; the others are null.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) yes: BooleanBuffer,
    pub(super) no: BooleanBuffer,
}

impl Truth {
    fn constant(value: Option<bool>, rows: usize) -> Truth {
        let bits = |set| if set { BooleanBuffer::new_set(rows) } else { BooleanBuffer::new_unset(rows) };
        Truth { yes: bits(value == Some(true)), no: bits(value == Some(false)) }
    }

    /// The truth of values; one that is neither Bool nor null fails its row.
    pub(super) fn of(vector: &Vector, rows: usize, span: Span, faults: &mut Faults) -> Truth {
        match vector {
            Vector::Scalar(Value::Bool(value)) => Truth::constant(Some(*value), rows),
            Vector::Scalar(Value::Null) | Vector::Column(Column::Null(_)) => Truth::constant(None, rows),
            Vector::Column(Column::Bool(array)) => match array.nulls() {
                None => Truth { yes: array.values().clone(), no: !array.values() },
                Some(nulls) => Truth { yes: array.values() & nulls.inner(), no: &!array.values() & nulls.inner() },
            },
            other => {
                let (mut yes, mut no) = (BooleanBufferBuilder::new(rows), BooleanBufferBuilder::new(rows));
                for row in 0..rows {
                    let value = cell::truth(other.cell(row)).unwrap_or_else(|error| {
                        faults.at(row, span, error);
                        None
                    });
                    yes.append(value == Some(true));
                    no.append(value == Some(false));
                }
                Truth { yes: yes.finish(), no: no.finish() }
            }
        }
    }

    /// As a vector of Bool.
    pub(super) fn into_vector(self) -> Vector {
        let nulls = NullBuffer::new(&self.yes | &self.no);
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        bool_vector(self.yes, nulls)
    }

    /// Puts the truth of some rows in the place of those rows; the others are false for `and`, true for `or`.
    fn spread(self, rows: &[u32], all: usize, and: bool) -> Truth {
        let spread = |bits: &BooleanBuffer, others: bool| {
            let mut spread = BooleanBufferBuilder::new(all);
            spread.append_n(all, others);
            for (at, &row) in rows.iter().enumerate() {
                spread.set_bit(row as usize, bits.value(at));
            }
            spread.finish()
        };
        Truth { yes: spread(&self.yes, !and), no: spread(&self.no, and) }
    }
}

/// The truth of a condition.
pub(super) fn truth(frame: &Rc<Frame<'_>>, condition: &Node, faults: &mut Faults) -> Truth {
    match &condition.kind {
        NodeKind::Not(inner) => {
            let Truth { yes, no } = truth(frame, inner, faults);
            Truth { yes: no, no: yes }
        }
        NodeKind::And(operands) => chain(frame, operands, true, faults),
        NodeKind::Or(operands) => chain(frame, operands, false, faults),
        _ => {
            let vector = evaluate(frame, condition, faults);
            Truth::of(&vector, frame.rows, condition.span, faults)
        }
    }
}

/// `and` and `or`: an operand is evaluated for the rows that are not decided yet.
fn chain(frame: &Rc<Frame<'_>>, operands: &[Node], and: bool, faults: &mut Faults) -> Truth {
    let (first, rest) = operands.split_first().expect("a chain has operands");
    let mut result = truth(frame, first, faults);
    for operand in rest {
        let decided = if and { &result.no } else { &result.yes };
        let decided_rows = decided.count_set_bits();
        if decided_rows == frame.rows {
            return result;
        }
        // A free operand cannot fail as a value; as a condition it can, unless it is Bool.
        let free = operand.is_free() && matches!(operand.ty.base, Base::Bool | Base::Null);
        let right = if decided_rows == 0 || free {
            truth(frame, operand, faults)
        } else {
            let open: Rc<[u32]> = (!decided).set_indices_u32().collect();
            let mut selected = Selected::new(frame, &open);
            let right = truth(&selected.frame, operand, &mut selected.faults);
            selected.report(faults);
            right.spread(&open, frame.rows, and)
        };
        result = if and {
            Truth { yes: &result.yes & &right.yes, no: &result.no | &right.no }
        } else {
            Truth { yes: &result.yes | &right.yes, no: &result.no & &right.no }
        };
    }
    result
}
