//! Columns to the bytes of rows.

use std::sync::Arc;

use arrow_array::{Array, StringViewArray};
use clinker_format::charset::Charset;
use clinker_format::{Encoded, Encoder, JoinRule, OutputRows, RefusedRow};
use clinker_record::text::CellWriter;
use clinker_record::{Category, Column};

use crate::join::{self, Refusal};
use crate::quoting::Quoting;
use crate::spec::WriterSpec;

/// What a cell is expected to take, for the first allocation.
const CELL_BYTES: usize = 8;

/// Encodes rows. Shared by all threads.
pub struct CsvEncoder {
    charset: Charset,
    quoting: Quoting,
    delimiter: Vec<u8>,
    terminator: Vec<u8>,
    empty: Vec<u8>,
    joins: Vec<JoinRule>,
}

/// How the cells of a column are written.
enum Cells<'a> {
    /// Text that never needs a look.
    Plain(CellWriter<'a>),
    /// Text that may need quotes.
    Any(CellWriter<'a>),
    /// Text that stands in an array as it is.
    Text(&'a StringViewArray),
    /// Numbers that may be NaN or infinite.
    Float(CellWriter<'a>, &'a [f64]),
    /// Values known only at run time.
    Dynamic(&'a Column, JoinRule),
}

/// Bytes that are kept from cell to cell.
#[derive(Default)]
struct Scratch {
    text: Vec<u8>,
    quoted: Vec<u8>,
}

impl CsvEncoder {
    /// An encoder of bound options.
    pub fn new(spec: &WriterSpec, joins: Vec<JoinRule>) -> Self {
        let charset = spec.encoding.for_output();
        let encode = |text: &str| {
            let mut bytes = Vec::new();
            charset.encode(text, &mut bytes).expect("every character set holds ASCII");
            bytes
        };
        let quote = char::from(spec.quote);
        Self {
            charset,
            quoting: Quoting::new(spec, charset),
            delimiter: encode(char::from(spec.delimiter).encode_utf8(&mut [0; 4])),
            terminator: encode(if spec.crlf { "\r\n" } else { "\n" }),
            empty: encode(&format!("{quote}{quote}")),
            joins,
        }
    }

    /// Encodes one row of texts, as the header is one.
    ///
    /// # Errors
    /// The position of the first text that the character set cannot hold, and the character.
    pub fn row_of_texts(&self, texts: &[Arc<str>], quote_first: bool, out: &mut Vec<u8>) -> Result<(), (usize, char)> {
        let mut quoted = Vec::new();
        let start = out.len();
        for (place, text) in texts.iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(&self.delimiter);
            }
            quoted.clear();
            if place == 0 && quote_first {
                self.quoting.append_quoted(text.as_bytes(), &mut quoted);
            } else {
                self.quoting.append(text.as_bytes(), &mut quoted);
            }
            self.charset.encode(as_text(&quoted), out).map_err(|lacking| (place, lacking))?;
        }
        self.end_row(start, texts.len(), out);
        Ok(())
    }

    fn cells<'a>(&self, name: &Arc<str>, column: &'a Column) -> Cells<'a> {
        let writer = CellWriter::new(column);
        match column {
            Column::Text(array) => Cells::Text(array),
            Column::Dynamic(..) => {
                let rule = self.joins.iter().find(|rule| rule.field == *name).cloned();
                Cells::Dynamic(column, rule.unwrap_or_else(|| join::default_rule(name)))
            }
            Column::Float(array) => Cells::Float(writer, array.values()),
            _ if self.quoting.plain_scalars() => Cells::Plain(writer),
            _ => Cells::Any(writer),
        }
    }

    /// Appends a cell in UTF-8.
    #[inline]
    fn append_utf8(
        &self,
        cells: &Cells<'_>,
        row: usize,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<Refusal>> {
        match cells {
            Cells::Plain(writer) => writer.append(row, out),
            Cells::Text(array) => {
                let text = if array.is_null(row) { "" } else { array.value(row) };
                self.quoting.append(text.as_bytes(), out);
            }
            Cells::Float(_, values) if !values[row].is_finite() && !self.is_null(cells, row) => {
                return Err(join::not_finite(values[row]));
            }
            Cells::Float(writer, _) if self.quoting.plain_scalars() => writer.append(row, out),
            Cells::Any(writer) | Cells::Float(writer, _) => {
                scratch.clear();
                writer.append(row, scratch);
                self.quoting.append(scratch, out);
            }
            Cells::Dynamic(column, rule) => {
                scratch.clear();
                join::append(&column.value(row), rule, scratch)?;
                self.quoting.append(scratch, out);
            }
        }
        Ok(())
    }

    /// Whether a number that is not finite only fills the place of a null.
    fn is_null(&self, cells: &Cells<'_>, row: usize) -> bool {
        match cells {
            Cells::Float(CellWriter::Float(_, nulls), _) => nulls.is_some_and(|nulls| nulls.is_null(row)),
            _ => false,
        }
    }

    /// Appends a cell in a character set other than UTF-8.
    fn append_encoded(
        &self,
        cells: &Cells<'_>,
        row: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<Refusal>> {
        scratch.quoted.clear();
        self.append_utf8(cells, row, &mut scratch.text, &mut scratch.quoted)?;
        self.charset.encode(as_text(&scratch.quoted), out).map_err(|lacking| {
            Box::new(Refusal {
                code: "E443",
                category: Some(Category::TypeCoercionFailure),
                reason: lacking_reason(self.charset, lacking),
                value: cell_text(cells, row),
            })
        })
    }

    #[inline]
    fn end_row(&self, start: usize, cells: usize, out: &mut Vec<u8>) {
        if cells == 1 && out.len() == start {
            out.extend_from_slice(&self.empty);
        }
        push_all(&self.terminator, out);
    }

    /// Encodes rows whose cells `append` writes.
    #[inline]
    fn rows<A>(&self, rows: &OutputRows<'_>, columns: &[Cells<'_>], out: &mut Encoded, mut append: A)
    where
        A: FnMut(&Cells<'_>, usize, &mut Vec<u8>) -> Result<(), Box<Refusal>>,
    {
        out.ends.reserve(rows.rows);
        out.bytes.reserve(rows.rows * columns.len() * CELL_BYTES);
        for row in 0..rows.rows {
            let start = out.bytes.len();
            let mut refused = None;
            for (place, cells) in columns.iter().enumerate() {
                if place > 0 {
                    push_all(&self.delimiter, &mut out.bytes);
                }
                if let Err(refusal) = append(cells, row, &mut out.bytes) {
                    refused = Some((place, refusal));
                    break;
                }
            }
            let Some((place, refusal)) = refused else {
                self.end_row(start, columns.len(), &mut out.bytes);
                out.ends.push(u32::try_from(out.bytes.len()).expect("a batch encodes to less than 4 GiB"));
                continue;
            };
            out.bytes.truncate(start);
            out.refused.push(RefusedRow {
                row: u32::try_from(row).expect("a batch has less than 2^32 rows"),
                code: refusal.code,
                category: refusal.category,
                column: Arc::clone(&rows.names[place]),
                value: refusal.value,
                reason: refusal.reason,
            });
            if refusal.category.is_none() {
                return;
            }
        }
    }
}

impl Encoder for CsvEncoder {
    fn encode(&self, rows: &OutputRows<'_>, out: &mut Encoded) {
        let columns: Vec<Cells<'_>> =
            rows.names.iter().zip(rows.columns).map(|(name, column)| self.cells(name, column)).collect();
        let mut scratch = Scratch::default();
        if self.charset == Charset::Utf8 {
            self.rows(rows, &columns, out, |cells, row, out| self.append_utf8(cells, row, &mut scratch.text, out));
        } else {
            self.rows(rows, &columns, out, |cells, row, out| self.append_encoded(cells, row, &mut scratch, out));
        }
    }
}

/// Appends a delimiter or terminator, nearly always one byte.
#[inline]
fn push_all(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes {
        [byte] => out.push(*byte),
        _ => out.extend_from_slice(bytes),
    }
}

/// The text of a cell as it would be written, without quotes.
fn cell_text(cells: &Cells<'_>, row: usize) -> String {
    let mut text = Vec::new();
    match cells {
        Cells::Text(array) => text.extend_from_slice(array.value(row).as_bytes()),
        Cells::Plain(writer) | Cells::Any(writer) | Cells::Float(writer, _) => writer.append(row, &mut text),
        Cells::Dynamic(column, rule) => {
            join::append(&column.value(row), rule, &mut text).expect("this cell was appended before");
        }
    }
    String::from_utf8(text).expect("cells are text")
}

/// What is wrong with a character that a character set lacks.
pub fn lacking_reason(charset: Charset, lacking: char) -> String {
    format!("{} has no character U+{:04X}", charset.name(), u32::from(lacking))
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("cells are text")
}
