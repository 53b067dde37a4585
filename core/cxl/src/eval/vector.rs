//! The values of one expression over the rows of a frame.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::{Array, BooleanArray, Date32Array, Float64Array, Int64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use clinker_record::column::{date_time_array, decimal_at};
use clinker_record::{Column, Kind, Value};

use super::cell::Cell;
use super::text_builder::TextBuilder;
use crate::check::types::Base;

/// A vector of values. One that cannot vary in type is a [`Vector::Column`], or a scalar for all rows.
#[derive(Clone, Debug)]
pub(crate) enum Vector {
    /// One value for every row.
    Scalar(Value),
    /// An Arrow column of one kind; never [`Column::Dynamic`].
    Column(Column),
    /// Values of any types.
    Values(Rc<[Value]>),
    /// A dynamic column, parsed when a value of it is first asked for.
    Dynamic(Rc<Dynamic>),
}

/// A dynamic column with its values.
#[derive(Debug)]
pub(crate) struct Dynamic {
    column: Column,
    values: OnceCell<Rc<[Value]>>,
}

impl Dynamic {
    fn values(&self) -> &Rc<[Value]> {
        self.values.get_or_init(|| (0..self.column.len()).map(|row| self.column.value(row)).collect())
    }
}

impl Vector {
    /// Null for every row.
    pub(crate) const NULL: Vector = Vector::Scalar(Value::Null);

    /// A column of a batch, shared.
    pub(crate) fn from_column(column: Column) -> Vector {
        match column {
            Column::Dynamic(..) => Vector::Dynamic(Rc::new(Dynamic { column, values: OnceCell::new() })),
            Column::Null(_) => Vector::NULL,
            other => Vector::Column(other),
        }
    }

    /// Whether every row is null.
    pub(crate) fn is_all_null(&self) -> bool {
        matches!(self, Vector::Scalar(Value::Null) | Vector::Column(Column::Null(_)))
    }

    /// The value of a row, borrowed.
    #[inline]
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Vector::Scalar(value) => Cell::of(value),
            Vector::Column(column) => column_cell(column, row),
            Vector::Values(values) => Cell::of(&values[row]),
            Vector::Dynamic(dynamic) => Cell::of(&dynamic.values()[row]),
        }
    }

    /// Whether a value may be or hold a NaN, told without reading it where that is possible.
    pub(crate) fn may_hold_nan(&self, row: usize) -> bool {
        match self {
            Vector::Dynamic(dynamic) => match &dynamic.column {
                Column::Dynamic(_, texts) => !texts.is_null(row) && texts.value(row).contains("$float"),
                _ => true,
            },
            _ => true,
        }
    }

    /// Which rows are not null; nothing when all are.
    pub(crate) fn validity(&self, rows: usize) -> Option<NullBuffer> {
        match self {
            Vector::Scalar(Value::Null) | Vector::Column(Column::Null(_)) => Some(NullBuffer::new_null(rows)),
            Vector::Scalar(_) => None,
            Vector::Column(column) => column_nulls(column).cloned(),
            Vector::Values(values) => of_values(values),
            Vector::Dynamic(dynamic) => column_nulls(&dynamic.column).cloned(),
        }
    }

    /// The given rows.
    pub(crate) fn take(&self, rows: &[u32]) -> Vector {
        match self {
            Vector::Scalar(value) => Vector::Scalar(value.clone()),
            Vector::Column(column) => Vector::Column(column.take(rows)),
            Vector::Values(values) => Vector::Values(rows.iter().map(|&row| values[row as usize].clone()).collect()),
            Vector::Dynamic(dynamic) => Vector::from_column(dynamic.column.take(rows)),
        }
    }

    /// The vector as a column of a kind, `rows` long.
    pub(crate) fn into_column(self, kind: Kind, rows: usize) -> Column {
        match self {
            Vector::Scalar(value) => repeat(&value, kind, rows),
            Vector::Column(column) if kind == Kind::Any && column.kind() != Kind::Null => {
                let values: Vec<Value> = (0..rows).map(|row| column.value(row)).collect();
                Column::from_values(Kind::Any, &values)
            }
            Vector::Column(column) => column,
            Vector::Values(values) => Column::from_values(kind, &values),
            Vector::Dynamic(dynamic) => match &dynamic.column {
                Column::Dynamic(own, array) if *own != kind => Column::Dynamic(kind, array.clone()),
                column => column.clone(),
            },
        }
    }
}

