//! Columns to the bytes of records.

use std::sync::Arc;

use arrow_array::{Array, StringViewArray};
use arrow_buffer::NullBuffer;
use clinker_format::{Encoded, Encoder, OutputRows, RefusedRow};
use clinker_record::text::{CellWriter, append_int, append_json_float, preview};
use clinker_record::{Column, json};

use crate::names::{Step, steps};
use crate::pretty;
use crate::scan::special_bits;
use crate::spec::WriterSpec;
use crate::values::{self, Refusal};

/// Bytes compared at once.
const LANE: usize = 16;
/// What a member is expected to take beside its key, for the first allocation.
const VALUE_BYTES: usize = 12;

/// Encodes records. Shared by all threads.
pub struct JsonEncoder {
    spec: WriterSpec,
}

/// How the values of a column are written.
enum Values<'a> {
    Null,
    Int(&'a [i64]),
    Float(&'a [f64]),
    Text(&'a StringViewArray),
    /// Literals that need no quotes.
    Plain(CellWriter<'a>),
    /// Text that needs quotes and no escapes.
    Quoted(CellWriter<'a>),
    /// Values known only at run time.
    Dynamic(&'a StringViewArray),
}

/// A column with its nulls.
struct Cells<'a> {
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Cells<'a> {
    fn of(column: &'a Column) -> Self {
        let writer = CellWriter::new(column);
        let (values, nulls) = match column {
            Column::Null(_) => (Values::Null, None),
            Column::Bool(array) => (Values::Plain(writer), array.nulls()),
            Column::Int(array) => (Values::Int(array.values()), array.nulls()),
            Column::Float(array) => (Values::Float(array.values()), array.nulls()),
            Column::Decimal(array) => (Values::Quoted(writer), array.nulls()),
            Column::Text(array) => (Values::Text(array), array.nulls()),
            Column::Date(array) => (Values::Quoted(writer), array.nulls()),
            Column::DateTime(array) => (Values::Quoted(writer), array.nulls()),
            Column::Dynamic(_, array) => (Values::Dynamic(array), array.nulls()),
        };
        Self { values, nulls: nulls.filter(|nulls| nulls.null_count() > 0) }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        matches!(self.values, Values::Null) || self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends a value that is not null.
    #[inline]
    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
        match &self.values {
            Values::Null => out.extend_from_slice(b"null"),
            Values::Int(values) => append_int(values[row], out),
            Values::Float(values) if values[row].is_finite() => append_json_float(values[row], out),
            Values::Float(values) => return Err(Box::new(values::not_finite(values[row]))),
            Values::Text(array) => append_text(array.value(row), out),
            Values::Plain(writer) => writer.append(row, out),
            Values::Quoted(writer) => {
                out.push(b'"');
                writer.append(row, out);
                out.push(b'"');
            }
            Values::Dynamic(array) => values::append(&json::from_tagged(array.value(row)), out)?,
        }
        Ok(())
    }

    /// A value for a message.
    fn shown(&self, row: usize) -> String {
        match &self.values {
            Values::Float(values) => clinker_record::text::cell(&clinker_record::Value::Float(values[row])),
            Values::Dynamic(array) => preview(array.value(row)).into_owned(),
            _ => String::new(),
        }
    }
}

/// Appends a JSON string, nearly always without a look at single bytes.
#[inline]
fn append_text(text: &str, out: &mut Vec<u8>) {
    if has_special(text.as_bytes()) {
        json::push_string(text, out);
        return;
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Whether a byte of a text needs an escape.
#[inline]
fn has_special(text: &[u8]) -> bool {
    // Whatever is longer than a lane ends in one that overlaps the lane before it.
    let Some(last) = text.last_chunk::<LANE>() else { return short_has_special(text) };
    let (lanes, _) = text.as_chunks::<LANE>();
    lanes.iter().any(|lane| special_bits(lane) != 0) || special_bits(last) != 0
}

/// A text shorter than a lane fills one by being put there twice.
#[inline]
fn short_has_special(text: &[u8]) -> bool {
    let mut lane = [b' '; LANE];
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        lane[..8].copy_from_slice(first);
        lane[8..].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        lane[..4].copy_from_slice(first);
        lane[4..8].copy_from_slice(last);
    } else {
        return text.iter().any(|byte| matches!(byte, b'"' | b'\\' | 0..=31));
    }
    special_bits(&lane) != 0
}

/// A column and value that stop the writing.
type Stopped = (usize, Box<Refusal>);

impl JsonEncoder {
    /// An encoder of bound options.
    pub fn new(spec: WriterSpec) -> Self {
        Self { spec }
    }

    /// Appends a record without terminator. Each member leaves a comma behind it, which the end of its container takes
    /// back.
    #[inline]
    fn record(
        &self,
        steps: &[Step],
        columns: &[Cells<'_>],
        row: usize,
        opened: &mut Vec<(usize, usize)>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stopped> {
        let start = out.len();
        out.push(b'{');
        for step in steps {
            match step {
                Step::Leaf(column, key) => {
                    let cells = &columns[*column];
                    if cells.is_null(row) {
                        if self.spec.preserve_nulls {
                            out.extend_from_slice(key);
                            out.extend_from_slice(b"null,");
                        }
                        continue;
                    }
                    out.extend_from_slice(key);
                    cells.append(row, out).map_err(|refusal| (*column, refusal))?;
                    out.push(b',');
                }
                Step::Open(key) => {
                    let before = out.len();
                    out.extend_from_slice(key);
                    opened.push((before, out.len()));
                }
                Step::Close => {
                    let (before, inside) = opened.pop().expect("each container was opened");
                    if out.len() == inside {
                        out.truncate(before);
                    } else {
                        close(out);
                        out.push(b',');
                    }
                }
            }
        }
        if out.len() == start + 1 {
            out.push(b'}');
        } else {
            close(out);
        }
        Ok(())
    }
}

/// Ends a container: its last comma becomes the brace.
#[inline]
fn close(out: &mut [u8]) {
    *out.last_mut().expect("the container holds a member") = b'}';
}

impl Encoder for JsonEncoder {
    fn encode(&self, rows: &OutputRows<'_>, out: &mut Encoded) {
        let steps = match steps(rows.names) {
            Ok(steps) => steps,
            Err(fault) => {
                let refused = RefusedRow {
                    row: 0,
                    code: fault.code,
                    category: None,
                    column: fault.column,
                    value: String::new(),
                    reason: fault.reason,
                };
                out.refused.extend((rows.rows > 0).then_some(refused));
                return;
            }
        };
        let columns: Vec<Cells<'_>> = rows.columns.iter().map(Cells::of).collect();
        let (mut opened, mut compact) = (Vec::new(), Vec::new());
        let keys: usize = rows.names.iter().map(|name| name.len() + 4).sum();
        out.ends.reserve(rows.rows);
        out.bytes.reserve(rows.rows * (keys + columns.len() * VALUE_BYTES));
        for row in 0..rows.rows {
            let start = out.bytes.len();
            let result = if self.spec.pretty {
                compact.clear();
                let result = self.record(&steps, &columns, row, &mut opened, &mut compact);
                pretty::append(&compact, &mut out.bytes);
                result
            } else {
                self.record(&steps, &columns, row, &mut opened, &mut out.bytes)
            };
            if let Err((column, refusal)) = result {
                out.bytes.truncate(start);
                out.refused.push(RefusedRow {
                    row: u32::try_from(row).expect("a batch has less than 2^32 rows"),
                    code: refusal.code,
                    category: None,
                    column: Arc::clone(&rows.names[column]),
                    value: columns[column].shown(row),
                    reason: refusal.reason,
                });
                return;
            }
            if self.spec.lines {
                out.bytes.push(b'\n');
            }
            out.ends.push(u32::try_from(out.bytes.len()).expect("a batch encodes to less than 4 GiB"));
        }
    }
}
