//! Rows that were written before a column was known get an empty cell for it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use clinker_format::{ColumnRun, WriteFactory};

use crate::framing::{Class, Framing};
use crate::writer::CsvOutput;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// Copies an output of ours with more columns: a new header, and every row filled up to the width of `names`. What is
/// read was written by this crate, so quotes are balanced and stand only where a cell is quoted.
pub(crate) fn complete(
    output: &CsvOutput,
    written: &mut dyn Read,
    runs: &[ColumnRun],
    names: &[Arc<str>],
    header: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pads = Pads::new(output, names.len())?;
    let mut rows = Rows::new(output.framing(), written);
    if header {
        rows.next()?;
        output.writer().columns(names, out)?;
    }
    for run in runs {
        for _ in 0..run.records {
            let Some(row) = rows.next()? else { return Err(io::ErrorKind::UnexpectedEof.into()) };
            pads.write(row, run.columns, out)?;
        }
    }
    Ok(())
}

/// What a row is filled with.
struct Pads {
    columns: usize,
    /// A delimiter and an empty cell, once for each missing column.
    cells: Vec<u8>,
    cell: usize,
    /// The end of a row.
    end: Vec<u8>,
    /// A row of one empty cell is written in quotes, lest it be a blank line; a wider one needs none.
    lone_empty: Vec<u8>,
    always: bool,
    mark: &'static [u8],
}

impl Pads {
    fn new(output: &CsvOutput, columns: usize) -> io::Result<Self> {
        let encoded = |text: &str| {
            let mut bytes = Vec::new();
            output.charset().encode(text, &mut bytes).map_err(|_| io::Error::other("a character set without ASCII"))?;
            Ok::<_, io::Error>(bytes)
        };
        let spec = output.spec();
        let (delimiter, quote) = (char::from(spec.delimiter), char::from(spec.quote));
        let lone_empty = encoded(&format!("{quote}{quote}"))?;
        let mut cell = encoded(&delimiter.to_string())?;
        if spec.always {
            cell.extend_from_slice(&lone_empty);
        }
        Ok(Self {
            columns,
            cells: cell.repeat(columns),
            cell: cell.len(),
            end: encoded(if spec.crlf { "\r\n" } else { "\n" })?,
            lone_empty,
            always: spec.always,
            mark: spec.encoding.output_mark(),
        })
    }

    fn write(&self, row: &[u8], width: usize, out: &mut dyn Write) -> io::Result<()> {
        let cells = row.strip_suffix(&self.end[..]).unwrap_or(row);
        let text = cells.strip_prefix(self.mark).unwrap_or(cells);
        let alone = width == 1 && self.columns > 1 && !self.always && text == self.lone_empty;
        out.write_all(if alone { &cells[..cells.len() - text.len()] } else { cells })?;
        out.write_all(&self.cells[..self.cell * (self.columns - width)])?;
        out.write_all(&self.end)
    }
}

/// The rows of an output, with their line ends.
struct Rows<'a> {
    framing: Framing,
    source: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Start of the next row in the buffer.
    start: usize,
    ended: bool,
}

impl<'a> Rows<'a> {
    fn new(framing: Framing, source: &'a mut dyn Read) -> Self {
        Self { framing, source, buffer: Vec::new(), start: 0, ended: false }
    }

    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let (mut at, mut quoted) = (self.start, false);
        loop {
            while at + self.framing.unit <= self.buffer.len() {
                let class = self.framing.class(&self.buffer, at);
                at += self.framing.unit;
                match class {
                    Class::Quote => quoted = !quoted,
                    Class::Lf if !quoted => {
                        let row = self.start..at;
                        self.start = at;
                        return Ok(Some(&self.buffer[row]));
                    }
                    _ => {}
                }
            }
            if self.ended {
                return Ok(None);
            }
            self.buffer.drain(..self.start);
            at -= self.start;
            self.start = 0;
            let read = (&mut *self.source).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
            self.ended = read == 0;
        }
    }
}
