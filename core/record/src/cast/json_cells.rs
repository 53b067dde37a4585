//! Cells that JSON input delivers: numbers keep their literal text until their type is known (`formats.md` 5.5).

use arrow_array::builder::StringViewBuilder;
use arrow_array::{BooleanArray, Float64Array, Int64Array};

use super::Json;
use super::columns::text_column;
use super::primitives::{parse_float, parse_int};
use crate::cells::{JsonCells, JsonKind};
use crate::json::{self, append_tagged};
use crate::{Column, Decimal, Kind};

/// Integers below this magnitude are exact in binary64.
const EXACT: f64 = (1u64 << 53) as f64;

/// The value of a present cell.
pub(super) fn json_cell(kind: JsonKind, text: &str) -> Json<'_> {
    match kind {
        JsonKind::Absent | JsonKind::Null => Json::Null,
        JsonKind::Bool => Json::Bool(text == "true"),
        JsonKind::Integer | JsonKind::Number => Json::Number(text),
        JsonKind::String => Json::String(text.to_owned()),
        // The depth was bounded when the cell was read.
        JsonKind::Array => json::parse(text, usize::MAX).expect("a decoder delivers valid JSON"),
    }
}

/// A number literal as a 64-bit integer, by its digits and not by way of a float: `1e2` and `5.0` are integers.
pub(super) fn json_int(literal: &str) -> Result<i64, String> {
    if let Some(value) = parse_int(literal.as_bytes()) {
        return Ok(value);
    }
    let whole = Decimal::parse_number(literal, Some(0));
    whole.and_then(Decimal::to_i64_exact).ok_or_else(|| {
        if json::is_integer(literal) || whole.is_some() {
            "the number is outside the signed 64-bit range".to_owned()
        } else {
            "the number is not a whole one within the signed 64-bit range".to_owned()
        }
    })
}

/// A number literal as a float: finite, and exact where the literal is an integer.
#[inline]
pub(super) fn json_float(literal: &[u8]) -> Option<f64> {
    let value = parse_float(literal)?;
    (value.abs() < EXACT || is_exact(literal, value)).then_some(value)
}

#[cold]
fn is_exact(literal: &[u8], value: f64) -> bool {
    literal.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) || format!("{value:.0}").as_bytes() == literal
}

/// A column that no schema names: of one kind where all of its values are of one, else of any (`formats.md` 5.5).
pub(super) fn untyped_json(cells: &JsonCells) -> Column {
    const STRING: u8 = JsonKind::String as u8;
    const BOOL: u8 = JsonKind::Bool as u8;
    const INTEGER: u8 = JsonKind::Integer as u8;
    const NUMBER: u8 = JsonKind::Number as u8;
    const ARRAY: u8 = JsonKind::Array as u8;
    let rows = cells.kinds.len();
    let bytes = (0..rows).map(|row| cells.text.bytes(row));
    match cells.mask() & !(JsonKind::Absent as u8 | JsonKind::Null as u8) {
        0 => Column::Null(rows),
        STRING => text_column(&cells.text),
        BOOL => Column::Bool(bytes.map(|text| text.map(|text| text == b"true")).collect::<BooleanArray>()),
        INTEGER => match all(bytes, parse_int) {
            Some(values) => Column::Int(Int64Array::from(values)),
            None => dynamic(Kind::Any, cells),
        },
        NUMBER => match all(bytes, parse_float) {
            Some(values) => Column::Float(Float64Array::from(values)),
            None => dynamic(Kind::Any, cells),
        },
        ARRAY => dynamic(Kind::Array, cells),
        _ => dynamic(Kind::Any, cells),
    }
}

/// All present values parsed; `None` when one of them does not parse.
fn all<'a, T>(
    cells: impl Iterator<Item = Option<&'a [u8]>>,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    cells.map(|text| text.map_or(Some(None), |text| parse(text).map(Some))).collect()
}

fn dynamic(kind: Kind, cells: &JsonCells) -> Column {
    let mut builder = StringViewBuilder::with_capacity(cells.kinds.len());
    let mut text = Vec::new();
    for row in 0..cells.kinds.len() {
        match cells.cell(row) {
            (JsonKind::Absent | JsonKind::Null, _) => builder.append_null(),
            (kind, literal) => {
                text.clear();
                append_tagged(&json_cell(kind, literal).into_value(), &mut text);
                builder.append_value(std::str::from_utf8(&text).expect("tagged JSON is text"));
            }
        }
    }
    Column::Dynamic(kind, builder.finish())
}
