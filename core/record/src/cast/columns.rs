//! Whole columns at once.

use std::collections::HashSet;

use arrow_array::builder::make_view;
use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int64Array, StringViewArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, ScalarBuffer, bit_util};

use super::json_cells::{json_float, untyped_json};
use super::primitives::{parse_bool, parse_float, parse_int};
use super::scalar::{Cell, Rejection, admit_cell, parse_date, parse_date_time};
use super::{AdmitRule, Cells, Failing};
use crate::cells::{CellRef, JsonCells, JsonKind, TextCells};
use crate::datetime::{parse_default_date, parse_default_date_time, parse_iso_date};
use crate::{Column, Decimal, Kind, Value};

/// Notes the failing rows of one column.
pub(super) struct Failures<'a> {
    column: u32,
    into: &'a mut Vec<Failing>,
}

impl<'a> Failures<'a> {
    pub(super) fn new(column: usize, into: &'a mut Vec<Failing>) -> Failures<'a> {
        Failures { column: column as u32, into }
    }

    fn add(&mut self, row: usize, structural: bool) {
        self.into.push(Failing { row: row as u32, column: self.column, structural });
    }
}

/// Admits one column.
pub(super) fn admit_column(rule: &AdmitRule, cells: &Cells, failures: &mut Failures<'_>) -> Column {
    match cells {
        Cells::Absent(rows) => absent(rule, *rows, failures),
        Cells::Text(cells) if !rule.multiple && rule.coerce => from_text(rule, cells, failures),
        Cells::Text(cells) => {
            let cell = |row| admit_cell(rule, cells.text(row).map_or(Cell::Absent, Cell::Text));
            one_by_one(rule, cells.len(), cell, failures)
        }
        Cells::Native(column) if passes_unchanged(rule, column) => column.clone(),
        Cells::Native(column) => {
            let cell = |row| admit_cell(rule, Cell::Native(&column.value(row)));
            one_by_one(rule, column.len(), cell, failures)
        }
        Cells::Json(cells) => from_json(rule, cells, failures),
    }
}

/// JSON values: loops where all cells of a column are of the kind that fits its type, else one by one.
fn from_json(rule: &AdmitRule, cells: &JsonCells, failures: &mut Failures<'_>) -> Column {
    const HOLES: u8 = JsonKind::Absent as u8 | JsonKind::Null as u8;
    let only = |kinds: &[JsonKind]| kinds.iter().fold(cells.mask(), |mask, kind| mask & !(*kind as u8)) & !HOLES == 0;
    let kind = rule.ty.kind;
    if !rule.multiple && (rule.coerce || kind == Kind::String) && only(&[JsonKind::String]) {
        return from_text(rule, &cells.text, failures);
    }
    if !rule.multiple && rule.coerce {
        match kind {
            Kind::Int if only(&[JsonKind::Integer]) => return from_text(rule, &cells.text, failures),
            Kind::Bool if only(&[JsonKind::Bool]) => return from_text(rule, &cells.text, failures),
            Kind::Float if only(&[JsonKind::Integer, JsonKind::Number]) => {
                let default = |value: &Value| if let Value::Float(value) = value { *value } else { 0.0 };
                let (values, nulls) = parsed(rule, &cells.text, failures, default, json_float);
                return Column::Float(Float64Array::new(values.into(), nulls));
            }
            Kind::Decimal if only(&[JsonKind::Integer, JsonKind::Number]) => {
                let number = |bytes: &[u8]| Decimal::parse_number(std::str::from_utf8(bytes).ok()?, rule.scale);
                return decimals_by(rule, &cells.text, failures, number);
            }
            _ => {}
        }
    }
    one_by_one(rule, cells.kinds.len(), |row| admit_cell(rule, Cell::json(cells, row)), failures)
}

fn absent(rule: &AdmitRule, rows: usize, failures: &mut Failures<'_>) -> Column {
    match admit_cell(rule, Cell::Absent) {
        Ok(Value::Null) => Column::Null(rows),
        Ok(value) => Column::from_values(kind(rule), &vec![value; rows]),
        Err(_) => {
            (0..rows).for_each(|row| failures.add(row, false));
            Column::Null(rows)
        }
    }
}

/// The kind of the values of the column.
fn kind(rule: &AdmitRule) -> Kind {
    if rule.multiple { Kind::Array } else { rule.ty.kind }
}

fn one_by_one(
    rule: &AdmitRule,
    rows: usize,
    cell: impl Fn(usize) -> Result<Value, Rejection>,
    failures: &mut Failures<'_>,
) -> Column {
    let value = |row| {
        cell(row).unwrap_or_else(|rejection| {
            failures.add(row, matches!(rejection, Rejection::Structural(_)));
            Value::Null
        })
    };
    let values: Vec<Value> = (0..rows).map(value).collect();
    Column::from_values(kind(rule), &values)
}

/// Whether every value of a native column is admitted as it is.
fn passes_unchanged(rule: &AdmitRule, column: &Column) -> bool {
    let nulls_pass = column.null_count() == 0 || rule.ty.nullable && rule.default.is_none() && !rule.required;
    let values_pass = match column {
        Column::Float(array) => array.values().iter().all(|value| value.is_finite()),
        Column::Decimal(_) => rule.scale.is_none() && rule.precision.is_none(),
        Column::Text(_) => rule.enumeration.is_none(),
        _ => true,
    };
    column.kind() == rule.ty.kind && !rule.multiple && nulls_pass && values_pass
}

fn from_text(rule: &AdmitRule, cells: &TextCells, failures: &mut Failures<'_>) -> Column {
    match rule.ty.kind {
        Kind::Int => {
            let default = |value: &Value| if let Value::Int(value) = value { *value } else { 0 };
            let (values, nulls) = parsed(rule, cells, failures, default, parse_int);
            Column::Int(Int64Array::new(values.into(), nulls))
        }
        Kind::Float => {
            let default = |value: &Value| if let Value::Float(value) = value { *value } else { 0.0 };
            let (values, nulls) = parsed(rule, cells, failures, default, parse_float);
            Column::Float(Float64Array::new(values.into(), nulls))
        }
        Kind::Bool => {
            let default = |value: &Value| matches!(value, Value::Bool(true));
            let (values, nulls) = parsed(rule, cells, failures, default, parse_bool);
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values[row]);
            Column::Bool(BooleanArray::new(bits, nulls))
        }
        Kind::Date => dates(rule, cells, failures),
        Kind::DateTime => date_times(rule, cells, failures),
        Kind::Decimal => decimals(rule, cells, failures),
        Kind::String => texts(rule, cells, failures),
        Kind::Null | Kind::Array | Kind::Map | Kind::Any => {
            let cell = |row| admit_cell(rule, cells.text(row).map_or(Cell::Absent, Cell::Text));
            one_by_one(rule, cells.len(), cell, failures)
        }
    }
}

