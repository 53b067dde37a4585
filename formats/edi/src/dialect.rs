//! What makes one segment format different from another, as data.

use std::sync::Arc;

use clinker_record::{Frame, Type};
use regex::Regex;

/// A segment format. Built in, or read from a description.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// The word `type:` uses.
    pub name: Arc<str>,
    /// Where segments begin and end.
    pub framing: Framing,
    /// How bytes become text.
    pub charset: CharsetRule,
    /// The columns of a record.
    pub columns: Columns,
    /// The levels, outermost first; the opener of the last one is a record unless it says otherwise.
    pub levels: Vec<LevelRule>,
    /// What trailers count.
    pub counts: Vec<CountRule>,
    /// What trailers echo.
    pub references: Vec<ReferenceRule>,
    /// Segments that are records although no innermost level is open: tag, and the level they must be directly in.
    pub allow_outside: Vec<(Arc<str>, u16)>,
    /// Tags that may not occur, each with the text of its fault.
    pub forbid: Vec<(Arc<str>, Arc<str>)>,
    /// Segments with length-counted data.
    pub binary: Vec<BinaryRule>,
    /// The reader option that splits composites (7.5), where there is one.
    pub split_option: Option<Arc<str>>,
    /// Whether `sort_order` may repair files, which are then read as one flat level.
    pub sortable: bool,
    /// How it is written; none when it is only read.
    pub writer: Option<WriterRules>,
    /// Largest segment in bytes.
    pub segment_bytes: usize,
    /// Whether anything but line breaks, blanks and one end-of-file control may follow the last segment.
    pub trailing: Trailing,
}

/// Where segments begin and end.
#[derive(Clone, Debug, Default)]
pub struct Framing {
    /// Tags that may begin a file.
    pub start: Vec<Arc<str>>,
    /// Length of the first segment, terminator included; none when it is delimited.
    pub header_bytes: Option<usize>,
    /// An optional leading segment that only carries delimiters: its tag and its length in bytes.
    pub service: Option<(Arc<str>, usize)>,
    /// Where each delimiter comes from: the first source that applies.
    pub delimiters: Vec<(Role, Vec<Source>)>,
    /// Tags have this width and no separator follows.
    pub tag_width: Option<usize>,
    /// Tags whose first element begins right behind the separator they declare: element 1 is that separator.
    pub self_describing: Vec<Arc<str>>,
    /// How separators that are data are written.
    pub escape: EscapeStyle,
    /// CR and LF around segments are data, not padding.
    pub line_breaks_are_data: bool,
    /// The last segment may lack its terminator.
    pub last_terminator_optional: bool,
    /// Tags that repeat the delimiters and must agree.
    pub redeclare: Vec<Arc<str>>,
}

/// What a delimiter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Between elements.
    Element,
    /// Behind a segment.
    Terminator,
    /// Between the components of an element.
    Component,
    /// Between the parts of a component.
    Subcomponent,
    /// Between the repetitions of an element.
    Repetition,
    /// Makes what follows literal.
    Release,
    /// Between tag and first element, where it differs from `Element`.
    Tag,
}

/// Where a delimiter comes from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The place.
    pub from: SourcePlace,
    /// All of these must hold.
    pub when: Vec<Condition>,
    /// The source does not apply to a byte of this kind.
    pub unless: Option<Unless>,
}

/// The place of a delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// This byte.
    Literal(u8),
    /// That byte of the header, counted from 0.
    Byte(usize),
    /// That byte of the service segment, counted from 0.
    ServiceByte(usize),
    /// The header's element of that number, which is one byte long.
    Element(u32),
    /// There is none.
    None,
}

/// Bytes to which a source does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unless {
    /// A letter or a digit.
    Alnum,
    /// A blank.
    Space,
}

/// A condition on an element of the header.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Tag of the header.
    pub header: Arc<str>,
    /// Its element, from 1.
    pub element: u32,
    /// A component of it, from 1.
    pub component: Option<u32>,
    /// What it must be.
    pub test: Test,
}

/// What an element must be.
#[derive(Clone, Debug)]
pub enum Test {
    /// This text.
    Equals(Arc<str>),
    /// This text or a later one, compared as text.
    AtLeast(Arc<str>),
    /// A match, anywhere in it.
    Matches(Regex),
    /// Empty or missing.
    Empty,
}

/// How separators that are data are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EscapeStyle {
    /// They cannot be.
    #[default]
    None,
    /// The release character makes the next one literal.
    Release,
    /// Text between two release characters names what it stands for.
    Sequence {
        /// Name and meaning.
        names: Vec<(Arc<str>, Role)>,
        /// The name in front of bytes written in hexadecimal.
        hex: Option<Arc<str>>,
    },
}

/// How bytes become text.
#[derive(Clone, Debug)]
pub enum CharsetRule {
    /// Always this one.
    Fixed(Arc<str>),
    /// The `encoding` option, with this default.
    Option(Arc<str>),
    /// An element of the header decides.
    Element {
        /// Tag of the header.
        header: Arc<str>,
        /// Its element, from 1.
        element: u32,
        /// A component of it, from 1.
        component: Option<u32>,
        /// Its values with the name of a character set.
        map: Vec<(Arc<str>, Arc<str>)>,
    },
}

/// The columns of a record.
#[derive(Clone, Debug)]
pub struct Columns {
    /// In front of the numbers of positional columns.
    pub prefix: Arc<str>,
    /// The default of the option below.
    pub max: u32,
    /// The reader option that limits the number of elements.
    pub max_option: Arc<str>,
    /// The column that holds the tag.
    pub tag_column: Arc<str>,
    /// What a tag looks like; it must match as a whole.
    pub tag_pattern: Regex,
}

