//! Comparison kernels.

use std::cmp::Ordering;

use arrow_array::{Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use clinker_diagnostics::Span;
use clinker_record::{Column, Value};

use super::arithmetic::{Operand, by_row, floats, ints, scalar};
use super::cell::{self, Cell};
use super::faults::Faults;
use super::vector::{Vector, bool_vector};
use crate::check::types::Base;
use crate::outcome::EvalError;
use crate::syntax::ast::CompareOp;

/// One comparison over all rows.
pub(super) fn compare(
    op: CompareOp,
    left: &Vector,
    right: &Vector,
    rows: usize,
    span: Span,
    faults: &mut Faults,
) -> Vector {
    if left.is_all_null() || right.is_all_null() {
        return Vector::NULL;
    }
    if let (Vector::Scalar(a), Vector::Scalar(b)) = (left, right) {
        return scalar(truth_value(cell::compare(op, Cell::of(a), Cell::of(b))), rows, span, faults);
    }
    if let Some(values) = fixed(op, left, right, rows) {
        let nulls = NullBuffer::union(left.validity(rows).as_ref(), right.validity(rows).as_ref());
        return bool_vector(values, nulls);
    }
    by_row(Base::Bool, rows, span, faults, |row| truth_value(cell::compare(op, left.cell(row), right.cell(row))))
}

fn truth_value(result: Result<Option<bool>, EvalError>) -> Result<Value, EvalError> {
    result.map(|value| value.map_or(Value::Null, Value::Bool))
}

/// Kernels of kinds whose comparison cannot fail. Null slots hold some value, so they may be compared too.
pub(super) fn fixed(op: CompareOp, left: &Vector, right: &Vector, rows: usize) -> Option<BooleanBuffer> {
    if let (Some(a), Some(b)) = (ints(left), ints(right)) {
        return Some(ordered(op, &a, &b, rows));
    }
    if let (Some(a), Some(b)) = (floats(left), floats(right)) {
        return Some(ordered(op, &a, &b, rows));
    }
    if let (Some(a), Some(b)) = (ints(left), floats(right)) {
        let holds = |row| cell::holds(op, cell::compare_int_float(a.get(row), b.get(row)));
        return Some(BooleanBuffer::collect_bool(rows, holds));
    }
    if let (Some(a), Some(b)) = (floats(left), ints(right)) {
        let order = |row| cell::compare_int_float(b.get(row), a.get(row)).map(Ordering::reverse);
        return Some(BooleanBuffer::collect_bool(rows, |row| cell::holds(op, order(row))));
    }
    match (left, right) {
        (Vector::Column(Column::Text(a)), Vector::Scalar(Value::String(b))) => Some(text_with(op, a, b, false)),
        (Vector::Scalar(Value::String(a)), Vector::Column(Column::Text(b))) => Some(text_with(op, b, a, true)),
        (Vector::Column(Column::Text(a)), Vector::Column(Column::Text(b))) => {
            Some(BooleanBuffer::collect_bool(rows, |row| cell::holds(op, Some(a.value(row).cmp(b.value(row))))))
        }
        (Vector::Column(Column::Date(a)), Vector::Column(Column::Date(b))) => {
            Some(BooleanBuffer::collect_bool(rows, |row| cell::holds(op, Some(a.value(row).cmp(&b.value(row))))))
        }
        (Vector::Column(Column::Date(a)), Vector::Scalar(Value::Date(b))) => {
            Some(BooleanBuffer::collect_bool(rows, |row| cell::holds(op, Some(a.value(row).cmp(b)))))
        }
        (Vector::Column(Column::DateTime(a)), Vector::Column(Column::DateTime(b))) => {
            Some(BooleanBuffer::collect_bool(rows, |row| cell::holds(op, Some(a.value(row).cmp(&b.value(row))))))
        }
        _ => None,
    }
}

/// Values whose operators are those of the machine; NaN satisfies only `!=`.
fn ordered<T: Copy + PartialOrd>(
    op: CompareOp,
    left: &Operand<'_, T>,
    right: &Operand<'_, T>,
    rows: usize,
) -> BooleanBuffer {
    match op {
        CompareOp::Equal => collect(left, right, rows, |a, b| a == b),
        CompareOp::NotEqual => collect(left, right, rows, |a, b| a != b),
        CompareOp::Less => collect(left, right, rows, |a, b| a < b),
        CompareOp::LessOrEqual => collect(left, right, rows, |a, b| a <= b),
        CompareOp::Greater => collect(left, right, rows, |a, b| a > b),
        CompareOp::GreaterOrEqual => collect(left, right, rows, |a, b| a >= b),
    }
}

fn collect<T: Copy>(
    left: &Operand<'_, T>,
    right: &Operand<'_, T>,
    rows: usize,
    holds: impl Fn(T, T) -> bool,
) -> BooleanBuffer {
    match (left, right) {
        (Operand::Each(a), Operand::One(b)) => BooleanBuffer::collect_bool(rows, |row| holds(a[row], *b)),
        (Operand::Each(a), Operand::Each(b)) => BooleanBuffer::collect_bool(rows, |row| holds(a[row], b[row])),
        _ => BooleanBuffer::collect_bool(rows, |row| holds(left.get(row), right.get(row))),
    }
}

/// Text against one text, which stands on the left if `swapped`.
fn text_with(op: CompareOp, column: &StringViewArray, text: &str, swapped: bool) -> BooleanBuffer {
    let rows = column.len();
    match op {
        // Most values differ in length, which the view tells without a look at the bytes.
        CompareOp::Equal => BooleanBuffer::collect_bool(rows, |row| same_text(column, row, text)),
        CompareOp::NotEqual => BooleanBuffer::collect_bool(rows, |row| !same_text(column, row, text)),
        _ => BooleanBuffer::collect_bool(rows, |row| {
            let order = column.value(row).cmp(text);
            cell::holds(op, Some(if swapped { order.reverse() } else { order }))
        }),
    }
}

#[inline]
fn same_text(column: &StringViewArray, row: usize, text: &str) -> bool {
    column.views()[row] as u32 as usize == text.len() && column.value(row) == text
}
