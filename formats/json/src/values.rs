//! Values that JSON has no literal for, and whole arrays and maps (formats.md 1.11, 1.12).

use std::collections::HashSet;
use std::sync::Arc;

use clinker_record::Value;
use clinker_record::json::push_string;
use clinker_record::text::{append_cell, append_json_float};

/// Containers inside one another in a written value.
const MAX_DEPTH: usize = 64;

/// Why a value is not written.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    /// E443 or E448.
    pub code: &'static str,
    /// What is wrong, one line.
    pub reason: String,
}

/// Appends a value.
///
/// # Errors
/// E443 for a number that is not finite; E448 for a key or a depth that cannot be written. Bytes may have been appended.
pub fn append(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    append_at(value, 0, out)
}

fn append_at(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(_) | Value::Int(_) => append_cell(value, out),
        Value::Float(number) if number.is_finite() => append_json_float(*number, out),
        Value::Float(number) => return Err(not_finite(*number)),
        Value::String(text) => push_string(text, out),
        Value::Decimal(_) | Value::Date(_) | Value::DateTime(_) => {
            out.push(b'"');
            append_cell(value, out);
            out.push(b'"');
        }
        Value::Array(elements) => {
            let depth = deeper(depth)?;
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                append_at(element, depth, out)?;
            }
            out.push(b']');
        }
        Value::Map(entries) => append_map(entries, deeper(depth)?, out)?,
    }
    Ok(())
}

fn append_map(entries: &[(Arc<str>, Value)], depth: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut keys = HashSet::with_capacity(entries.len());
    out.push(b'{');
    for (at, (key, value)) in entries.iter().enumerate() {
        let plain = plain_key(key)?;
        if !keys.insert(plain) {
            return Err(Refusal { code: "E448", reason: format!("two keys of a map are both written as `{plain}`") });
        }
        if at > 0 {
            out.push(b',');
        }
        push_string(plain, out);
        out.push(b':');
        append_at(value, depth, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// A key as it is written: a leading backslash makes a reserved beginning literal, and is removed.
fn plain_key(key: &str) -> Result<&str, Refusal> {
    match key.strip_prefix('\\') {
        None => Ok(key),
        Some(rest) if rest.starts_with('@') || rest.starts_with("#text") || rest.starts_with('\\') => Ok(rest),
        Some(_) => Err(Refusal {
            code: "E448",
            reason: format!("the map key `{key}` begins with a backslash that escapes nothing; write it twice"),
        }),
    }
}

fn deeper(depth: usize) -> Result<usize, Refusal> {
    if depth < MAX_DEPTH {
        return Ok(depth + 1);
    }
    Err(Refusal { code: "E448", reason: format!("arrays and maps nest deeper than {MAX_DEPTH} levels") })
}

/// The refusal of a number that JSON cannot hold.
pub fn not_finite(number: f64) -> Refusal {
    let mut reason = "the number is not finite: ".to_owned();
    reason.push_str(&clinker_record::text::cell(&Value::Float(number)));
    Refusal { code: "E443", reason }
}
