//! A column: an Arrow array with the kind of its values.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int64Array,
    StringViewArray, UInt32Array, new_null_array,
};

use crate::{Decimal, Kind, Value, json};

/// The values of one column of a batch.
#[derive(Clone, Debug)]
pub enum Column {
    /// All null.
    Null(usize),
    /// Truth values.
    Bool(BooleanArray),
    /// 64-bit integers.
    Int(Int64Array),
    /// Binary64 numbers.
    Float(Float64Array),
    /// Exact numbers, each with its own scale: [`Decimal::to_bytes`], 16 bytes a value.
    Decimal(FixedSizeBinaryArray),
    /// Text.
    Text(StringViewArray),
    /// Days since 1970-01-01.
    Date(Date32Array),
    /// Nanoseconds since 1970-01-01T00:00:00, scale 0.
    DateTime(Decimal128Array),
    /// Arrays, maps or values known only at run time, as tagged JSON text (see [`crate::json`]).
    Dynamic(Kind, StringViewArray),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Null(rows) => *rows,
            Column::Bool(array) => array.len(),
            Column::Int(array) => array.len(),
            Column::Float(array) => array.len(),
            Column::Decimal(array) => array.len(),
            Column::Text(array) | Column::Dynamic(_, array) => array.len(),
            Column::Date(array) => array.len(),
            Column::DateTime(array) => array.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of its values.
    pub fn kind(&self) -> Kind {
        match self {
            Column::Null(_) => Kind::Null,
            Column::Bool(_) => Kind::Bool,
            Column::Int(_) => Kind::Int,
            Column::Float(_) => Kind::Float,
            Column::Decimal(_) => Kind::Decimal,
            Column::Text(_) => Kind::String,
            Column::Date(_) => Kind::Date,
            Column::DateTime(_) => Kind::DateTime,
            Column::Dynamic(kind, _) => *kind,
        }
    }

    fn array(&self) -> Option<&dyn Array> {
        Some(match self {
            Column::Null(_) => return None,
            Column::Bool(array) => array,
            Column::Int(array) => array,
            Column::Float(array) => array,
            Column::Decimal(array) => array,
            Column::Text(array) | Column::Dynamic(_, array) => array,
            Column::Date(array) => array,
            Column::DateTime(array) => array,
        })
    }

