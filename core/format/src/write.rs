//! The writing half of the contract.

use std::fmt;
use std::io;
use std::sync::Arc;

use clinker_record::{Category, Column, Origin, Type};

use crate::Options;

/// What an array does when a value contains the delimiter it is joined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinConflict {
    /// The record is refused.
    Error,
    /// The escape character is put before delimiters and escape characters.
    Escape,
    /// The whole array becomes a JSON array.
    EncodeJson,
}

/// How one multi-value column is joined into a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinRule {
    /// Output column.
    pub field: Arc<str>,
    /// Put between the values.
    pub delimiter: String,
    /// What happens on a collision.
    pub on_conflict: JoinConflict,
    /// The escape of [`JoinConflict::Escape`].
    pub escape: String,
}

/// A column of an output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// The name it is written under.
    pub name: Arc<str>,
    /// Its type, as far as it is known when the plan is made.
    pub ty: Type,
}

/// What a format is asked to write.
pub struct WriteRequest<'a> {
    /// The given options, checked against the descriptor.
    pub options: &'a Options,
    /// Whether names are written (`include_header`).
    pub header: bool,
    /// Whether formats with optional fields write explicit nulls (`preserve_nulls`).
    pub preserve_nulls: bool,
    /// The given `join_values` entries; a column without one uses `;` and `error`.
    pub joins: &'a [JoinRule],
}

/// A format with its options bound: makes encoders and writers.
pub trait WriteFactory: Send + Sync {
    /// The stateless half, shared by all threads. A format whose bytes depend on earlier records has none: its
    /// [`Writer`] is given the rows, by one thread a file, and its outputs cannot be split.
    fn encoder(&self) -> Option<Arc<dyn Encoder>>;
    /// The sequential half, one for each output file.
    fn writer(&self) -> Box<dyn Writer>;
    /// As [`WriteFactory::writer`], for a further file of a split output that does not repeat the names of the columns.
    /// A format without such names makes no difference.
    fn writer_without_header(&self) -> Box<dyn Writer> {
        self.writer()
    }
    /// Whether a row can be refused because the output's character set lacks a character.
    fn may_lack_characters(&self) -> bool;
    /// How records with different columns share an output.
    fn column_set(&self) -> ColumnSet {
        ColumnSet::EachRecord
    }
    /// Copies what was written into `out` with the columns `names`, of which the records have only the first ones: `runs`
    /// says how many, `header` whether the file begins with names. Asked only of a format with [`ColumnSet::Union`].
    ///
    /// # Errors
    /// Those of the streams.
    fn complete(
        &self,
        written: &mut dyn io::Read,
        runs: &[ColumnRun],
        names: &[Arc<str>],
        header: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let _ = (written, runs, names, header, out);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// How records with different columns share an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnSet {
    /// One set for all records: the union of their columns in first-seen order.
    Union,
    /// Each record is written with its own columns.
    EachRecord,
}

/// Consecutive records that were written with the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnRun {
    /// Number of records.
    pub records: u64,
    /// Number of columns they have.
    pub columns: usize,
}

/// Rows to be written: projected, in the output's column order.
pub struct OutputRows<'a> {
    /// Output names.
    pub names: &'a [Arc<str>],
    /// One column a name, each `rows` long.
    pub columns: &'a [Column],
    /// Number of rows.
    pub rows: usize,
    /// Where they come from, with the levels around them.
    pub origin: &'a Origin,
}

/// Stateless: columns to the bytes of records, the same on any thread and in any order.
pub trait Encoder: Send + Sync {
    /// Appends the bytes of the rows. A refused row leaves no byte. After a row whose refusal is fatal no further row
    /// is encoded.
    fn encode(&self, rows: &OutputRows<'_>, out: &mut Encoded);
}

/// The bytes of records.
#[derive(Debug, Default)]
pub struct Encoded {
    /// Records one after another.
    pub bytes: Vec<u8>,
    /// End of each record in `bytes`.
    pub ends: Vec<u32>,
    /// The rows that were not written, in order.
    pub refused: Vec<RefusedRow>,
}

/// A row that cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedRow {
    /// Position among the rows given.
    pub row: u32,
    /// The code.
    pub code: &'static str,
    /// Category of its dead letter; `None` when the refusal ends the run (a write failure).
    pub category: Option<Category>,
    /// Output column.
    pub column: Arc<str>,
    /// The offending value.
    pub value: String,
    /// What is wrong, one line.
    pub reason: String,
}

/// Sequential: framing around encoded records. It never sorts, holds documents or opens files.
pub trait Writer: Send {
    /// Called once, with the column set, before any record; writes the preamble (a header line).
    ///
    /// # Errors
    /// Only those of `out`.
    fn columns(&mut self, names: &[Arc<str>], out: &mut dyn io::Write) -> io::Result<()>;
    /// Makes the bytes of rows, in order, with the framing that belongs in front of each of them. Called instead of an
    /// encoder, for a format without one; what it appends is given to [`Writer::records`] next. A refused row leaves no
    /// byte; after a row whose refusal is fatal no further row is taken.
    fn rows(&mut self, rows: &OutputRows<'_>, out: &mut Encoded) {
        let _ = (rows, out);
        unreachable!("a format with an encoder is given what it encoded");
    }
    /// Places encoded records.
    ///
    /// # Errors
    /// Only those of `out`.
    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()>;
    /// Called once, last: closes what is open.
    ///
    /// # Errors
    /// Only those of `out`.
    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()>;
}

/// A fault of the writer's own content, carried inside an [`io::Error`]: a write failure, no resource failure.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteFault {
    /// The code.
    pub code: &'static str,
    /// Output column.
    pub column: Arc<str>,
    /// What is wrong, one line.
    pub reason: String,
}

impl WriteFault {
    /// The fault that an error carries, if it carries one.
    pub fn of(error: &io::Error) -> Option<&WriteFault> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }
}

impl fmt::Display for WriteFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "[{}] column `{}`: {}", self.code, self.column, self.reason)
    }
}

impl std::error::Error for WriteFault {}

impl From<WriteFault> for io::Error {
    fn from(fault: WriteFault) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, fault)
    }
}