fn dates(rule: &AdmitRule, cells: &TextCells, failures: &mut Failures<'_>) -> Column {
    let default = |value: &Value| if let Value::Date(value) = value { *value } else { 0 };
    let formats = rule.formats.as_slice();
    let (values, nulls) = match formats {
        [] => parsed(rule, cells, failures, default, parse_default_date),
        // Each text of the exact form is read alike by the format.
        [format] if matches!(format.source(), "%Y-%m-%d" | "%F") => parsed(rule, cells, failures, default, |bytes| {
            parse_iso_date(bytes).or_else(|| parse_date(formats, std::str::from_utf8(bytes).ok()?))
        }),
        formats => {
            parsed(rule, cells, failures, default, |bytes| parse_date(formats, std::str::from_utf8(bytes).ok()?))
        }
    };
    Column::Date(Date32Array::new(values.into(), nulls))
}

fn date_times(rule: &AdmitRule, cells: &TextCells, failures: &mut Failures<'_>) -> Column {
    let default = |value: &Value| if let Value::DateTime(value) = value { *value } else { 0 };
    let (values, nulls) = match rule.formats.as_slice() {
        [] => parsed(rule, cells, failures, default, parse_default_date_time),
        formats => {
            parsed(rule, cells, failures, default, |bytes| parse_date_time(formats, std::str::from_utf8(bytes).ok()?))
        }
    };
    let array = Decimal128Array::new(values.into(), nulls).with_precision_and_scale(38, 0);
    Column::DateTime(array.expect("38 digits are the widest precision"))
}

