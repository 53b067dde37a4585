//! The reading half of the contract.

use std::any::Any;
use std::io;
use std::sync::Arc;

use arrow_buffer::Buffer;
use clinker_record::cast::Cells;
use clinker_record::{Frame, Type};

use crate::Options;
use crate::input::{BlockInput, InputFault};

/// A declared column as a format sees it.
#[derive(Clone, Debug)]
pub struct InputField {
    /// The input field it reads (`source_name`).
    pub input_name: Arc<str>,
    /// The name it is exposed under.
    pub exposed_name: Arc<str>,
    /// Its declared type (of one element when `multiple`).
    pub ty: Type,
    /// Whether it holds several values.
    pub multiple: bool,
}

/// A field of which each occurrence becomes a row of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandRule {
    /// The field, by its flattened name in the record.
    pub field: Arc<str>,
    /// Whether a record without an occurrence is one row, rather than none.
    pub keep_empty: bool,
    /// Where the fields of an occurrence go.
    pub mode: ExpandMode,
    /// The field that receives the 1-based position of the occurrence.
    pub position_column: Option<Arc<str>>,
}

/// Where the fields of an occurrence go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandMode {
    /// To the top level of the record.
    Extract,
    /// Below the name of the expanded field.
    Split,
}

/// What a format is asked to read.
pub struct ReadRequest<'a> {
    /// The given options, checked against the descriptor.
    pub options: &'a Options,
    /// The declared columns.
    pub fields: &'a [InputField],
    /// Whether fields that are not declared are wanted.
    pub undeclared: bool,
    /// Whether the first field that is not declared ends the reading (E430). For formats whose records name their own
    /// fields; where files name their columns, their reader's host compares them.
    pub refuse_undeclared: bool,
    /// Fields that make several rows of a record, applied in this order. Only for formats whose descriptor says so.
    pub expand: &'a [ExpandRule],
    /// The most rows that one record may become through them.
    pub max_rows: Option<u64>,
}

/// One input file, for messages.
#[derive(Clone, Debug)]
pub struct FileIdentity {
    /// The Source's node name.
    pub source: Arc<str>,
    /// The file as `$source.file` shows it.
    pub shown: Arc<str>,
}

/// A format with its options bound: opens files.
pub trait ReadFactory: Send + Sync {
    /// Opens one file: reads what it needs to know the columns, nothing of the body.
    ///
    /// # Errors
    /// Corruption in front of the body (a broken header, a wrong character set), or an I/O failure.
    fn open(&self, file: &FileIdentity, input: &mut BlockInput) -> Result<OpenFile, Fault>;
    /// The levels that its files can open, outermost first; none for a format without.
    fn levels(&self) -> &[LevelSpec] {
        &[]
    }
    /// Names that `$doc.<section>` has beside those that the user declares.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Closed
    }
    /// The columns that the format makes by itself, in order, all text; none when files or records name theirs.
    fn generated_columns(&self) -> Option<Arc<[Arc<str>]>> {
        None
    }
}

/// A level that a format can open.
#[derive(Clone, Debug)]
pub struct LevelSpec {
    /// Its name, and that of its section unless the user gave another one.
    pub name: Arc<str>,
    /// The name of its section. For the file level, whose sections the user declares, it has no meaning.
    pub section: Arc<str>,
    /// Declared fields of the section with their types; none when every field of the opener is one, as text.
    pub fields: Option<Vec<(Arc<str>, Type)>>,
    /// How its sections meet those around it.
    pub frame: Frame,
    /// Whether it is the file level: the user names its sections in `envelope:`.
    pub file: bool,
}

/// The fields that sections of a format can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// Those that are declared.
    Closed,
    /// Also a prefix with a number of at least two digits, up to a maximum (`e01`, `e02` …).
    Positional {
        /// In front of the number.
        prefix: Arc<str>,
        /// The largest number.
        max: u32,
    },
    /// Any.
    Open,
}

