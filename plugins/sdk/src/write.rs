//! The writing half of the contract.

use std::fmt;
use std::io;
use std::sync::Arc;

use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int64Array, StringViewArray,
};
use clinker_plugin_abi::Item;

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

/// What a format is asked to write.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// The given options, checked against the registration.
    pub options: Options,
    /// Whether names are written (`include_header`).
    pub header: bool,
    /// Whether explicit nulls are written (`preserve_nulls`).
    pub preserve_nulls: bool,
    /// The given `join_values` entries.
    pub joins: Vec<JoinRule>,
}

/// A format with its options bound: makes encoders and writers.
pub trait WriteFactory: Send + Sync {
    /// The stateless half, shared by all threads; none when the bytes of a record depend on earlier ones.
    fn encoder(&self) -> Option<Arc<dyn Encoder>>;
    /// The sequential half, one for each output file. Without `header` the names of columns are not repeated.
    fn writer(&self, header: bool) -> Box<dyn Writer>;
    /// Whether columns are wanted with their types. Otherwise all are text, in the form that the engine writes.
    fn typed_columns(&self) -> bool {
        false
    }
    /// Whether a row can be refused because the output's character set lacks a character.
    fn may_lack_characters(&self) -> bool {
        false
    }
    /// How records with different columns share an output.
    fn column_set(&self) -> ColumnSet {
        ColumnSet::EachRecord
    }
    /// Options that are accepted and deserve a warning: code and message of each, with its key.
    fn warnings(&self) -> Vec<crate::OptionFault> {
        Vec::new()
    }
    /// Copies what was written into `out` with the columns `names`, of which the records have only the first ones. Asked
    /// only of a format with [`ColumnSet::Union`].
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

/// The values of one output column.
#[derive(Clone, Debug)]
pub enum OutputColumn {
    /// Text: every column of a format that does not ask for [`WriteFactory::typed_columns`].
    Text(StringViewArray),
    /// All null.
    Null(usize),
    /// Truth values.
    Bool(BooleanArray),
    /// Integers.
    Int(Int64Array),
    /// Numbers.
    Float(Float64Array),
    /// Exact numbers of 16 bytes: flags (the scale in bits 16 to 23, the sign in bit 31) and three words of the coefficient,
    /// low first, all little-endian.
    Decimal(FixedSizeBinaryArray),
    /// Days since 1970-01-01.
    Date(Date32Array),
    /// Nanoseconds since 1970-01-01T00:00:00.
    DateTime(Decimal128Array),
    /// Arrays (`array`), maps (`map`) or values known only at run time (`any`), as tagged JSON text.
    Dynamic(String, StringViewArray),
}

/// Rows to be written.
#[derive(Debug)]
pub struct OutputRows {
    /// Output names.
    pub names: Vec<Arc<str>>,
    /// One column a name, each `rows` long.
    pub columns: Vec<OutputColumn>,
    /// Number of rows.
    pub rows: usize,
    /// The levels around them.
    pub levels: Levels,
}

/// The levels around rows.
#[derive(Debug, Default)]
pub struct Levels {
    /// The levels that occur, each behind those around it.
    pub levels: Vec<Level>,
    /// From which row on which level is the innermost one; `None` outside of every level.
    pub runs: Vec<(usize, Option<usize>)>,
}

impl Levels {
    /// The innermost level around a row, as a position in `levels`.
    pub fn of_row(&self, row: usize) -> Option<usize> {
        let after = self.runs.partition_point(|(start, _)| *start <= row);
        self.runs[after.checked_sub(1)?].1
    }

    /// A level and those around it, innermost first.
    pub fn chain(&self, level: usize) -> impl Iterator<Item = &Level> {
        std::iter::successors(self.levels.get(level), |level| self.levels.get(level.parent?))
    }
}

/// A level that is open around rows.
#[derive(Clone, Debug)]
pub struct Level {
    /// Tells it from every other level of the run.
    pub id: u64,
    /// Position among the levels that the format declares that read it.
    pub kind: u16,
    /// 1-based position among the levels of that kind inside the level around it.
    pub ordinal: u64,
    /// Whether it begins a logical document.
    pub new_frame: bool,
    /// The level around it, as a position in [`Levels::levels`].
    pub parent: Option<usize>,
    /// What it says about the rows inside.
    pub sections: Vec<Section>,
}

/// Named fields of a level.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its fields, text in the form that the engine writes.
    pub fields: Vec<(String, Item)>,
    /// Engine keys.
    pub keys: Vec<(String, Vec<u8>)>,
}

impl Section {
    /// The text of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).and_then(|(_, value)| value.text())
    }
}

/// Stateless: columns to the bytes of records, the same on any thread and in any order.
pub trait Encoder: Send + Sync {
    /// Appends the bytes of the rows. A refused row leaves no byte.
    fn encode(&self, rows: &OutputRows, out: &mut Encoded);
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

/// The category of a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A value could not be written as required.
    TypeCoercionFailure,
    /// A structural rule failed.
    StructuralValidation,
    /// A cell could not hold joined values without ambiguity.
    MultiValueJoinCollision,
    /// A written value is NaN.
    NanInOutputField,
}

impl Category {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Category::TypeCoercionFailure => "type_coercion_failure",
            Category::StructuralValidation => "structural_validation",
            Category::MultiValueJoinCollision => "multi_value_join_collision",
            Category::NanInOutputField => "nan_in_output_field",
        }
    }
}

/// A row that cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedRow {
    /// Position among the rows given.
    pub row: u32,
    /// The code.
    pub code: String,
    /// Category of its dead letter; `None` when the refusal ends the run. No row behind it is encoded then.
    pub category: Option<Category>,
    /// Output column.
    pub column: Arc<str>,
    /// The offending value.
    pub value: String,
    /// What is wrong, one line.
    pub reason: String,
}

/// Sequential: framing around encoded records.
pub trait Writer: Send {
    /// Called once, with the column set, before any record; writes the preamble.
    ///
    /// # Errors
    /// Those of `out`, and a [`WriteFault`].
    fn columns(&mut self, names: &[Arc<str>], out: &mut dyn io::Write) -> io::Result<()>;
    /// Makes the bytes of rows, in order, with the framing that belongs in front of each of them: for a format without an
    /// encoder. What it appends is given to [`Writer::records`] next.
    fn rows(&mut self, rows: &OutputRows, out: &mut Encoded) {
        let _ = (rows, out);
        unreachable!("a format with an encoder is given what it encoded");
    }
    /// Places encoded records.
    ///
    /// # Errors
    /// Those of `out`, and a [`WriteFault`].
    fn records(&mut self, bytes: &[u8], ends: &[u32], out: &mut dyn io::Write) -> io::Result<()>;
    /// Called once, last: closes what is open.
    ///
    /// # Errors
    /// Those of `out`, and a [`WriteFault`].
    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()>;
}

/// A fault of the writer's own content, carried inside an [`io::Error`].
#[derive(Clone, Debug, PartialEq)]
pub struct WriteFault {
    /// The code.
    pub code: String,
    /// Output column.
    pub column: Arc<str>,
    /// What is wrong, one line.
    pub reason: String,
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
