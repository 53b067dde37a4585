//! Scalars of the document as values of a type.

use std::sync::Arc;

use clinker_record::datetime::{self, DateFormat};
use clinker_record::{Decimal, Kind, Type, Value};

use crate::yaml::{Core, Scalar};

/// The value of a scalar as a column of this type would admit it: natively, or by its text where it is text.
pub(crate) fn admitted(ty: Type, scalar: &Scalar, formats: &[DateFormat]) -> Option<Value> {
    let text = &*scalar.text;
    match (ty.kind, scalar.core()) {
        (_, Core::Null) => None,
        (Kind::Any, core) => native(&core, text),
        (Kind::String, Core::Text) => Some(Value::String(Arc::from(text))),
        (Kind::Int, Core::Int(value)) => Some(Value::Int(value)),
        (Kind::Int, Core::Text) => text.parse().ok().map(Value::Int),
        (Kind::Float, Core::Int(value)) => exact_float(value),
        (Kind::Float, Core::Float(value)) => value.is_finite().then_some(Value::Float(value)),
        (Kind::Float, Core::Text) => finite(text),
        // The literal's own digits, never by way of a binary float.
        (Kind::Decimal, Core::Int(_) | Core::HugeInt | Core::Float(_) | Core::Text) => {
            Decimal::parse_literal(text.as_bytes()).map(Value::Decimal)
        }
        (Kind::Bool, Core::Bool(value)) => Some(Value::Bool(value)),
        (Kind::Bool, Core::Text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Some(Value::Bool(true)),
            "false" | "no" | "0" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        (Kind::Date, Core::Text) => match formats {
            [] => datetime::parse_default_date(text.as_bytes()),
            formats => formats.iter().find_map(|format| format.parse_date(text)),
        }
        .map(Value::Date),
        (Kind::DateTime, Core::Text) => match formats {
            [] => datetime::parse_default_date_time(text.as_bytes()),
            formats => formats.iter().find_map(|format| format.parse_date_time(text)),
        }
        .map(Value::DateTime),
        _ => None,
    }
}

/// The value a scalar has by its own YAML kind. A number too large for 64 bits has none.
pub(crate) fn native(core: &Core, text: &str) -> Option<Value> {
    match core {
        Core::Bool(value) => Some(Value::Bool(*value)),
        Core::Int(value) => Some(Value::Int(*value)),
        Core::Float(value) => value.is_finite().then_some(Value::Float(*value)),
        Core::Text => Some(Value::String(Arc::from(text))),
        Core::Null | Core::HugeInt => None,
    }
}

/// The default of a static variable: `date` and `date_time` are ISO 8601 text, nothing else is converted.
pub(crate) fn variable(kind: Kind, scalar: &Scalar) -> Option<Value> {
    let text = scalar.text.as_bytes();
    match (kind, scalar.core()) {
        (Kind::Float, Core::Int(value)) => exact_float(value),
        (Kind::Date, Core::Text) => datetime::parse_iso_date(text).map(Value::Date),
        (Kind::DateTime, Core::Text) => datetime::parse_iso_date_time(text).map(Value::DateTime),
        (Kind::String, Core::Text)
        | (Kind::Int, Core::Int(_))
        | (Kind::Float, Core::Float(_))
        | (Kind::Bool, Core::Bool(_)) => native(&scalar.core(), &scalar.text),
        _ => None,
    }
}

fn exact_float(value: i64) -> Option<Value> {
    let float = value as f64;
    (float as i128 == i128::from(value)).then_some(Value::Float(float))
}

fn finite(text: &str) -> Option<Value> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = body.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    text.parse::<f64>().ok().filter(|value| number && value.is_finite()).map(Value::Float)
}

/// A size in bytes: an integer, or digits with a suffix `B`, `KB`, `MB`, `GB` in powers of 1000.
pub(crate) fn decimal_size(scalar: &Scalar) -> Option<u64> {
    if let Core::Int(value) = scalar.core() {
        return u64::try_from(value).ok();
    }
    let split = scalar.text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(scalar.text.len());
    let factor = match &scalar.text[split..] {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    scalar.text[..split].parse::<u64>().ok()?.checked_mul(factor)
}

/// A memory size: digits with an optional suffix `K`, `M`, `G` in either case, in powers of 1024.
pub(crate) fn binary_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1 << 10),
        b'm' | b'M' => (&text[..text.len() - 1], 1 << 20),
        b'g' | b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