fn of_values(values: &[Value]) -> Option<NullBuffer> {
    let validity = BooleanBuffer::collect_bool(values.len(), |row| !values[row].is_null());
    Some(NullBuffer::new(validity)).filter(|nulls| nulls.null_count() > 0)
}

/// Which rows of a column are not null.
pub(crate) fn column_nulls(column: &Column) -> Option<&NullBuffer> {
    match column {
        Column::Null(_) => None,
        Column::Bool(array) => array.nulls(),
        Column::Int(array) => array.nulls(),
        Column::Float(array) => array.nulls(),
        Column::Decimal(array) => array.nulls(),
        Column::Text(array) | Column::Dynamic(_, array) => array.nulls(),
        Column::Date(array) => array.nulls(),
        Column::DateTime(array) => array.nulls(),
    }
}

#[inline]
fn column_cell(column: &Column, row: usize) -> Cell<'_> {
    if column_nulls(column).is_some_and(|nulls| nulls.is_null(row)) {
        return Cell::Null;
    }
    match column {
        Column::Null(_) | Column::Dynamic(..) => Cell::Null,
        Column::Bool(array) => Cell::Bool(array.value(row)),
        Column::Int(array) => Cell::Int(array.value(row)),
        Column::Float(array) => Cell::Float(array.value(row)),
        Column::Decimal(array) => Cell::Decimal(decimal_at(array, row)),
        Column::Text(array) => Cell::Text(array.value(row)),
        Column::Date(array) => Cell::Date(array.value(row)),
        Column::DateTime(array) => Cell::DateTime(array.value(row)),
    }
}

/// A column that holds one value in every row.
fn repeat(value: &Value, kind: Kind, rows: usize) -> Column {
    match value {
        Value::Null => Column::Null(rows),
        _ if kind == Kind::Any => Column::from_values(kind, &vec![value.clone(); rows]),
        Value::Bool(value) => {
            let buffer = if *value { BooleanBuffer::new_set(rows) } else { BooleanBuffer::new_unset(rows) };
            Column::Bool(BooleanArray::new(buffer, None))
        }
        Value::Int(value) => Column::Int(Int64Array::from_value(*value, rows)),
        Value::Float(value) => Column::Float(Float64Array::from_value(*value, rows)),
        Value::Date(value) => Column::Date(Date32Array::from_value(*value, rows)),
        Value::DateTime(value) => Column::DateTime(date_time_array(vec![Some(*value); rows])),
        Value::String(text) => {
            let mut builder = StringViewBuilder::with_capacity(rows);
            builder.try_append_value_n(text, rows).expect("a string is shorter than 4 GiB");
            Column::Text(builder.finish())
        }
        Value::Decimal(value) => {
            let mut builder = FixedSizeBinaryBuilder::with_capacity(rows, 16);
            for _ in 0..rows {
                builder.append_value(value.to_bytes()).expect("a decimal takes 16 bytes");
            }
            Column::Decimal(builder.finish())
        }
        Value::Array(_) | Value::Map(_) => Column::from_values(kind, &vec![value.clone(); rows]),
    }
}

/// Values of a Rust type with their nulls, as a column.
pub(crate) fn int_vector(values: Vec<i64>, nulls: Option<NullBuffer>) -> Vector {
    Vector::Column(Column::Int(Int64Array::new(values.into(), nulls)))
}

/// As [`int_vector`], for floats.
pub(crate) fn float_vector(values: Vec<f64>, nulls: Option<NullBuffer>) -> Vector {
    Vector::Column(Column::Float(Float64Array::new(values.into(), nulls)))
}

/// As [`int_vector`], for truth values.
pub(crate) fn bool_vector(values: BooleanBuffer, nulls: Option<NullBuffer>) -> Vector {
    Vector::Column(Column::Bool(BooleanArray::new(values, nulls)))
}