/// A file that was opened.
pub struct OpenFile {
    /// Names of the columns the file has, in its order. A format whose records name their own fields gives the declared
    /// input names; the others come with each block ([`Decoded::undeclared`]).
    pub columns: Vec<Arc<str>>,
    /// Whether the order of `columns` is the file's own (a header) and later files may differ in order.
    pub named_by_file: bool,
    /// Cuts the rest of the file.
    pub cutter: Box<dyn Cutter>,
    /// Decodes its blocks.
    pub decoder: Arc<dyn Decoder>,
}

/// How large a block may become. It always holds at least one record.
#[derive(Clone, Copy, Debug)]
pub struct BlockBound {
    /// At most this many body rows.
    pub rows: usize,
    /// No further record is added once the block has this many bytes.
    pub bytes: usize,
}

/// Sequential and exact: bytes to blocks of whole records.
pub trait Cutter: Send {
    /// The next block, or `None` at the end of the file. A block ends only where a record ends beyond doubt.
    ///
    /// # Errors
    /// Corruption takes its place in the stream: the records before it were returned in earlier blocks.
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault>;

    /// Physical line and byte offset of the header that named the columns; `None` when the file has none.
    fn header_place(&self) -> Option<(u64, u64)> {
        None
    }

    /// What is to be noted about the file, asked once, behind its last block: each code at most once.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// A warning about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its code.
    pub code: &'static str,
    /// How often the noted thing occurred.
    pub count: u64,
    /// What occurred, one line.
    pub text: String,
}

/// A level that opens or closes in a block.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Rows of the block in front of it.
    pub row: u32,
    /// What happens there.
    pub event: LevelEvent,
}

/// What happens at a [`Mark`]. Levels are strictly nested over all blocks of a file.
#[derive(Clone, Debug)]
pub enum LevelEvent {
    /// A level opens.
    Open(LevelOpen),
    /// The innermost open level closes.
    Close,
}

/// A level that opens, with what its header says.
#[derive(Clone, Debug)]
pub struct LevelOpen {
    /// Position in [`ReadFactory::levels`].
    pub level: u16,
    /// The fields of the header that are present and not empty, as text.
    pub fields: Vec<(Arc<str>, Arc<str>)>,
    /// Engine keys: `$raw`, `$delims`, `$newline`.
    pub keys: Vec<(&'static str, Arc<[u8]>)>,
    /// Physical line of the header, 1-based.
    pub line: u64,
    /// Byte offset in the file of the header.
    pub offset: u64,
}

/// Whole records as they stand in the file.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The bytes, from the first record's first byte on.
    pub data: Buffer,
    /// Body rows in it. Blank lines and the like are none.
    pub rows: u32,
    /// 1-based number in the file of its first body row.
    pub first_row: u64,
    /// 1-based physical line (record, segment: what the format counts) its first byte stands on.
    pub first_line: u64,
    /// Offset in the (decompressed) file of its first byte.
    pub offset: u64,
    /// Levels that open and close in it, in order. A block may have marks and no rows.
    pub marks: Vec<Mark>,
    /// Whatever else the decoder must know.
    pub context: Option<Arc<dyn Any + Send + Sync>>,
}

/// Stateless: one block to columns of cells, the same on any thread and in any order.
pub trait Decoder: Send + Sync {
    /// Decodes the wanted columns (positions in [`OpenFile::columns`]).
    fn decode(&self, block: &Block, wanted: &[usize]) -> Decoded;
    /// Place and raw text of a row of the block, for a row whose form is found wrong after it was decoded.
    fn row_text(&self, block: &Block, row: u32) -> RowText;
    /// As [`Decoder::row_text`], where the answer can fail: the engine asks with this one.
    ///
    /// # Errors
    /// A breach of the contract; only a plugin can.
    fn try_row_text(&self, block: &Block, row: u32) -> Result<RowText, Fault> {
        Ok(self.row_text(block, row))
    }
}

/// A row as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RowText {
    /// Physical line, 1-based.
    pub line: u64,
    /// Byte offset in the file of its first byte.
    pub offset: u64,
    /// Its text without terminator, by `clinker_record::text`'s raw-row rule.
    pub raw: String,
}

