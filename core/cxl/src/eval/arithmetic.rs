//! Arithmetic kernels.

use std::borrow::Cow;

use arrow_buffer::NullBuffer;
use clinker_diagnostics::Span;
use clinker_record::{Column, Decimal, Value};

use super::cell::{self, Cell};
use super::faults::Faults;
use super::frame::Frame;
use super::text_builder::TextBuilder;
use super::vector::{Builder, Vector, float_vector, int_vector};
use crate::check::types::Base;
use crate::outcome::EvalError;
use crate::syntax::ast::ArithmeticOp;

/// Numbers of one Rust type: one a row, or one for all.
pub(super) enum Operand<'a, T: Copy> {
    Each(Cow<'a, [T]>),
    One(T),
}

impl<T: Copy> Operand<'_, T> {
    #[inline]
    pub(super) fn get(&self, row: usize) -> T {
        match self {
            Operand::Each(values) => values[row],
            Operand::One(value) => *value,
        }
    }
}

/// Applies a function to two operands, row by row, without a branch inside the loop.
pub(super) fn zip<A: Copy, B: Copy, O: Clone>(
    left: &Operand<'_, A>,
    right: &Operand<'_, B>,
    rows: usize,
    mut apply: impl FnMut(A, B) -> O,
) -> Vec<O> {
    match (left, right) {
        (Operand::Each(left), Operand::Each(right)) => left.iter().zip(&**right).map(|(a, b)| apply(*a, *b)).collect(),
        (Operand::Each(left), Operand::One(b)) => left.iter().map(|a| apply(*a, *b)).collect(),
        (Operand::One(a), Operand::Each(right)) => right.iter().map(|b| apply(*a, *b)).collect(),
        (Operand::One(a), Operand::One(b)) => vec![apply(*a, *b); rows],
    }
}

/// The integers of a vector of integers.
pub(super) fn ints(vector: &Vector) -> Option<Operand<'_, i64>> {
    match vector {
        Vector::Column(Column::Int(array)) => Some(Operand::Each(Cow::Borrowed(array.values()))),
        Vector::Scalar(Value::Int(value)) => Some(Operand::One(*value)),
        _ => None,
    }
}

/// The floats of a vector of floats.
pub(super) fn floats(vector: &Vector) -> Option<Operand<'_, f64>> {
    match vector {
        Vector::Column(Column::Float(array)) => Some(Operand::Each(Cow::Borrowed(array.values()))),
        Vector::Scalar(Value::Float(value)) => Some(Operand::One(*value)),
        _ => None,
    }
}

/// The numbers of a vector of floats or integers, as floats.
fn as_floats(vector: &Vector) -> Option<Operand<'_, f64>> {
    floats(vector).or_else(|| match ints(vector)? {
        Operand::Each(values) => Some(Operand::Each(values.iter().map(|value| *value as f64).collect())),
        Operand::One(value) => Some(Operand::One(value as f64)),
    })
}

/// One operator over all rows.
pub(super) fn binary(
    op: ArithmeticOp,
    (left, right): (&Vector, &Vector),
    frame: &Frame<'_>,
    span: Span,
    faults: &mut Faults,
) -> Vector {
    let rows = frame.rows;
    if left.is_all_null() || right.is_all_null() {
        return Vector::NULL;
    }
    if let (Vector::Scalar(a), Vector::Scalar(b)) = (left, right) {
        return scalar(cell::arithmetic(op, Cell::of(a), Cell::of(b)), rows, span, faults);
    }
    let nulls = || NullBuffer::union(left.validity(rows).as_ref(), right.validity(rows).as_ref());
    if let (Some(a), Some(b)) = (ints(left), ints(right)) {
        return int_binary(op, (&a, &b), nulls(), rows, |row, error| faults.at(row, span, error));
    }
    if let (Some(a), Some(b)) = (as_floats(left), as_floats(right)) {
        return float_binary(op, (&a, &b), nulls(), rows, |row, error| faults.at(row, span, error));
    }
    match (left, right) {
        (Vector::Column(Column::Text(_)) | Vector::Scalar(Value::String(_)), Vector::Column(Column::Text(_)))
        | (Vector::Column(Column::Text(_)), Vector::Scalar(Value::String(_)))
            if op == ArithmeticOp::Add =>
        {
            concatenate(left, right, frame, span, faults)
        }
        _ => by_row(arithmetic_base(left, right), rows, span, faults, |row| {
            let result = cell::arithmetic(op, left.cell(row), right.cell(row));
            match &result {
                Ok(Value::String(text)) if !frame.budget.charge(text.len()) => Ok(Value::Null),
                _ => result,
            }
        }),
    }
}