    /// Whether the value of a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.array().is_none_or(|array| array.is_null(row))
    }

    /// Number of null rows.
    pub fn null_count(&self) -> usize {
        self.array().map_or(self.len(), Array::null_count)
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match self {
            Column::Null(_) => Value::Null,
            Column::Bool(array) => Value::Bool(array.value(row)),
            Column::Int(array) => Value::Int(array.value(row)),
            Column::Float(array) => Value::Float(array.value(row)),
            Column::Decimal(array) => Value::Decimal(decimal_at(array, row)),
            Column::Text(array) => Value::String(array.value(row).into()),
            Column::Date(array) => Value::Date(array.value(row)),
            Column::DateTime(array) => Value::DateTime(array.value(row)),
            Column::Dynamic(_, array) => json::from_tagged(array.value(row)),
        }
    }

    /// The given rows, in the given order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Column {
        let Some(array) = self.array() else {
            return Column::Null(rows.len());
        };
        let index = UInt32Array::from(rows.to_vec());
        let taken = arrow_select::take::take(array, &index, None).expect("rows of the same batch are in range");
        self.same_kind(taken)
    }

    /// Picks rows from several columns: each pair is the position of a column and a row of it. A column that is all null
    /// may stand beside any kind; columns of different kinds together become `any`.
    ///
    /// # Panics
    /// When a row is out of range.
    #[must_use]
    pub fn gather(columns: &[&Column], rows: &[(usize, usize)]) -> Column {
        let mut kinds = columns.iter().filter(|column| column.array().is_some()).map(|column| column.kind());
        if let Some(first) = kinds.next()
            && kinds.any(|kind| kind != first)
        {
            let values: Vec<Value> = rows.iter().map(|(column, row)| columns[*column].value(*row)).collect();
            return Column::from_values(Kind::Any, &values);
        }
        let Some((typed, array)) = columns.iter().find_map(|column| Some((*column, column.array()?))) else {
            return Column::Null(rows.len());
        };
        let nulls: Vec<Option<ArrayRef>> = columns
            .iter()
            .map(|column| column.array().is_none().then(|| new_null_array(array.data_type(), column.len())))
            .collect();
        let arrays: Vec<&dyn Array> = columns
            .iter()
            .zip(&nulls)
            .map(|(column, nulls)| match (column.array(), nulls) {
                (Some(array), _) => array,
                (None, Some(nulls)) => nulls.as_ref(),
                (None, None) => unreachable!("an all-null column was given an array of nulls"),
            })
            .collect();
        let gathered = arrow_select::interleave::interleave(&arrays, rows).expect("columns of one kind, rows in range");
        typed.same_kind(gathered)
    }

    /// A slice of consecutive rows, sharing memory.
    #[must_use]
    pub fn slice(&self, offset: usize, len: usize) -> Column {
        match self {
            Column::Null(_) => Column::Null(len),
            Column::Bool(array) => Column::Bool(array.slice(offset, len)),
            Column::Int(array) => Column::Int(array.slice(offset, len)),
            Column::Float(array) => Column::Float(array.slice(offset, len)),
            Column::Decimal(array) => Column::Decimal(array.slice(offset, len)),
            Column::Text(array) => Column::Text(array.slice(offset, len)),
            Column::Date(array) => Column::Date(array.slice(offset, len)),
            Column::DateTime(array) => Column::DateTime(array.slice(offset, len)),
            Column::Dynamic(kind, array) => Column::Dynamic(*kind, array.slice(offset, len)),
        }
    }

    fn same_kind(&self, array: ArrayRef) -> Column {
        match self {
            Column::Null(_) => Column::Null(array.len()),
            Column::Bool(_) => Column::Bool(array.as_boolean().clone()),
            Column::Int(_) => Column::Int(array.as_primitive::<Int64Type>().clone()),
            Column::Float(_) => Column::Float(array.as_primitive::<Float64Type>().clone()),
            Column::Decimal(_) => Column::Decimal(array.as_fixed_size_binary().clone()),
            Column::Text(_) => Column::Text(array.as_string_view().clone()),
            Column::Date(_) => Column::Date(array.as_primitive::<Date32Type>().clone()),
            Column::DateTime(_) => Column::DateTime(array.as_primitive::<Decimal128Type>().clone()),
            Column::Dynamic(kind, _) => Column::Dynamic(*kind, array.as_string_view().clone()),
        }
    }

    /// Builds a column of a kind from single values, the slow way. Every non-null value must be of that kind (any
    /// value for `any`).
    ///
    /// # Panics
    /// When a value is of another kind: its maker has broken the type rules.
    pub fn from_values(kind: Kind, values: &[Value]) -> Column {
        match kind {
            Kind::Null => Column::Null(values.len()),
            Kind::Bool => Column::Bool(values.iter().map(|value| expect(value, as_bool)).collect()),
            Kind::Int => Column::Int(values.iter().map(|value| expect(value, as_int)).collect()),
            Kind::Float => Column::Float(values.iter().map(|value| expect(value, as_float)).collect()),
            Kind::Date => Column::Date(values.iter().map(|value| expect(value, as_date)).collect()),
            Kind::DateTime => {
                Column::DateTime(date_time_array(values.iter().map(|value| expect(value, as_date_time)).collect()))
            }
            Kind::Decimal => {
                let mut builder = FixedSizeBinaryBuilder::with_capacity(values.len(), 16);
                for value in values {
                    match expect(value, as_decimal) {
                        None => builder.append_null(),
                        Some(decimal) => {
                            builder.append_value(decimal.to_bytes()).expect("a decimal takes 16 bytes");
                        }
                    }
                }
                Column::Decimal(builder.finish())
            }
            Kind::String => {
                let mut builder = StringViewBuilder::with_capacity(values.len());
                for value in values {
                    builder.append_option(expect(value, as_text));
                }
                Column::Text(builder.finish())
            }
            Kind::Array | Kind::Map | Kind::Any => {
                let mut builder = StringViewBuilder::with_capacity(values.len());
                for value in values {
                    if value.is_null() {
                        builder.append_null();
                    } else {
                        builder.append_value(json::to_tagged(value));
                    }
                }
                Column::Dynamic(kind, builder.finish())
            }
        }
    }

    /// The values of several columns, one after the other. A column that is all null may stand beside any kind; columns
    /// of different kinds together become `any`.
    #[must_use]
    pub fn concat(columns: &[&Column]) -> Column {
        let mut kinds = columns.iter().filter(|column| column.array().is_some()).map(|column| column.kind());
        let rows = columns.iter().map(|column| column.len()).sum();
        let Some(first) = kinds.next() else { return Column::Null(rows) };
        if kinds.any(|kind| kind != first) {
            let values = columns.iter().flat_map(|column| (0..column.len()).map(|row| column.value(row)));
            return Column::from_values(Kind::Any, &values.collect::<Vec<_>>());
        }
        let Some((typed, like)) = columns.iter().find_map(|column| Some((*column, column.array()?))) else {
            return Column::Null(rows);
        };
        let nulls: Vec<Option<ArrayRef>> = columns
            .iter()
            .map(|column| column.array().is_none().then(|| new_null_array(like.data_type(), column.len())))
            .collect();
        let array = |(column, nulls): (&&Column, &'_ Option<ArrayRef>)| -> ArrayRef {
            match (column.array(), nulls) {
                (Some(array), _) => array.slice(0, array.len()),
                (None, Some(nulls)) => Arc::clone(nulls),
                (None, None) => unreachable!("an all-null column was given an array of nulls"),
            }
        };
        let arrays: Vec<ArrayRef> = columns.iter().zip(&nulls).map(array).collect();
        let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
        typed.same_kind(arrow_select::concat::concat(&arrays).expect("columns of one kind"))
    }

    /// The same values with text of their own.
    #[must_use]
    pub fn compact(self) -> Column {
        match self {
            Column::Text(array) => Column::Text(array.gc()),
            Column::Dynamic(kind, array) => Column::Dynamic(kind, array.gc()),
            other => other,
        }
    }

    /// Bytes its buffers hold, shared ones included.
    pub fn memory_size(&self) -> usize {
        self.array().map_or(0, Array::get_buffer_memory_size)
    }
}

