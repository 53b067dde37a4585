//! Arrays in a cell (formats.md 1.10, 2.3).

use std::sync::Arc;

use clinker_format::{JoinConflict, JoinRule, OptionFault};
use clinker_record::{Category, Value, json, text};

/// Why a value cannot be written as a cell.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    /// The code.
    pub code: &'static str,
    /// `None` when the refusal ends the run.
    pub category: Option<Category>,
    /// The offending value.
    pub value: String,
    /// What is wrong.
    pub reason: String,
}

/// The rule of columns without an entry of their own.
pub fn default_rule(field: &Arc<str>) -> JoinRule {
    JoinRule { field: Arc::clone(field), delimiter: ";".into(), on_conflict: JoinConflict::Error, escape: "\\".into() }
}

/// Checks `join_values` entries: E362.
pub fn check(rules: &[JoinRule]) -> Vec<OptionFault> {
    let mut faults = Vec::new();
    let mut fault = |rule: &JoinRule, problem: String| {
        let message = format!("join_values of `{}`: {problem}", rule.field);
        faults.push(OptionFault { key: "join_values", code: "E362", message, help: None });
    };
    for (place, rule) in rules.iter().enumerate() {
        if rules[..place].iter().any(|earlier| earlier.field == rule.field) {
            fault(rule, "the field has two entries".into());
        }
        let one_char = rule.delimiter.chars().count() == 1;
        if rule.delimiter.is_empty() {
            fault(rule, "the delimiter must not be empty".into());
        } else if !one_char && rule.on_conflict != JoinConflict::EncodeJson {
            fault(rule, format!("delimiter {:?} must be a single character", rule.delimiter));
        }
        if rule.on_conflict == JoinConflict::Escape {
            if rule.escape.chars().count() != 1 {
                fault(rule, format!("escape {:?} must be a single character", rule.escape));
            } else if rule.escape == rule.delimiter {
                fault(rule, format!("delimiter and escape are both {:?}", rule.escape));
            }
        }
    }
    faults
}

/// Appends the cell of any value that a dynamic column can hold.
///
/// # Errors
/// The value cannot stand in a cell; what was appended is to be dropped.
pub fn append(value: &Value, rule: &JoinRule, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    match value {
        Value::Array(values) if values.is_empty() => Ok(()),
        Value::Array(_) if rule.on_conflict == JoinConflict::EncodeJson => {
            finite(value)?;
            json::append_compact(value, out);
            Ok(())
        }
        Value::Array(values) => append_joined(values, rule, out),
        Value::Map(_) => Err(structured(value)),
        scalar => {
            finite(scalar)?;
            text::append_cell(scalar, out);
            Ok(())
        }
    }
}

fn append_joined(values: &[Value], rule: &JoinRule, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(rule.delimiter.as_bytes());
        }
        if matches!(value, Value::Array(_) | Value::Map(_)) {
            return Err(structured(value));
        }
        finite(value)?;
        let cell = text::cell(value);
        if rule.on_conflict == JoinConflict::Escape {
            append_escaped(&cell, rule, out);
        } else if cell.contains(&rule.delimiter) {
            return Err(Box::new(Refusal {
                code: "E442",
                category: Some(Category::MultiValueJoinCollision),
                reason: format!("a value contains the delimiter {:?} that its array is joined with", rule.delimiter),
                value: cell,
            }));
        } else {
            out.extend_from_slice(cell.as_bytes());
        }
    }
    Ok(())
}

fn append_escaped(cell: &str, rule: &JoinRule, out: &mut Vec<u8>) {
    for char in cell.chars() {
        let mut buffer = [0; 4];
        let text: &str = char.encode_utf8(&mut buffer);
        if text == rule.delimiter || text == rule.escape {
            out.extend_from_slice(rule.escape.as_bytes());
        }
        out.extend_from_slice(text.as_bytes());
    }
}

fn structured(value: &Value) -> Box<Refusal> {
    let what = if matches!(value, Value::Map(_)) { "a map" } else { "an array" };
    Box::new(Refusal {
        code: "E440",
        category: None,
        value: json::to_compact(value),
        reason: format!("csv cannot write {what} into a cell"),
    })
}

/// Refuses numbers that no output can represent.
fn finite(value: &Value) -> Result<(), Box<Refusal>> {
    match value {
        Value::Float(number) if !number.is_finite() => Err(not_finite(*number)),
        Value::Array(values) => values.iter().try_for_each(finite),
        Value::Map(entries) => entries.iter().try_for_each(|(_, value)| finite(value)),
        _ => Ok(()),
    }
}

/// The refusal of NaN and infinities.
pub fn not_finite(number: f64) -> Box<Refusal> {
    Box::new(Refusal {
        code: "E443",
        category: None,
        value: number.to_string(),
        reason: "a number that is not finite cannot be written".into(),
    })
}
