//! The reading half of the contract.

use std::any::Any;
use std::sync::Arc;

use arrow_buffer::Buffer;
use clinker_plugin_abi::guest::{HostFailed, Input, TextColumn};

use crate::Options;

/// A declared column as a format sees it.
#[derive(Clone, Debug)]
pub struct InputField {
    /// The input field it reads (`source_name`).
    pub input_name: Arc<str>,
    /// The name it is exposed under.
    pub exposed_name: Arc<str>,
    /// Its declared type as a schema writes it, such as `int` or `nullable(date)`.
    pub ty: String,
    /// Whether it holds several values.
    pub multiple: bool,
}

/// What a format is asked to read.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The given options, checked against the registration.
    pub options: Options,
    /// The declared columns.
    pub fields: Vec<InputField>,
    /// Whether fields that are not declared are wanted.
    pub undeclared: bool,
    /// Whether the first field that is not declared ends the reading (E430).
    pub refuse_undeclared: bool,
}

/// One input file, for messages.
#[derive(Clone, Debug)]
pub struct FileIdentity {
    /// The source's node name.
    pub source: Arc<str>,
    /// The file as `$source.file` shows it.
    pub shown: Arc<str>,
}

/// A format with its options bound: opens files.
pub trait ReadFactory: Send + Sync {
    /// Opens one file: reads what it needs to know the columns, nothing of the body.
    ///
    /// # Errors
    /// Corruption in front of the body, or a failure to read.
    fn open(&self, file: &FileIdentity, input: &mut Input) -> Result<OpenFile, Fault>;
    /// The levels that its files can open, outermost first.
    fn levels(&self) -> Vec<LevelSpec> {
        Vec::new()
    }
    /// Names that `$doc.<section>` has beside those that the user declares.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Closed
    }
    /// The columns that the format makes by itself, in order, all text; none when files or records name theirs.
    fn generated_columns(&self) -> Option<Vec<String>> {
        None
    }
}

/// A level that a format can open.
#[derive(Clone, Debug)]
pub struct LevelSpec {
    /// Its name.
    pub name: String,
    /// The name of its section.
    pub section: String,
    /// Declared fields of the section with their types; none when every field of the opener is one, as text.
    pub fields: Option<Vec<(String, String)>>,
    /// Whether it begins a logical document of its own.
    pub new_frame: bool,
    /// Whether it is the file level: the user names its sections in `envelope:`.
    pub file: bool,
}

/// The fields that sections of a format can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// Those that are declared.
    Closed,
    /// Also a prefix with a number of at least two digits, up to a maximum.
    Positional {
        /// In front of the number.
        prefix: String,
        /// The largest number.
        max: u32,
    },
    /// Any.
    Open,
}

/// A file that was opened.
pub struct OpenFile {
    /// Names of the columns the file has, in its order.
    pub columns: Vec<Arc<str>>,
    /// Whether the order of `columns` is the file's own (a header).
    pub named_by_file: bool,
    /// Physical line and byte offset of the header that named the columns.
    pub header_place: Option<(u64, u64)>,
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
    /// The next block, or `None` at the end of the file. A block ends only where a record ends beyond doubt. Its bytes are
    /// taken off the input.
    ///
    /// # Errors
    /// Corruption takes its place in the stream: the records before it were returned in earlier blocks.
    fn cut(&mut self, input: &mut Input, bound: BlockBound) -> Result<Option<Block>, Fault>;
    /// What is to be noted about the file, asked once, behind its last block: each code at most once.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// A warning about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its code.
    pub code: String,
    /// How often the noted thing occurred.
    pub count: u64,
    /// What occurred, one line.
    pub text: String,
}

