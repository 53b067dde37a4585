//! Cells of a column as text, without an allocation per cell.

use arrow_array::{Array, BooleanArray, FixedSizeBinaryArray, StringViewArray};
use arrow_buffer::NullBuffer;

use super::scalars::{
    append_bool, append_cell, append_date, append_date_time, append_decimal, append_float, append_int,
};
use crate::column::decimal_at;
use crate::{Column, json};

/// Appends the cells of one column as CSV text. Made once a column and batch.
#[derive(Clone, Copy, Debug)]
pub enum CellWriter<'a> {
    /// Nothing but nulls.
    Null,
    /// Truth values.
    Bool(&'a BooleanArray),
    /// Integers.
    Int(&'a [i64], Option<&'a NullBuffer>),
    /// Binary64 numbers.
    Float(&'a [f64], Option<&'a NullBuffer>),
    /// Exact numbers.
    Decimal(&'a FixedSizeBinaryArray),
    /// Text.
    Text(&'a StringViewArray),
    /// Dates.
    Date(&'a [i32], Option<&'a NullBuffer>),
    /// Date-times.
    DateTime(&'a [i128], Option<&'a NullBuffer>),
    /// Values known only at run time: scalars as themselves, arrays and maps as compact JSON.
    Dynamic(&'a StringViewArray),
}

impl<'a> CellWriter<'a> {
    /// A writer of the cells of a column.
    pub fn new(column: &'a Column) -> CellWriter<'a> {
        match column {
            Column::Null(_) => CellWriter::Null,
            Column::Bool(array) => CellWriter::Bool(array),
            Column::Int(array) => CellWriter::Int(array.values(), some_nulls(array)),
            Column::Float(array) => CellWriter::Float(array.values(), some_nulls(array)),
            Column::Decimal(array) => CellWriter::Decimal(array),
            Column::Text(array) => CellWriter::Text(array),
            Column::Date(array) => CellWriter::Date(array.values(), some_nulls(array)),
            Column::DateTime(array) => CellWriter::DateTime(array.values(), some_nulls(array)),
            Column::Dynamic(_, array) => CellWriter::Dynamic(array),
        }
    }

    /// Whether the cells may hold any characters: those of other columns consist of letters, digits and `-+.:` only.
    pub fn is_free_text(&self) -> bool {
        matches!(self, CellWriter::Text(_) | CellWriter::Dynamic(_))
    }

    /// Appends the text of one cell; nothing for null.
    #[inline]
    pub fn append(&self, row: usize, out: &mut Vec<u8>) {
        let present = |nulls: &Option<&NullBuffer>| nulls.is_none_or(|nulls| nulls.is_valid(row));
        match self {
            CellWriter::Null => {}
            CellWriter::Int(values, nulls) if present(nulls) => append_int(values[row], out),
            CellWriter::Float(values, nulls) if present(nulls) => append_float(values[row], out),
            CellWriter::Date(values, nulls) if present(nulls) => append_date(values[row], out),
            CellWriter::DateTime(values, nulls) if present(nulls) => append_date_time(values[row], out),
            CellWriter::Int(..) | CellWriter::Float(..) | CellWriter::Date(..) | CellWriter::DateTime(..) => {}
            CellWriter::Text(array) if array.is_valid(row) => out.extend_from_slice(array.value(row).as_bytes()),
            CellWriter::Bool(array) if array.is_valid(row) => append_bool(array.value(row), out),
            CellWriter::Decimal(array) if array.is_valid(row) => append_decimal(decimal_at(array, row), out),
            CellWriter::Dynamic(array) if array.is_valid(row) => {
                append_cell(&json::from_tagged(array.value(row)), out);
            }
            CellWriter::Text(_) | CellWriter::Bool(_) | CellWriter::Decimal(_) | CellWriter::Dynamic(_) => {}
        }
    }
}

fn some_nulls(array: &impl Array) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}
