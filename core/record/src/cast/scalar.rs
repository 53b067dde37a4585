//! The cast of a single cell, with its reason when it fails.

use super::json_cells::{json_cell, json_float, json_int};
use super::primitives::{is_float_form, parse_bool, parse_float, parse_int};
use super::split::{Element, split};
use super::{AdmitRule, SplitRule};
use crate::datetime::{
    DEFAULT_DATE_FORMS, DEFAULT_DATE_TIME_FORMS, DateFormat, date_of, midnight, parse_default_date,
    parse_default_date_time,
};
use crate::json::{self, Json};
use crate::{Decimal, JsonCells, JsonKind, Kind, Value};

/// One cell as a reader delivers it.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// The row does not have it.
    Absent,
    /// Text.
    Text(&'a str),
    /// A typed value.
    Native(&'a Value),
    /// A JSON value: its kind, and its text as [`JsonCells`] holds it.
    Json(JsonKind, &'a str),
}

impl<'a> Cell<'a> {
    /// A cell of a JSON column.
    pub(super) fn json(cells: &'a JsonCells, row: usize) -> Cell<'a> {
        let (kind, text) = cells.cell(row);
        Cell::Json(kind, text)
    }
}

/// Why a cell is not admitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// It is absent or null.
    Missing(String),
    /// Its value does not fit the declared type.
    Conversion(String),
    /// It is not of the form that a `split_values` entry demands.
    Structural(String),
}

impl Rejection {
    /// The reason in words.
    pub fn into_reason(self) -> String {
        match self {
            Rejection::Missing(reason) | Rejection::Conversion(reason) | Rejection::Structural(reason) => reason,
        }
    }
}

/// Admits one cell.
///
/// # Errors
/// The reason why the rule does not admit it.
pub fn admit_cell(rule: &AdmitRule, cell: Cell<'_>) -> Result<Value, Rejection> {
    let value = match cell {
        Cell::Absent | Cell::Json(JsonKind::Absent, _) => return missing(rule, "the field is absent"),
        Cell::Native(Value::Null) | Cell::Json(JsonKind::Null, _) => return missing(rule, "the value is null"),
        Cell::Text(text) if rule.multiple => admit_texts(rule, text)?,
        Cell::Native(value) if rule.multiple => admit_natives(rule, value)?,
        Cell::Text(text) => admit_text(rule, text).map_err(Rejection::Conversion)?,
        Cell::Json(kind, text) => {
            let json = json_cell(kind, text);
            if rule.multiple {
                admit_elements(rule, json)?
            } else {
                admit_json(rule, &json).map_err(Rejection::Conversion)?
            }
        }
        Cell::Native(value) => admit_native(rule, value).map_err(Rejection::Conversion)?,
    };
    if rule.required && value.is_null() {
        return Err(Rejection::Missing("empty text is null, and the field is required".to_owned()));
    }
    Ok(value)
}

fn missing(rule: &AdmitRule, what: &str) -> Result<Value, Rejection> {
    if let Some(default) = &rule.default {
        let admitted = if rule.multiple { admit_natives(rule, default) } else { native_cell(rule, default) };
        return admitted.map_err(|rejection| {
            Rejection::Conversion(format!("the default of the column: {}", rejection.into_reason()))
        });
    }
    if rule.required {
        return Err(Rejection::Missing(format!("{what}, and the field is required")));
    }
    if rule.multiple || admits_null(rule) {
        return Ok(Value::Null);
    }
    Err(Rejection::Missing(format!("{what}, and {} does not admit null", rule.ty)))
}

fn native_cell(rule: &AdmitRule, value: &Value) -> Result<Value, Rejection> {
    admit_native(rule, value).map_err(Rejection::Conversion)
}

fn admits_null(rule: &AdmitRule) -> bool {
    rule.ty.nullable || matches!(rule.ty.kind, Kind::Null | Kind::Any)
}

/// The values of one text.
fn admit_texts(rule: &AdmitRule, text: &str) -> Result<Value, Rejection> {
    let mut admitted = Vec::new();
    admit_parts(rule, rule.split.as_ref(), text, &mut admitted)?;
    Ok(Value::Array(admitted))
}

fn admit_parts(
    rule: &AdmitRule,
    how: Option<&SplitRule>,
    text: &str,
    admitted: &mut Vec<Value>,
) -> Result<(), Rejection> {
    let parts = split(how, text).map_err(Rejection::Structural)?;
    for part in &parts {
        let value = match part {
            Element::Text(text) => admit_text(rule, text),
            Element::Json(json) => admit_json(rule, json),
        };
        admitted.push(value.map_err(|reason| element(admitted.len(), &reason))?);
    }
    Ok(())
}

fn element(at: usize, reason: &str) -> Rejection {
    Rejection::Conversion(format!("element {}: {reason}", at + 1))
}

/// The values of a native cell; each text among them is split, too.
fn admit_natives(rule: &AdmitRule, value: &Value) -> Result<Value, Rejection> {
    let elements = if let Value::Array(elements) = value { elements.as_slice() } else { std::slice::from_ref(value) };
    let mut admitted = Vec::with_capacity(elements.len());
    for value in elements {
        match (value, &rule.split) {
            (Value::String(text), Some(how)) if !how.json => admit_parts(rule, Some(how), text, &mut admitted)?,
            _ => {
                let value = admit_native(rule, value).map_err(|reason| element(admitted.len(), &reason))?;
                admitted.push(value);
            }
        }
    }
    Ok(Value::Array(admitted))
}

/// The values of a JSON cell; each string among them is split, too.
fn admit_elements(rule: &AdmitRule, json: Json<'_>) -> Result<Value, Rejection> {
    let elements = if let Json::Array(elements) = json { elements } else { vec![json] };
    let mut admitted = Vec::with_capacity(elements.len());
    for json in &elements {
        match (json, &rule.split) {
            (Json::String(text), Some(how)) if !how.json => admit_parts(rule, Some(how), text, &mut admitted)?,
            _ => {
                let value = admit_json(rule, json).map_err(|reason| element(admitted.len(), &reason))?;
                admitted.push(value);
            }
        }
    }
    Ok(Value::Array(admitted))
}

/// A JSON value: numbers keep their literal text until they are typed.
fn admit_json(rule: &AdmitRule, json: &Json<'_>) -> Result<Value, String> {
    match json {
        Json::Number(literal) if rule.ty.kind == Kind::Decimal && rule.coerce => {
            let decimal = Decimal::parse_number(literal, rule.scale);
            fitting(rule, decimal.ok_or_else(|| decimal_reason(rule, literal))?)
        }
        Json::Number(literal) if rule.ty.kind == Kind::Int && (rule.coerce || json::is_integer(literal)) => {
            json_int(literal).map(Value::Int)
        }
        Json::Number(literal) if rule.ty.kind == Kind::Float && rule.coerce && json::is_integer(literal) => {
            let float = json_float(literal.as_bytes()).map(Value::Float);
            float.ok_or_else(|| "the integer has no exact binary representation".to_owned())
        }
        json => admit_native(rule, &json.clone().into_value()),
    }
}

/// One text as a value of the declared type.
fn admit_text(rule: &AdmitRule, text: &str) -> Result<Value, String> {
    let ty = rule.ty;
    match ty.kind {
        Kind::String => return in_enumeration(rule, text),
        Kind::Any => return Ok(Value::String(text.into())),
        _ if text.is_empty() && ty.nullable => return Ok(Value::Null),
        _ if text.is_empty() => return Err(format!("empty text is not a valid {ty}")),
        Kind::Null | Kind::Array | Kind::Map => return Err(format!("text is never admitted as {ty}")),
        _ if !rule.coerce => return Err(format!("`coerce: false` admits native {ty} values only, not text")),
        _ => {}
    }
    let bytes = text.as_bytes();
    match ty.kind {
        Kind::Int => parse_int(bytes).map(Value::Int).ok_or_else(|| {
            let body = bytes.strip_prefix(b"-").or_else(|| bytes.strip_prefix(b"+")).unwrap_or(bytes);
            if body.iter().all(u8::is_ascii_digit) && !body.is_empty() {
                "the number is outside the signed 64-bit range".to_owned()
            } else {
                "not an integer (an optional sign and digits)".to_owned()
            }
        }),
        Kind::Float => parse_float(bytes).map(Value::Float).ok_or_else(|| {
            if is_float_form(bytes) {
                "the number is too large for a float".to_owned()
            } else {
                "not a finite number in decimal or exponent form".to_owned()
            }
        }),
        Kind::Decimal => {
            let decimal = match rule.scale {
                Some(scale) => Decimal::parse_literal_at(bytes, scale),
                None => Decimal::parse_literal(bytes),
            };
            fitting(rule, decimal.ok_or_else(|| decimal_reason(rule, text))?)
        }
        Kind::Bool => parse_bool(bytes)
            .map(Value::Bool)
            .ok_or_else(|| "not one of true, yes, 1, on, false, no, 0, off".to_owned()),
        Kind::Date => parse_date(&rule.formats, text)
            .map(Value::Date)
            .ok_or_else(|| format!("no existing day in the form {}", forms(&rule.formats, DEFAULT_DATE_FORMS))),
        _ => parse_date_time(&rule.formats, text).map(Value::DateTime).ok_or_else(|| {
            format!("no existing day and time in the form {}", forms(&rule.formats, DEFAULT_DATE_TIME_FORMS))
        }),
    }
}

/// The words of an `enum` that a reason lists.
const SHOWN_WORDS: usize = 8;

fn in_enumeration(rule: &AdmitRule, text: &str) -> Result<Value, String> {
    match &rule.enumeration {
        Some(words) if !words.iter().any(|word| word == text) => {
            let shown = words.iter().take(SHOWN_WORDS).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            let more = words.len().saturating_sub(SHOWN_WORDS);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            Err(format!("the text is not in the column's `enum`: {shown}{more}"))
        }
        _ => Ok(Value::String(text.into())),
    }
}

/// A date in one of the formats, or in a default form where there are none.
pub(super) fn parse_date(formats: &[DateFormat], text: &str) -> Option<i32> {
    match formats {
        [] => parse_default_date(text.as_bytes()),
        formats => formats.iter().find_map(|format| format.parse_date(text)),
    }
}

/// A date-time in one of the formats, or in a default form where there are none.
pub(super) fn parse_date_time(formats: &[DateFormat], text: &str) -> Option<i128> {
    match formats {
        [] => parse_default_date_time(text.as_bytes()),
        formats => formats.iter().find_map(|format| format.parse_date_time(text)),
    }
}

fn forms(formats: &[DateFormat], default: &str) -> String {
    match formats {
        [] => default.to_owned(),
        formats => formats.iter().map(DateFormat::source).collect::<Vec<_>>().join(", "),
    }
}

fn decimal_reason(rule: &AdmitRule, text: &str) -> String {
    match rule.scale {
        _ if !Decimal::is_literal(text.as_bytes()) => {
            "not an exact base-10 literal (an optional sign, digits and an optional fraction)".to_owned()
        }
        Some(scale)
            if Decimal::parse_literal(text.as_bytes()).is_some_and(|value| value.rescale_exact(scale).is_none()) =>
        {
            format!("the number does not fit scale {scale} without rounding")
        }
        _ => "the number has more digits than a decimal holds".to_owned(),
    }
}

/// A decimal at the declared scale and within the declared precision.
fn fitting(rule: &AdmitRule, decimal: Decimal) -> Result<Value, String> {
    let decimal = match rule.scale {
        None => decimal,
        Some(scale) => decimal
            .rescale_exact(scale)
            .ok_or_else(|| format!("the number does not fit scale {scale} without rounding"))?,
    };
    match rule.precision {
        Some(precision) if decimal.digits() > precision => {
            Err(format!("the number has {} digits, the column's precision is {precision}", decimal.digits()))
        }
        _ => Ok(Value::Decimal(decimal)),
    }
}

/// A typed value as one of the declared type.
fn admit_native(rule: &AdmitRule, value: &Value) -> Result<Value, String> {
    let kind = rule.ty.kind;
    if value.is_null() {
        return if admits_null(rule) { Ok(Value::Null) } else { Err(format!("{} does not admit null", rule.ty)) };
    }
    match (kind, value) {
        (Kind::Any, value) => Ok(value.clone()),
        (_, Value::String(text)) => admit_text(rule, text),
        (Kind::Int, Value::Int(_))
        | (Kind::Bool, Value::Bool(_))
        | (Kind::Date, Value::Date(_))
        | (Kind::DateTime, Value::DateTime(_))
        | (Kind::Array, Value::Array(_))
        | (Kind::Map, Value::Map(_)) => Ok(value.clone()),
        (Kind::Float, Value::Float(number)) if number.is_finite() => Ok(value.clone()),
        (Kind::Float, Value::Float(_)) => Err("the number is not finite".to_owned()),
        (Kind::Decimal, Value::Decimal(decimal)) => fitting(rule, *decimal),
        _ if !rule.coerce => {
            Err(format!("`coerce: false` admits native {} values only, not {}", rule.ty, value.type_name()))
        }
        (Kind::Decimal, Value::Int(number)) => fitting(rule, Decimal::from_i64(*number)),
        (kind, value) => converted(kind, value)
            .ok_or_else(|| format!("{} {} is not a valid {}", value.type_name(), shown(value), rule.ty)),
    }
}

/// The conversions between native types that lose nothing.
fn converted(kind: Kind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Kind::Int, Value::Float(number)) => float_to_int(*number).map(Value::Int),
        (Kind::Int, Value::Bool(truth)) => Some(Value::Int(i64::from(*truth))),
        (Kind::Float, Value::Int(number)) => {
            let float = *number as f64;
            (float as i128 == i128::from(*number)).then_some(Value::Float(float))
        }
        (Kind::Float, Value::Bool(truth)) => Some(Value::Float(f64::from(u8::from(*truth)))),
        (Kind::Bool, Value::Int(number)) => Some(Value::Bool(*number != 0)),
        (Kind::Date, Value::DateTime(nanos)) => Some(Value::Date(date_of(*nanos))),
        (Kind::DateTime, Value::Date(date)) => Some(Value::DateTime(midnight(*date))),
        _ => None,
    }
}

fn float_to_int(number: f64) -> Option<i64> {
    // -2^63 is a float, 2^63 - 1 is not: below 2^63 a whole float is an integer.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (number.trunc() == number && (-LIMIT..LIMIT).contains(&number)).then_some(number as i64)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Map(_) => crate::text::preview(&json::to_compact(value)).into_owned(),
        scalar => crate::text::preview(&crate::text::text_form(scalar)).into_owned(),
    }
}