fn decimals(rule: &AdmitRule, cells: &TextCells, failures: &mut Failures<'_>) -> Column {
    match rule.scale {
        None => decimals_by(rule, cells, failures, Decimal::parse_literal),
        Some(scale) => decimals_by(rule, cells, failures, |bytes| Decimal::parse_literal_at(bytes, scale)),
    }
}

/// The decimals that `parse` reads, where they keep the precision.
fn decimals_by(
    rule: &AdmitRule,
    cells: &TextCells,
    failures: &mut Failures<'_>,
    parse: impl Fn(&[u8]) -> Option<Decimal>,
) -> Column {
    // The 16 bytes of a decimal in the order the machine keeps a 128-bit integer in.
    let stored = |value: Decimal| i128::from_ne_bytes(value.to_bytes());
    let default = |value: &Value| if let Value::Decimal(value) = value { stored(*value) } else { 0 };
    let precision = rule.precision.unwrap_or(u8::MAX);
    let fits = |value: &Decimal| precision == u8::MAX || value.digits() <= precision;
    let (values, nulls) = parsed(rule, cells, failures, default, |bytes| parse(bytes).filter(fits).map(stored));
    Column::Decimal(FixedSizeBinaryArray::new(16, Buffer::from_vec(values), nulls))
}

/// What a cell without a value of its own becomes.
#[derive(Clone, Copy)]
enum Hole<T> {
    Value(T),
    Null,
    Fail,
}

impl<T> Hole<T> {
    fn of(result: Result<Value, Rejection>, value: impl Fn(&Value) -> T) -> Hole<T> {
        match result {
            Ok(Value::Null) => Hole::Null,
            Ok(found) => Hole::Value(value(&found)),
            Err(_) => Hole::Fail,
        }
    }
}

/// The loop over the cells of a typed column. `parse` takes no empty text.
#[inline]
fn parsed<T: Copy + Default>(
    rule: &AdmitRule,
    cells: &TextCells,
    failures: &mut Failures<'_>,
    default: impl Fn(&Value) -> T,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> (Vec<T>, Option<NullBuffer>) {
    let absent = Hole::of(admit_cell(rule, Cell::Absent), &default);
    let empty = Hole::of(admit_cell(rule, Cell::Text("")), &default);
    let mut nulls = Nulls::default();
    let text = Bytes::of(cells);
    let mut without_value = |row: usize, cell: CellRef| {
        let hole = match cell.len {
            u32::MAX => absent,
            0 => empty,
            _ => Hole::Fail,
        };
        match hole {
            Hole::Value(value) => value,
            Hole::Null => {
                nulls.rows.push(row as u32);
                T::default()
            }
            Hole::Fail => {
                failures.add(row, false);
                T::default()
            }
        }
    };
    let values = cells
        .refs
        .iter()
        .enumerate()
        .map(|(row, cell)| match text.get(*cell).and_then(&parse) {
            Some(value) => value,
            None => without_value(row, *cell),
        })
        .collect();
    (values, nulls.buffer(cells.len()))
}

/// The bytes that cells refer to.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    block: &'a [u8],
    extra: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn of(cells: &'a TextCells) -> Bytes<'a> {
        Bytes { block: &cells.block, extra: &cells.extra }
    }

    #[inline(always)]
    fn get(self, cell: CellRef) -> Option<&'a [u8]> {
        if cell.is_absent() {
            return None;
        }
        let (from, len) = (cell.offset as usize, cell.len as usize);
        Some(match from.checked_sub(self.block.len()) {
            None => &self.block[from..from + len],
            Some(from) => &self.extra[from..from + len],
        })
    }
}

/// The null rows of a column; none costs nothing.
#[derive(Default)]
struct Nulls {
    rows: Vec<u32>,
}

impl Nulls {
    fn buffer(self, len: usize) -> Option<NullBuffer> {
        if self.rows.is_empty() {
            return None;
        }
        let mut bits = MutableBuffer::new(bit_util::ceil(len, 8)).with_bitset(bit_util::ceil(len, 8), true);
        for row in &self.rows {
            bit_util::unset_bit(bits.as_slice_mut(), *row as usize);
        }
        Some(NullBuffer::new(BooleanBuffer::new(bits.into(), 0, len)))
    }
}

/// Cells of a field that no schema names, with the types they were read with.
pub fn untyped_column(cells: &Cells) -> Column {
    match cells {
        Cells::Text(cells) => text_column(cells),
        Cells::Native(column) => column.clone(),
        Cells::Json(cells) => untyped_json(cells),
        Cells::Absent(rows) => Column::Null(*rows),
    }
}