/// What a block holds.
#[derive(Debug, Default)]
pub struct Decoded {
    /// One column of cells for each wanted column, holding the accepted rows only.
    pub cells: Vec<Cells>,
    /// Fields that records of this block name and the schema does not, in the order in which the block first shows them.
    /// Only from formats whose records name their own fields.
    pub undeclared: Vec<(Arc<str>, Cells)>,
    /// Which undeclared fields the accepted rows have, a null counts, and in which order of their own. Empty when there
    /// are none.
    pub shapes: Vec<ShapeRun>,
    /// Number of accepted rows.
    pub rows: usize,
    /// Block positions of the accepted rows; `None` when every row of the block was accepted. A record that was expanded
    /// repeats its position for each of its rows.
    pub accepted: Option<Vec<u32>>,
    /// The rows that were not, in order.
    pub rejected: Vec<RejectedRow>,
    /// Records that would have become more rows than [`ReadRequest::max_rows`], and became none.
    pub overruns: Option<Box<Overruns>>,
    /// Records without an occurrence of an expanded field that is not kept empty: they are no rows.
    pub dropped: u64,
    /// Corruption behind these rows, which only decoding could find: nothing after it is read.
    pub fault: Option<Fault>,
}

/// Consecutive accepted rows with the same undeclared fields in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRun {
    /// How many rows.
    pub rows: usize,
    /// Positions in [`Decoded::undeclared`], in the order in which each of these rows has them.
    pub fields: Vec<u32>,
}

/// Records that would have become too many rows.
#[derive(Debug, Default)]
pub struct Overruns {
    /// Where they stand, in order.
    pub places: Vec<Overrun>,
    /// The cells of the records as they were read, not expanded: one row for each of `places`.
    pub records: Decoded,
}

/// A record that would have become too many rows.
#[derive(Clone, Debug)]
pub struct Overrun {
    /// Position in the block.
    pub row: u32,
    /// Physical line, 1-based.
    pub line: u64,
    /// Byte offset in the file of the record.
    pub offset: u64,
}

/// A bounded row whose form is wrong: a row of its own with its exact bytes.
#[derive(Clone, Debug)]
pub struct RejectedRow {
    /// Position in the block.
    pub row: u32,
    /// The code of the fault.
    pub code: &'static str,
    /// Physical line, 1-based.
    pub line: u64,
    /// Byte offset in the file of the offending construct.
    pub offset: u64,
    /// What was expected and found, one line.
    pub reason: String,
    /// The row's text without its terminator, by `clinker_record::text`'s raw-row rule.
    pub raw: String,
}

/// What ends the reading of a file.
#[derive(Debug)]
pub enum Fault {
    /// The input breaks the format beyond recovery.
    Corruption {
        /// The code of the fault.
        code: &'static str,
        /// Physical line, 1-based; 0 when unknown.
        line: u64,
        /// Byte offset in the file where the offending construct starts.
        offset: u64,
        /// The construct, what was expected and what was found; names the option when a limit was crossed.
        reason: String,
        /// The way out.
        help: Option<String>,
    },
    /// The document breaks a rule that condemns it as a whole: a declared count that is wrong, for instance. Its rows
    /// were delivered; what follows can still be read.
    Violation {
        /// The code of the fault.
        code: &'static str,
        /// Physical line, 1-based.
        line: u64,
        /// Byte offset in the file where the offending construct starts.
        offset: u64,
        /// Level and reference, what was declared and what was found.
        reason: String,
    },
    /// The format broke the contract (E468); only a plugin can.
    Contract {
        /// The plugin, its call, and what it did.
        reason: String,
    },
    /// The bytes could not be had.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    /// An error that carries an [`InputFault`] is corruption of the input; any other one is a failure to read it.
    fn from(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<InputFault>()) {
            Some(InputFault { code, offset, reason }) => {
                Fault::Corruption { code, line: 0, offset: *offset, reason: reason.clone(), help: None }
            }
            None => Fault::Io(error),
        }
    }
}
