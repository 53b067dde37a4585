//! Rejected cells in messages and dead letters.

use std::borrow::Cow;

use super::json_cells::json_cell;
use super::split::parts;
use super::{AdmitRule, Cells};
use crate::json::{self, Json};
use crate::text::{self, preview};
use crate::{JsonKind, Type, Value};

/// A cell as it was read: text unconverted, the values of a `split_values` column as a compact JSON array; `None` for
/// absent and null. A cell that should be a JSON array and is none is its text.
pub fn original_text<'a>(rule: &AdmitRule, cells: &'a Cells, row: usize) -> Option<Cow<'a, str>> {
    match cells {
        Cells::Absent(_) => None,
        Cells::Native(column) => {
            let value = column.value(row);
            (!value.is_null()).then(|| text::cell(&value).into())
        }
        Cells::Json(cells) => match cells.cell(row) {
            (JsonKind::Absent | JsonKind::Null, _) => None,
            (JsonKind::String, text) => Some(text_cell(rule, text)),
            (kind, text) => Some(json_cell(kind, text).to_compact().into()),
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

fn text_cell<'a>(rule: &AdmitRule, text: &'a str) -> Cow<'a, str> {
    let Some(rule) = &rule.split else {
        return text.into();
    };
    if rule.json && !text.is_empty() {
        return match json::parse(text, json::MAX_DEPTH) {
            Ok(array @ Json::Array(_)) => array.to_compact().into(),
            _ => text.into(),
        };
    }
    let parts = if text.is_empty() { Vec::new() } else { parts(rule, text) };
    text::into_string(|out| json::append_texts(parts.iter().map(|part| Some(part.as_str())), out)).into()
}

/// The lines of the declared-type failures of one column. What they share is made once: where every row is rejected,
/// making it is most of the work.
///
/// `put` appends a piece of a line to whatever the line goes into, so that quotes can be doubled on the way.
pub struct E126Lines<P> {
    put: P,
    before_row: Vec<u8>,
    before_preview: Vec<u8>,
    after_preview: Vec<u8>,
}

impl<P: Fn(&str, &mut Vec<u8>)> E126Lines<P> {
    /// Lines for a column: `column` is its 1-based position among the declared ones.
    pub fn new(source: &str, file: &str, column: usize, field: &str, ty: Type, put: P) -> Self {
        let (source, file, field) = (name(source), name(file), name(field));
        let piece = |text: &str| {
            let mut piece = Vec::with_capacity(text.len());
            put(text, &mut piece);
            piece
        };
        Self {
            before_row: piece(&format!("[E126] source=\"{source}\" file=\"{file}\" row=")),
            before_preview: piece(&format!(" column={column} field=\"{field}\" declared_type={ty} preview=\"")),
            after_preview: piece("\" original_bytes="),
            put,
        }
    }

    /// Appends the line of a row. `value` is the cell as it was read, `None` for null and absent.
    pub fn append(&self, row: u64, value: Option<&str>, reason: &str, out: &mut Vec<u8>) {
        // Piece by piece: the machinery of format strings would be a tenth of a run that rejects everything.
        let mut digits = itoa::Buffer::new();
        out.extend_from_slice(&self.before_row);
        out.extend_from_slice(digits.format(row).as_bytes());
        out.extend_from_slice(&self.before_preview);
        (self.put)(&value.map_or(Cow::Borrowed("null"), preview), out);
        out.extend_from_slice(&self.after_preview);
        out.extend_from_slice(digits.format(value.map_or(0, str::len)).as_bytes());
        (self.put)(": ", out);
        (self.put)(&line(reason), out);
    }
}

/// Text of which every character stands for itself.
fn is_plain(text: &str) -> bool {
    // Without an early end: the compiler looks at many bytes at once.
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\'))
}

/// A name between quotes: what would end it, or the line, is escaped.
fn name(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return name.into();
    }
    let mut escaped = String::with_capacity(name.len() + 2);
    for char in name.chars() {
        match char {
            '"' | '\\' => escaped.extend(['\\', char]),
            char => append_char(char, &mut escaped),
        }
    }
    escaped.into()
}

/// Text up to the end of the line.
fn line(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return text.into();
    }
    let mut line = String::with_capacity(text.len());
    text.chars().for_each(|char| append_char(char, &mut line));
    line.into()
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
