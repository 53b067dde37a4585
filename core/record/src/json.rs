//! JSON text of values.
//!
//! *Compact* JSON is what users see in cells: dates, date-times and decimals are strings. *Tagged* JSON is how a
//! dynamic column stores its values; it loses nothing:
//!
//! | Value | Tagged |
//! |---|---|
//! | null, bool, string, array | as in JSON |
//! | int | an integer literal |
//! | finite float | a number with a fraction or an exponent: `61.0`, `1e+16` |
//! | NaN, infinities | `{"$float":"NaN"}`, `"inf"`, `"-inf"` |
//! | decimal | `{"$decimal":"7.10"}`, the scale as written |
//! | date, date-time | `{"$date":"2031-08-09"}`, `{"$date_time":"2031-08-09T06:05:00.250"}` |
//! | map | an object in the map's order; one with a single key that begins with `$` is wrapped as `{"$map":{...}}` |

mod parser;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use parser::{Json, JsonError, parse};

use crate::datetime::{parse_iso_date, parse_iso_date_time};
use crate::text::{append_date, append_date_time, append_decimal, append_int, append_json_float};
use crate::{Decimal, Value};

/// Containers inside one another that [`parse`] accepts in input.
pub const MAX_DEPTH: usize = 64;

/// Parses tagged JSON text as [`to_tagged`] writes it.
///
/// # Panics
/// On text that [`to_tagged`] has not written.
pub fn from_tagged(text: &str) -> Value {
    // A tag adds a level to each value at most.
    let json = parse(text, usize::MAX).expect("a dynamic column holds tagged JSON");
    untag(json)
}

/// JSON text of a value in which scalars that JSON lacks are tagged, so that no element loses its type.
pub fn to_tagged(value: &Value) -> String {
    crate::text::into_string(|out| append_tagged(value, out))
}

/// Appends [`to_tagged`].
pub fn append_tagged(value: &Value, out: &mut Vec<u8>) {
    append(value, true, out);
}

/// Appends compact JSON, null members included: `["a",null]`, `{"k":1}`. Floats have the form of `cxl.md` 4.4.
pub fn append_compact(value: &Value, out: &mut Vec<u8>) {
    append(value, false, out);
}

/// Whether tagged JSON text is that of an empty string or an empty array.
pub fn is_empty_tagged(text: &str) -> bool {
    matches!(text, "\"\"" | "[]")
}

/// [`append_compact`] as a string of its own.
pub fn to_compact(value: &Value) -> String {
    crate::text::into_string(|out| append_compact(value, out))
}

/// Appends a compact JSON array of texts; `None` is null.
pub fn append_texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match text {
            Some(text) => push_string(text, out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b']');
}

/// Appends a JSON string: `"`, `\` and controls are escaped, everything else is literal.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            8 => b"\\b",
            12 => b"\\f",
            0..=31 => &[b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]],
            _ => continue,
        };
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(escape);
        from = at + 1;
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

fn append(value: &Value, tagged: bool, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(value) => crate::text::append_bool(*value, out),
        Value::Int(value) => append_int(*value, out),
        Value::Float(value) if value.is_finite() || !tagged => append_json_float(*value, out),
        Value::Float(value) => append_scalar("float", tagged, out, |out| crate::text::append_float(*value, out)),
        Value::Decimal(value) => append_scalar("decimal", tagged, out, |out| append_decimal(*value, out)),
        Value::String(value) => push_string(value, out),
        Value::Date(value) => append_scalar("date", tagged, out, |out| append_date(*value, out)),
        Value::DateTime(value) => append_scalar("date_time", tagged, out, |out| append_date_time(*value, out)),
        Value::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                append(element, tagged, out);
            }
            out.push(b']');
        }
        Value::Map(entries) => {
            let wrapped = tagged && matches!(entries.as_slice(), [(key, _)] if key.starts_with('$'));
            out.extend_from_slice(if wrapped { b"{\"$map\":{" } else { b"{" });
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                push_string(key, out);
                out.push(b':');
                append(value, tagged, out);
            }
            out.extend_from_slice(if wrapped { b"}}" } else { b"}" });
        }
    }
}

/// A scalar that JSON has no literal for: its text as a string, tagged or not. The text needs no escapes.
fn append_scalar(tag: &str, tagged: bool, out: &mut Vec<u8>, text: impl FnOnce(&mut Vec<u8>)) {
    if tagged {
        out.extend_from_slice(b"{\"$");
        out.extend_from_slice(tag.as_bytes());
        out.extend_from_slice(b"\":");
    }
    out.push(b'"');
    text(out);
    out.push(b'"');
    if tagged {
        out.push(b'}');
    }
}

fn untag(json: Json<'_>) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(literal) => number(literal),
        Json::String(text) => Value::String(text.into()),
        Json::Array(elements) => Value::Array(elements.into_iter().map(untag).collect()),
        Json::Object(mut members) => {
            if let [(key, _)] = members.as_slice()
                && let Some(tag) = key.strip_prefix('$').map(str::to_owned)
                && let Some((_, inner)) = members.pop()
            {
                return untag_single(&tag, inner);
            }
            untag_map(members)
        }
    }
}

fn untag_map(members: Vec<(String, Json<'_>)>) -> Value {
    Value::Map(members.into_iter().map(|(key, value)| (Arc::from(key), untag(value))).collect())
}

fn untag_single(tag: &str, inner: Json<'_>) -> Value {
    let value = match (tag, &inner) {
        ("map", Json::Object(_)) => None,
        ("float", Json::String(text)) => text.parse().ok().map(Value::Float),
        ("decimal", Json::String(text)) => Decimal::parse_literal(text.as_bytes()).map(Value::Decimal),
        ("date", Json::String(text)) => parse_iso_date(text.as_bytes()).map(Value::Date),
        ("date_time", Json::String(text)) => parse_iso_date_time(text.as_bytes()).map(Value::DateTime),
        _ => None,
    };
    match (value, inner) {
        (Some(value), _) => value,
        (None, Json::Object(members)) if tag == "map" => untag_map(members),
        _ => panic!("a dynamic column holds an unknown tag ${tag}"),
    }
}

/// The value of a JSON number that has no declared type (`formats.md` 5.5): an integer literal is an int where it fits,
/// else a decimal where it fits; any other number is a float where it is finite; what remains is its text.
pub fn number(literal: &str) -> Value {
    let value = if is_integer(literal) {
        let int = literal.parse().ok().map(Value::Int);
        int.or_else(|| Decimal::parse_literal(literal.as_bytes()).map(Value::Decimal))
    } else {
        literal.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float)
    };
    value.unwrap_or_else(|| Value::String(literal.into()))
}

/// Whether a number literal has neither fraction nor exponent.
pub(crate) fn is_integer(literal: &str) -> bool {
    !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

impl Json<'_> {
    /// The value, numbers typed by [`number`].
    pub fn into_value(self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(literal) => number(literal),
            Json::String(text) => Value::String(text.into()),
            Json::Array(elements) => Value::Array(elements.into_iter().map(Json::into_value).collect()),
            Json::Object(members) => {
                Value::Map(members.into_iter().map(|(key, value)| (Arc::from(key), value.into_value())).collect())
            }
        }
    }
}