/// The type that both sides have as columns, when the result has it too.
fn arithmetic_base(left: &Vector, right: &Vector) -> Base {
    let decimal =
        |vector: &Vector| matches!(vector, Vector::Column(Column::Decimal(_)) | Vector::Scalar(Value::Decimal(_)));
    let exact = |vector: &Vector| decimal(vector) || ints(vector).is_some();
    if (decimal(left) && exact(right)) || (exact(left) && decimal(right)) { Base::Decimal } else { Base::Any }
}

/// The slow way: value by value.
pub(super) fn by_row(
    base: Base,
    rows: usize,
    span: Span,
    faults: &mut Faults,
    apply: impl Fn(usize) -> Result<Value, EvalError>,
) -> Vector {
    let mut builder = Builder::new(base, rows);
    for row in 0..rows {
        match apply(row) {
            Ok(value) => builder.push(Cell::of(&value)),
            Err(error) => {
                builder.push(Cell::Null);
                faults.at(row, span, error);
            }
        }
    }
    builder.finish()
}

/// One result for all rows.
pub(super) fn scalar(result: Result<Value, EvalError>, rows: usize, span: Span, faults: &mut Faults) -> Vector {
    match result {
        Ok(value) => Vector::Scalar(value),
        Err(error) => {
            faults.all(rows, span, &error);
            Vector::NULL
        }
    }
}

type Pair<'p, 'a, T> = (&'p Operand<'a, T>, &'p Operand<'a, T>);

fn int_binary(
    op: ArithmeticOp,
    (left, right): Pair<'_, '_, i64>,
    nulls: Option<NullBuffer>,
    rows: usize,
    mut fail: impl FnMut(usize, EvalError),
) -> Vector {
    let mut bad = false;
    let mut flagged = |(value, overflow): (i64, bool)| {
        bad |= overflow;
        value
    };
    let values = match op {
        ArithmeticOp::Add => zip(left, right, rows, |a, b| flagged(a.overflowing_add(b))),
        ArithmeticOp::Subtract => zip(left, right, rows, |a, b| flagged(a.overflowing_sub(b))),
        ArithmeticOp::Multiply => zip(left, right, rows, |a, b| flagged(a.overflowing_mul(b))),
        ArithmeticOp::Divide => {
            zip(left, right, rows, |a, b| flagged(if b == 0 { (0, true) } else { a.overflowing_div(b) }))
        }
        ArithmeticOp::Remainder => {
            zip(left, right, rows, |a, b| flagged(if b == 0 { (0, true) } else { (a.wrapping_rem(b), false) }))
        }
    };
    if bad {
        for_valid(nulls.as_ref(), rows, |row| {
            if let Err(error) = cell::int_arithmetic(op, left.get(row), right.get(row)) {
                fail(row, error);
            }
        });
    }
    int_vector(values, nulls)
}