/// Appends answers one by one and yields a vector of one static type.
pub(crate) enum Builder {
    Bool(Vec<Option<bool>>),
    Int(Vec<i64>, Nulls),
    Float(Vec<f64>, Nulls),
    Decimal(FixedSizeBinaryBuilder),
    Text(TextBuilder),
    Date(Vec<i32>, Nulls),
    DateTime(Vec<Option<i128>>),
    Values(Vec<Value>),
}

/// Validity that costs nothing until a null comes.
pub(crate) type Nulls = arrow_buffer::NullBufferBuilder;

impl Builder {
    /// A builder of a base type for so many rows.
    pub(crate) fn new(base: Base, rows: usize) -> Builder {
        match base {
            Base::Bool => Builder::Bool(Vec::with_capacity(rows)),
            Base::Int => Builder::Int(Vec::with_capacity(rows), Nulls::new(rows)),
            Base::Float => Builder::Float(Vec::with_capacity(rows), Nulls::new(rows)),
            Base::Decimal => Builder::Decimal(FixedSizeBinaryBuilder::with_capacity(rows, 16)),
            Base::String => Builder::Text(TextBuilder::new(rows)),
            Base::Date => Builder::Date(Vec::with_capacity(rows), Nulls::new(rows)),
            Base::DateTime => Builder::DateTime(Vec::with_capacity(rows)),
            Base::Null | Base::Any | Base::Numeric | Base::Array | Base::Map => {
                Builder::Values(Vec::with_capacity(rows))
            }
        }
    }

    /// Appends a value, which must be of the builder's type or null.
    #[inline]
    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Builder::Int(values, nulls), Cell::Int(value)) => {
                values.push(value);
                nulls.append_non_null();
            }
            (Builder::Float(values, nulls), Cell::Float(value)) => {
                values.push(value);
                nulls.append_non_null();
            }
            (Builder::Text(builder), Cell::Text(text)) => builder.push(text),
            (Builder::Bool(values), Cell::Bool(value)) => values.push(Some(value)),
            (Builder::Date(values, nulls), Cell::Date(value)) => {
                values.push(value);
                nulls.append_non_null();
            }
            (Builder::DateTime(values), Cell::DateTime(value)) => values.push(Some(value)),
            (Builder::Decimal(builder), Cell::Decimal(value)) => {
                builder.append_value(value.to_bytes()).expect("a decimal takes 16 bytes");
            }
            (Builder::Values(values), cell) => values.push(cell.to_value()),
            (builder, cell) => {
                debug_assert!(matches!(cell, Cell::Null), "a {} in a column of another type", cell.type_name());
                builder.push_null();
            }
        }
    }

    /// Appends a value that need not be copied.
    pub(crate) fn push_value(&mut self, value: Value) {
        match self {
            Builder::Values(values) => values.push(value),
            other => other.push(Cell::of(&value)),
        }
    }

    fn push_null(&mut self) {
        match self {
            Builder::Bool(values) => values.push(None),
            Builder::Int(values, nulls) => {
                values.push(0);
                nulls.append_null();
            }
            Builder::Float(values, nulls) => {
                values.push(0.0);
                nulls.append_null();
            }
            Builder::Decimal(builder) => builder.append_null(),
            Builder::Text(builder) => builder.push_null(),
            Builder::Date(values, nulls) => {
                values.push(0);
                nulls.append_null();
            }
            Builder::DateTime(values) => values.push(None),
            Builder::Values(values) => values.push(Value::Null),
        }
    }

    /// The vector of what was appended.
    pub(crate) fn finish(self) -> Vector {
        Vector::Column(match self {
            Builder::Bool(values) => Column::Bool(BooleanArray::from(values)),
            Builder::Int(values, nulls) => return int_vector(values, nulls.build()),
            Builder::Float(values, nulls) => return float_vector(values, nulls.build()),
            Builder::Decimal(mut builder) => Column::Decimal(builder.finish()),
            Builder::Text(builder) => Column::Text(builder.finish()),
            Builder::Date(values, nulls) => Column::Date(Date32Array::new(values.into(), nulls.build())),
            Builder::DateTime(values) => Column::DateTime(date_time_array(values)),
            Builder::Values(values) => return Vector::Values(values.into()),
        })
    }
}

/// The text of a literal as a shared value.
pub(crate) fn text_value(text: &str) -> Value {
    Value::String(Arc::from(text))
}