/// Cells as text, without a rule: absent is null.
pub fn text_column(cells: &TextCells) -> Column {
    let mut nulls = Nulls::default();
    let text = Bytes::of(cells);
    let view = |(row, cell): (usize, &CellRef)| match text.get(*cell) {
        Some(bytes) => view_of(bytes, *cell, text),
        None => {
            nulls.rows.push(row as u32);
            0
        }
    };
    let views = cells.refs.iter().enumerate().map(view).collect();
    text_array(views, cells, nulls, None)
}

fn texts(rule: &AdmitRule, cells: &TextCells, failures: &mut Failures<'_>) -> Column {
    let default = match &rule.default {
        Some(Value::String(text)) => text.as_bytes(),
        _ => b"",
    };
    let absent = Hole::of(admit_cell(rule, Cell::Absent), |_| make_view(default, DEFAULT_BUFFER, 0));
    if rule.enumeration.is_none() && matches!(absent, Hole::Null) {
        return text_column(cells);
    }
    let words: Option<HashSet<&[u8]>> =
        rule.enumeration.as_ref().map(|words| words.iter().map(String::as_bytes).collect());
    let mut nulls = Nulls::default();
    let text = Bytes::of(cells);
    let view = |(row, cell): (usize, &CellRef)| {
        let hole = match text.get(*cell) {
            Some(bytes) if words.as_ref().is_none_or(|words| words.contains(bytes)) => {
                return view_of(bytes, *cell, text);
            }
            Some(_) => Hole::Fail,
            None => absent,
        };
        match hole {
            Hole::Value(view) => return view,
            Hole::Null => nulls.rows.push(row as u32),
            Hole::Fail => failures.add(row, false),
        }
        0
    };
    let views = cells.refs.iter().enumerate().map(view).collect();
    text_array(views, cells, nulls, Some(default).filter(|text| text.len() > INLINE))
}

/// The longest text that a view holds in itself.
const INLINE: usize = 12;
/// The buffer of a view: the block, its extra text, the default of the column.
const BLOCK_BUFFER: u32 = 0;
const EXTRA_BUFFER: u32 = 1;
const DEFAULT_BUFFER: u32 = 2;

/// The bits of a view that hold the bytes of a short text, by its length.
const INLINE_BITS: [u128; INLINE + 1] = {
    let mut masks = [0; INLINE + 1];
    let mut len = 0;
    while len <= INLINE {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The view of a cell. A short text inside the block takes one load of twelve bytes and one mask, whatever its length.
#[inline(always)]
fn view_of(bytes: &[u8], cell: CellRef, text: Bytes<'_>) -> u128 {
    let from = cell.offset as usize;
    // Twelve bytes at once where they are there; what lies behind the cell is cleared.
    let rest = match from.checked_sub(text.block.len()) {
        None => text.block.get(from..),
        Some(behind) => text.extra.get(behind..),
    };
    let window = rest.and_then(<[u8]>::first_chunk::<INLINE>);
    match (window, INLINE_BITS.get(bytes.len())) {
        (Some(window), Some(mask)) => {
            let mut wide = [0; 16];
            wide[..INLINE].copy_from_slice(window);
            (u128::from_le_bytes(wide) & mask) << 32 | u128::from(cell.len)
        }
        _ => match from.checked_sub(text.block.len()) {
            None => make_view(bytes, BLOCK_BUFFER, cell.offset),
            Some(from) => make_view(bytes, EXTRA_BUFFER, from as u32),
        },
    }
}

fn text_array(views: Vec<u128>, cells: &TextCells, nulls: Nulls, default: Option<&[u8]>) -> Column {
    // A block that only short texts refer to is not kept alive.
    let long = views.iter().any(|view| *view as u32 as usize > INLINE);
    let mut buffers = Vec::new();
    if long {
        buffers.extend([cells.block.clone(), cells.extra.clone()]);
        buffers.extend(default.map(Buffer::from_slice_ref));
    }
    let nulls = nulls.buffer(views.len());
    let array = StringViewArray::try_new(ScalarBuffer::from(views), buffers, nulls);
    Column::Text(array.expect("a decoder delivers checked text inside its buffers"))
}
