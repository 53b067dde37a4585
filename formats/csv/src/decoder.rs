//! Blocks to columns of cells.

use std::fmt::Write;

use arrow_buffer::Buffer;
use clinker_format::charset::Charset;
use clinker_format::{Block, Decoded, Decoder, RejectedRow, RowText};
use clinker_record::cast::Cells;
use clinker_record::{CellRef, TextCells};
use memchr::memchr;

use crate::framing::Framing;
use crate::index::Index;

/// Splits rows into cells and checks their form.
pub struct CsvDecoder {
    framing: Framing,
    width: usize,
    has_header: bool,
}

/// A row that keeps its place in the result.
#[derive(Clone, Copy)]
struct RowAt {
    /// Position in the block.
    start: u32,
    /// Position of its first cell in the index.
    cell: usize,
}

/// Text that does not stand in the block as it is, and what is needed to make it.
#[derive(Default)]
struct Extra {
    text: Vec<u8>,
    unquoted: Vec<u8>,
}

impl CsvDecoder {
    /// A decoder of rows of `width` cells.
    pub fn new(framing: Framing, width: usize, has_header: bool) -> Self {
        Self { framing, width, has_header }
    }

    /// Whether the bytes of a cell are its text.
    fn is_direct(&self, data: &[u8]) -> bool {
        self.framing.charset == Charset::Utf8 || (self.framing.charset.continues_ascii() && data.is_ascii())
    }

    fn column(&self, data: &[u8], index: &Index, rows: impl Iterator<Item = RowAt>, extra: &mut Extra) -> Vec<CellRef> {
        if self.is_direct(data) {
            rows.map(|row| {
                let (start, end, quoted) = index.cell(row.start, row.cell, self.framing.unit);
                if quoted { self.unquoted(data, start, end, extra) } else { in_block(start, end) }
            })
            .collect()
        } else {
            rows.map(|row| {
                let (start, end, quoted) = index.cell(row.start, row.cell, self.framing.unit);
                self.transcoded(data, start, end, quoted, extra)
            })
            .collect()
        }
    }

    /// The text of a quoted cell.
    fn unquoted(&self, data: &[u8], start: usize, end: usize, extra: &mut Extra) -> CellRef {
        let inner = &data[start + 1..end];
        match memchr(self.framing.quote, inner) {
            Some(close) if close + 1 == inner.len() => in_block(start + 1, end - 1),
            _ => {
                let from = extra.text.len();
                self.framing.unquote(&data[start..end], &mut extra.text);
                in_extra(data, from, &extra.text)
            }
        }
    }

    /// The text of a cell whose bytes are in another character set.
    fn transcoded(&self, data: &[u8], start: usize, end: usize, quoted: bool, extra: &mut Extra) -> CellRef {
        let cell = &data[start..end];
        if !quoted && self.is_direct(cell) {
            return in_block(start, end);
        }
        let from = extra.text.len();
        let bytes = if quoted {
            extra.unquoted.clear();
            self.framing.unquote(cell, &mut extra.unquoted);
            &extra.unquoted
        } else {
            cell
        };
        // Every row was checked; units that decode in a row decode in its cells.
        let decoded = self.framing.charset.decode(bytes, &mut extra.text);
        debug_assert_eq!(decoded, Ok(()));
        in_extra(data, from, &extra.text)
    }

    fn is_valid(&self, data: &[u8]) -> bool {
        match self.framing.charset {
            Charset::Utf8 => simdutf8::basic::from_utf8(data).is_ok(),
            charset => self.is_direct(data) || charset.first_undecodable(data).is_none(),
        }
    }

    /// Sorts the rows into those of good form and the others.
    fn judge(&self, block: &Block, index: &Index, valid: bool) -> (Vec<u32>, Vec<RejectedRow>) {
        let (mut accepted, mut rejected) = (Vec::with_capacity(index.rows()), Vec::new());
        let mut place = Place { at: 0, line: block.first_line };
        for row in 0..index.rows() {
            let cells = index.width(row);
            let bytes = index.row(row);
            let text = &block.data[bytes.clone()];
            let bad = if valid { None } else { self.framing.charset.first_undecodable(text) };
            if cells == self.width && bad.is_none() {
                accepted.push(row as u32);
                continue;
            }
            place.advance(&self.framing, &block.data, bytes.start);
            let bad = bad.map(|bad| (block.offset + (bytes.start + bad.offset) as u64, &text[bad.offset..][..bad.len]));
            let (code, offset) = match bad {
                Some((offset, _)) if cells == self.width => ("E420", offset),
                _ => ("E423", block.offset + bytes.start as u64),
            };
            rejected.push(RejectedRow {
                row: row as u32,
                code,
                line: place.line,
                offset,
                reason: self.reason(cells, bad),
                raw: self.framing.charset.raw_text(text),
            });
        }
        (accepted, rejected)
    }