/// Whole records as they stand in the file, as the cutter gives them.
#[derive(Default)]
pub struct Block {
    /// Offset in the file of the first byte: what [`Input::take`] gave.
    pub offset: u64,
    /// Number of bytes.
    pub len: usize,
    /// Body rows in it.
    pub rows: u32,
    /// 1-based physical line its first byte stands on.
    pub first_line: u64,
    /// Levels that open and close in it, in order. A block may have marks and no rows.
    pub marks: Vec<Mark>,
    /// Whatever else the decoder must know.
    pub context: Option<Arc<dyn Any + Send + Sync>>,
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
#[derive(Clone, Debug, Default)]
pub struct LevelOpen {
    /// Position in [`ReadFactory::levels`].
    pub level: u16,
    /// The fields of the header that are present and not empty.
    pub fields: Vec<(String, String)>,
    /// Engine keys: `$raw`, `$delims`, `$newline`.
    pub keys: Vec<(String, Vec<u8>)>,
    /// Physical line of the header, 1-based.
    pub line: u64,
    /// Byte offset in the file of the header.
    pub offset: u64,
}

/// A block as the decoder sees it.
pub struct BlockData {
    /// Its bytes.
    pub data: Buffer,
    /// Body rows in it.
    pub rows: u32,
    /// 1-based number in the file of its first body row.
    pub first_row: u64,
    /// 1-based physical line its first byte stands on.
    pub first_line: u64,
    /// Offset in the file of its first byte.
    pub offset: u64,
    /// The levels that open and close in it.
    pub marks: Arc<[Mark]>,
    /// What the cutter gave with it.
    pub context: Option<Arc<dyn Any + Send + Sync>>,
}

/// Stateless: one block to columns of cells, the same on any thread and in any order.
pub trait Decoder: Send + Sync {
    /// Decodes the wanted columns (positions in [`OpenFile::columns`]).
    fn decode(&self, block: &BlockData, wanted: &[usize]) -> Decoded;
    /// Place and raw text of a row of the block.
    fn row_text(&self, block: &BlockData, row: u32) -> RowText;
}

/// A row as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RowText {
    /// Physical line, 1-based.
    pub line: u64,
    /// Byte offset in the file of its first byte.
    pub offset: u64,
    /// Its text without terminator.
    pub raw: String,
}

/// What a block holds.
#[derive(Default)]
pub struct Decoded {
    /// One column for each wanted column, holding the accepted rows only: the rows of the block without the rejected ones.
    pub columns: Vec<TextColumn>,
    /// Fields that records of this block name and the schema does not, in the order in which the block first shows them.
    pub undeclared: Vec<(Arc<str>, TextColumn)>,
    /// Which undeclared fields the accepted rows have, and in which order of their own. Empty when there are none.
    pub shapes: Vec<ShapeRun>,
    /// Number of accepted rows.
    pub rows: usize,
    /// The rows that were not accepted, in order.
    pub rejected: Vec<RejectedRow>,
    /// Corruption behind these rows, which only decoding could find.
    pub fault: Option<Fault>,
}

/// Consecutive accepted rows with the same undeclared fields in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRun {
    /// How many rows.
    pub rows: u32,
    /// Positions in [`Decoded::undeclared`].
    pub fields: Vec<u32>,
}

/// A bounded row whose form is wrong: a row of its own with its exact bytes.
#[derive(Clone, Debug)]
pub struct RejectedRow {
    /// Position in the block.
    pub row: u32,
    /// The code of the fault.
    pub code: String,
    /// Physical line, 1-based.
    pub line: u64,
    /// Byte offset in the file of the offending construct.
    pub offset: u64,
    /// What was expected and found, one line.
    pub reason: String,
    /// The row's text without its terminator.
    pub raw: String,
}

/// What ends the reading of a file.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The input breaks the format beyond recovery.
    Corruption {
        /// The code of the fault.
        code: String,
        /// Physical line, 1-based; 0 when unknown.
        line: u64,
        /// Byte offset in the file where the offending construct starts.
        offset: u64,
        /// The construct, what was expected and what was found.
        reason: String,
        /// The way out.
        help: Option<String>,
    },
    /// The document breaks a rule that condemns it as a whole; what follows can still be read.
    Violation {
        /// The code of the fault.
        code: String,
        /// Physical line, 1-based.
        line: u64,
        /// Byte offset in the file where the offending construct starts.
        offset: u64,
        /// Level and reference, what was declared and what was found.
        reason: String,
    },
    /// The engine could not read: pass it on.
    Host,
}

impl From<HostFailed> for Fault {
    fn from(_: HostFailed) -> Self {
        Fault::Host
    }
}