/// A level.
#[derive(Clone, Debug)]
pub struct LevelRule {
    /// Its name, and the default name of its section.
    pub name: Arc<str>,
    /// The reader option that renames and types its section; none for the file level.
    pub section_option: Option<Arc<str>>,
    /// The tag that opens it.
    pub open: Arc<str>,
    /// The tag that closes it; none: the next opener of this or an outer level, an outer closer, or the end of input.
    pub close: Option<Arc<str>>,
    /// The file level.
    pub file: bool,
    /// Whether it may be missing.
    pub optional: Presence,
    /// Whether the end of input may stand for the closing segment.
    pub close_optional: bool,
    /// How its sections meet those around it.
    pub frame: Frame,
    /// Whether its opener is a record.
    pub emit_open: bool,
    /// Key columns on each row inside: name, and the element of the opener. The first one groups records for writing.
    pub columns: Vec<KeyColumn>,
    /// Declared fields of its section.
    pub fields: Option<Vec<(Arc<str>, Type)>>,
}

/// A key column of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name.
    pub name: Arc<str>,
    /// Element of the opener, from 1.
    pub element: u32,
    /// The reader option (a switch, off by default) without which it is not generated; writers always know it.
    pub option: Option<Arc<str>>,
}

/// Whether a level may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It must be there.
    #[default]
    Required,
    /// It may be missing.
    Optional,
    /// Either all inner levels are inside it, or none.
    AllOrNone,
}

/// What a trailer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountRule {
    /// Tag of the trailer.
    pub at: Arc<str>,
    /// Its element, from 1.
    pub element: u32,
    /// What is counted.
    pub of: Counted,
    /// In which level; none for the one that the trailer closes.
    pub within: Option<u16>,
    /// Whether opener and trailer count (segments, bytes).
    pub inclusive: bool,
    /// Whether an absent or empty count is accepted.
    pub optional: bool,
    /// Whether a mismatch is corruption rather than a fault of the document.
    pub corruption: bool,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Segments.
    Segments,
    /// Levels of one of these kinds: the first that occurred.
    Levels(Vec<u16>),
    /// Segments with this tag.
    Tag(Arc<str>),
    /// Bytes.
    Bytes,
    /// The exact decimal sum of an element.
    Sum {
        /// Of segments with this tag.
        segment: Arc<str>,
        /// Its number, from 1.
        element: u32,
    },
}

/// What a trailer echoes.
#[derive(Clone, Debug)]
pub struct ReferenceRule {
    /// Tag of the trailer.
    pub at: Arc<str>,
    /// Its element, from 1.
    pub element: u32,
    /// Tag of the header.
    pub of: Arc<str>,
    /// The first whose conditions hold applies: any non-empty one of its elements may match; none present accepts all.
    pub candidates: Vec<(Vec<u32>, Vec<Condition>)>,
    /// Blanks around it do not matter.
    pub ignore_spaces: bool,
    /// Leading zeros do not matter.
    pub ignore_leading_zeros: bool,
    /// An absent or empty echo is accepted.
    pub optional: bool,
}

/// A segment with length-counted data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryRule {
    /// Its tag.
    pub tag: Arc<str>,
    /// The element with the length in bytes, from 1.
    pub length_element: u32,
    /// The element with the data, from 1.
    pub data_element: u32,
}

/// What may follow the last segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trailing {
    /// Line breaks, blanks, tabs and one end-of-file control.
    #[default]
    Strict,
    /// The same, and any number of blank lines with other controls.
    Blank,
}

/// How a dialect is written.
#[derive(Clone, Debug)]
pub struct WriterRules {
    /// For each level whose opener is no record, how its header is made.
    pub headers: Vec<HeaderRule>,
    /// For the opener that is a record: where its elements come from.
    pub open: Vec<(u32, OpenFrom)>,
    /// How missing keys are numbered.
    pub anonymous: Vec<Anonymous>,
    /// Delimiters without an echo.
    pub defaults: Vec<(Role, u8)>,
    /// Roles that are escaped in cells under `element_text: decoded`; without an escape style they are refused.
    pub escape: Vec<Role>,
    /// Whether an echoed header brings its delimiters.
    pub adopt_delimiters: bool,
    /// When the service segment is written.
    pub service: Service,
    /// Whether a line break follows each segment by default.
    pub newline: bool,
    /// The writer option that gives the type of an innermost level when the records have none.
    pub type_option: Option<Arc<str>>,
}

/// How a header is made.
#[derive(Clone, Debug)]
pub struct HeaderRule {
    /// The level.
    pub level: u16,
    /// The option with the literal elements.
    pub literal: Option<Arc<str>>,
    /// The option that names the section to echo.
    pub echo: Option<Arc<str>>,
    /// Whether one of them must be given.
    pub required: bool,
    /// Fixed widths of the literal elements; empty when they have none.
    pub widths: Vec<usize>,
    /// Elements of fixed width that are padded with leading zeros, not trailing blanks.
    pub zero_padded: Vec<u32>,
    /// Elements that the writer fills.
    pub set: Vec<(u32, OpenFrom)>,
    /// How many literal elements there must be; none for any number.
    pub count: Option<usize>,
}

/// Where an element of a written header comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFrom {
    /// The key of the level, given or anonymous.
    Key,
    /// The second key column, or the type option.
    Type,
    /// The record that opens the level.
    Record,
    /// A count.
    Count,
}

/// How the missing keys of a level are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anonymous {
    /// The level.
    pub level: u16,
    /// The first number.
    pub start: u64,
    /// Digits at least.
    pub width: usize,
    /// The level whose opening starts the numbers again.
    pub per: u16,
}

/// When the service segment is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// Never.
    #[default]
    Never,
    /// When the `write_una`-like option says so.
    Option,
    /// When the delimiters are not the defaults.
    WhenNeeded,
}