/// The decimal in a row of a decimal column.
pub fn decimal_at(array: &FixedSizeBinaryArray, row: usize) -> Decimal {
    Decimal::from_bytes(array.value(row).try_into().expect("a decimal takes 16 bytes"))
}

/// A date-time array of the type all date-time columns share.
pub fn date_time_array(nanos: Vec<Option<i128>>) -> Decimal128Array {
    Decimal128Array::from(nanos).with_precision_and_scale(38, 0).expect("38 digits are the widest precision")
}

fn expect<'a, T>(value: &'a Value, get: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
    if value.is_null() {
        return None;
    }
    Some(get(value).unwrap_or_else(|| panic!("a {} value in a column of another kind", value.type_name())))
}

fn as_bool(value: &Value) -> Option<bool> {
    if let Value::Bool(inner) = value { Some(*inner) } else { None }
}

fn as_int(value: &Value) -> Option<i64> {
    if let Value::Int(inner) = value { Some(*inner) } else { None }
}

fn as_float(value: &Value) -> Option<f64> {
    if let Value::Float(inner) = value { Some(*inner) } else { None }
}

fn as_date(value: &Value) -> Option<i32> {
    if let Value::Date(inner) = value { Some(*inner) } else { None }
}

fn as_date_time(value: &Value) -> Option<i128> {
    if let Value::DateTime(inner) = value { Some(*inner) } else { None }
}

fn as_decimal(value: &Value) -> Option<Decimal> {
    if let Value::Decimal(inner) = value { Some(*inner) } else { None }
}

fn as_text(value: &Value) -> Option<Arc<str>> {
    if let Value::String(inner) = value { Some(Arc::clone(inner)) } else { None }
}
