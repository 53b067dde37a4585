//! Rejected cells in messages and dead letters.

use std::fmt::Write as _;

use super::json_cells::json_cell;
use super::split::parts;
use super::{AdmitRule, Cells};
use crate::json::{self, Json};
use crate::text::{self, preview};
use crate::{JsonKind, Type, Value};

/// A cell as it was read: text unconverted, the values of a `split_values` column as a compact JSON array; `None` for
/// absent and null. A cell that should be a JSON array and is none is its text.
pub fn original_text(rule: &AdmitRule, cells: &Cells, row: usize) -> Option<String> {
    match cells {
        Cells::Absent(_) => None,
        Cells::Native(column) => {
            let value = column.value(row);
            (!value.is_null()).then(|| text::cell(&value))
        }
        Cells::Json(cells) => match cells.cell(row) {
            (JsonKind::Absent | JsonKind::Null, _) => None,
            (JsonKind::String, text) => Some(text_cell(rule, text)),
            (kind, text) => Some(json_cell(kind, text).to_compact()),
        },
        Cells::Text(cells) => Some(text_cell(rule, cells.text(row)?)),
    }
}

/// Appends [`original_text`]; nothing for absent and null.
pub fn append_original(rule: &AdmitRule, cells: &Cells, row: usize, out: &mut Vec<u8>) {
    match cells {
        // The common case, in a file of which every row is rejected the only one: the cell's bytes as they are.
        Cells::Text(cells) if rule.split.is_none() => out.extend_from_slice(cells.bytes(row).unwrap_or_default()),
        cells => out.extend_from_slice(original_text(rule, cells, row).unwrap_or_default().as_bytes()),
    }
}

fn text_cell(rule: &AdmitRule, text: &str) -> String {
    let Some(rule) = &rule.split else {
        return text.to_owned();
    };
    if rule.json && !text.is_empty() {
        return match json::parse(text, json::MAX_DEPTH) {
            Ok(array @ Json::Array(_)) => array.to_compact(),
            _ => text.to_owned(),
        };
    }
    let parts = if text.is_empty() { Vec::new() } else { parts(rule, text) };
    text::into_string(|out| json::append_texts(parts.iter().map(|part| Some(part.as_str())), out))
}

/// The line of a declared-type failure. `column` is the 1-based position among the declared columns, `value` the cell
/// as it was read, `None` for null and absent.
#[expect(clippy::too_many_arguments, reason = "each is one place of the line")]
pub fn render_e126(
    source: &str,
    file: &str,
    row: u64,
    column: usize,
    field: &str,
    ty: Type,
    value: Option<&str>,
    reason: &str,
) -> String {
    let mut line = String::with_capacity(LINE);
    line.push_str("[E126] source=\"");
    append_name(source, &mut line);
    line.push_str("\" file=\"");
    append_name(file, &mut line);
    // Piece by piece: the machinery of format strings would be a tenth of a run that rejects everything.
    let mut digits = itoa::Buffer::new();
    line.push_str("\" row=");
    line.push_str(digits.format(row));
    line.push_str(" column=");
    line.push_str(digits.format(column));
    line.push_str(" field=\"");
    append_name(field, &mut line);
    // Writing to a string cannot fail.
    let _ = write!(line, "\" declared_type={ty}");
    line.push_str(" preview=\"");
    line.push_str(&value.map_or_else(|| "null".to_owned(), preview));
    line.push_str("\" original_bytes=");
    line.push_str(digits.format(value.map_or(0, str::len)));
    line.push_str(": ");
    append_line(reason, &mut line);
    line
}

/// Room for an ordinary line.
const LINE: usize = 256;

/// Text of which every character stands for itself.
fn is_plain(text: &str) -> bool {
    // Without an early end: the compiler looks at many bytes at once.
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\'))
}

/// A name between quotes: what would end it, or the line, is escaped.
fn append_name(name: &str, line: &mut String) {
    if is_plain(name) {
        return line.push_str(name);
    }
    for char in name.chars() {
        match char {
            '"' | '\\' => line.extend(['\\', char]),
            char => append_char(char, line),
        }
    }
}

/// Text up to the end of the line.
fn append_line(text: &str, line: &mut String) {
    if is_plain(text) {
        return line.push_str(text);
    }
    text.chars().for_each(|char| append_char(char, line));
}

fn append_char(char: char, line: &mut String) {
    if char.is_control() {
        line.extend(char.escape_default());
    } else {
        line.push(char);
    }
}

impl Json<'_> {
    /// Compact JSON that keeps the literal text of numbers.
    fn to_compact(&self) -> String {
        text::into_string(|out| self.append_compact(out))
    }

    pub(super) fn append_compact(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => json::append_compact(&Value::Null, out),
            Json::Bool(value) => text::append_bool(*value, out),
            Json::Number(literal) => out.extend_from_slice(literal.as_bytes()),
            Json::String(text) => json::push_string(text, out),
            Json::Array(elements) => {
                out.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"" } else { b"," });
                    element.append_compact(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"" } else { b"," });
                    json::push_string(key, out);
                    out.push(b':');
                    value.append_compact(out);
                }
                out.push(b'}');
            }
        }
    }
}