    fn reason(&self, cells: usize, bad: Option<(u64, &[u8])>) -> String {
        let mut reason = String::new();
        if cells != self.width {
            let first = if self.has_header { "header" } else { "first row" };
            let plural = if cells == 1 { "" } else { "s" };
            reason = format!("the row has {cells} cell{plural}, the {first} has {}", self.width);
        }
        if let Some((offset, bytes)) = bad {
            if !reason.is_empty() {
                reason.push_str("; ");
            }
            let name = self.framing.charset.name();
            write!(reason, "not valid {name} at byte offset {offset}:").expect("a string takes all text");
            for byte in bytes {
                write!(reason, " {byte:02X}").expect("a string takes all text");
            }
        }
        reason
    }
}

impl Decoder for CsvDecoder {
    fn decode(&self, block: &Block, wanted: &[usize]) -> Decoded {
        let data = block.data.as_slice();
        let index = Index::of(&self.framing, data, block.rows as usize);
        let mut extra = Extra::default();
        let valid = self.is_valid(data);
        let judged = if index.is_regular(self.width) && valid {
            None
        } else {
            Some(self.judge(block, &index, valid)).filter(|(_, rejected)| !rejected.is_empty())
        };
        let columns: Vec<Vec<CellRef>> = match &judged {
            None => {
                let width = self.width;
                let rows = |column| {
                    let starts = index.starts().iter().enumerate();
                    starts.map(move |(row, start)| RowAt { start: *start, cell: row * width + column })
                };
                wanted.iter().map(|column| self.column(data, &index, rows(*column), &mut extra)).collect()
            }
            Some((accepted, _)) => {
                let index = &index;
                let at = |row: u32, column| {
                    let row = row as usize;
                    RowAt { start: index.starts()[row], cell: index.first_cell(row) + column }
                };
                let rows = |column| accepted.iter().map(move |row| at(*row, column));
                wanted.iter().map(|column| self.column(data, index, rows(*column), &mut extra)).collect()
            }
        };
        let rows = judged.as_ref().map_or(index.rows(), |(accepted, _)| accepted.len());
        let extra = Buffer::from_vec(extra.text);
        let cells = columns
            .into_iter()
            .map(|refs| Cells::Text(TextCells { block: block.data.clone(), extra: extra.clone(), refs }))
            .collect();
        let (accepted, rejected) = match judged {
            None => (None, Vec::new()),
            Some((accepted, rejected)) => (Some(accepted), rejected),
        };
        Decoded { cells, rows, accepted, rejected, ..Decoded::default() }
    }

    fn row_text(&self, block: &Block, row: u32) -> RowText {
        let data = block.data.as_slice();
        let index = Index::of(&self.framing, data, block.rows as usize);
        let bytes = index.row(row as usize);
        let mut place = Place { at: 0, line: block.first_line };
        place.advance(&self.framing, data, bytes.start);
        RowText {
            line: place.line,
            offset: block.offset + bytes.start as u64,
            raw: self.framing.charset.raw_text(&data[bytes]),
        }
    }
}

#[inline]
fn in_block(start: usize, end: usize) -> CellRef {
    CellRef { offset: start as u32, len: (end - start) as u32 }
}

/// Text from `from` on, which stands behind the block.
fn in_extra(data: &[u8], from: usize, extra: &[u8]) -> CellRef {
    CellRef { offset: (data.len() + from) as u32, len: (extra.len() - from) as u32 }
}

/// A position that only moves forward, with its line.
struct Place {
    at: usize,
    line: u64,
}

impl Place {
    fn advance(&mut self, framing: &Framing, data: &[u8], to: usize) {
        self.line += framing.lines(&data[self.at..to]);
        self.at = to;
    }
}