fn float_binary(
    op: ArithmeticOp,
    (left, right): Pair<'_, '_, f64>,
    nulls: Option<NullBuffer>,
    rows: usize,
    mut fail: impl FnMut(usize, EvalError),
) -> Vector {
    let divides = matches!(op, ArithmeticOp::Divide | ArithmeticOp::Remainder);
    let mut zero = false;
    let mut seen = |b: f64| zero |= b == 0.0;
    let values = match op {
        ArithmeticOp::Add => zip(left, right, rows, |a, b| a + b),
        ArithmeticOp::Subtract => zip(left, right, rows, |a, b| a - b),
        ArithmeticOp::Multiply => zip(left, right, rows, |a, b| a * b),
        ArithmeticOp::Divide | ArithmeticOp::Remainder => zip(left, right, rows, |a, b| {
            seen(b);
            cell::float_result(op, a, b)
        }),
    };
    if divides && zero {
        for_valid(nulls.as_ref(), rows, |row| {
            if let Err(error) = cell::float_arithmetic(op, left.get(row), right.get(row)) {
                fail(row, error);
            }
        });
    }
    float_vector(values, nulls)
}

/// Calls for every row that is not null.
pub(super) fn for_valid(nulls: Option<&NullBuffer>, rows: usize, mut visit: impl FnMut(usize)) {
    match nulls {
        None => (0..rows).for_each(visit),
        Some(nulls) => nulls.valid_indices().for_each(&mut visit),
    }
}

/// `+` of text: the pieces of all rows go into one growing buffer.
fn concatenate(left: &Vector, right: &Vector, frame: &Frame<'_>, span: Span, faults: &mut Faults) -> Vector {
    let mut builder = TextBuilder::new(frame.rows);
    for row in 0..frame.rows {
        let (Cell::Text(a), Cell::Text(b)) = (left.cell(row), right.cell(row)) else {
            builder.push_null();
            continue;
        };
        if let Err(error) = cell::check_text(a.len() + b.len()) {
            faults.at(row, span, error);
            builder.push_null();
            continue;
        }
        if !frame.budget.charge(a.len() + b.len()) {
            return Vector::NULL;
        }
        builder.push_joined(a, b);
    }
    Vector::Column(Column::Text(builder.finish()))
}

/// Negation over all rows.
pub(super) fn negate(inner: &Vector, rows: usize, span: Span, faults: &mut Faults) -> Vector {
    match inner {
        Vector::Scalar(value) => scalar(cell::negate(Cell::of(value)), rows, span, faults),
        Vector::Column(Column::Float(array)) => {
            float_vector(array.values().iter().map(|value| -value).collect(), inner.validity(rows))
        }
        Vector::Column(Column::Int(array)) => {
            let nulls = inner.validity(rows);
            let values: Vec<i64> = array.values().iter().map(|value| value.wrapping_neg()).collect();
            if array.values().contains(&i64::MIN) {
                for_valid(nulls.as_ref(), rows, |row| {
                    if let Err(error) = cell::negate(Cell::Int(array.value(row))) {
                        faults.at(row, span, error);
                    }
                });
            }
            int_vector(values, nulls)
        }
        Vector::Column(Column::Decimal(_)) => {
            by_row(Base::Decimal, rows, span, faults, |row| cell::negate(inner.cell(row)))
        }
        _ => by_row(Base::Any, rows, span, faults, |row| cell::negate(inner.cell(row))),
    }
}

/// An Int as Float or Decimal; everything else as it is.
pub(super) fn widen(inner: &Vector, base: Base, rows: usize) -> Vector {
    match (inner, base) {
        (Vector::Scalar(Value::Int(value)), Base::Float) => Vector::Scalar(Value::Float(*value as f64)),
        (Vector::Scalar(Value::Int(value)), _) => Vector::Scalar(Value::Decimal(Decimal::from_i64(*value))),
        (Vector::Column(Column::Int(array)), Base::Float) => {
            float_vector(array.values().iter().map(|value| *value as f64).collect(), inner.validity(rows))
        }
        (Vector::Column(Column::Int(_)), _) => {
            let mut builder = Builder::new(Base::Decimal, rows);
            for row in 0..rows {
                builder.push(match inner.cell(row) {
                    Cell::Int(value) => Cell::Decimal(Decimal::from_i64(value)),
                    other => other,
                });
            }
            builder.finish()
        }
        _ => inner.clone(),
    }
}
