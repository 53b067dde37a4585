//! What a format says of itself before any input is opened.

use crate::OptionSpec;

/// A format's name, directions, options and capabilities. Deterministic and free of side effects.
#[derive(Debug)]
pub struct Descriptor {
    /// The word `type:` uses: `[a-z][a-z0-9_]*`.
    pub name: &'static str,
    /// One sentence for listings.
    pub summary: &'static str,
    /// Present when it can be read.
    pub read: Option<ReadCapabilities>,
    /// Present when it can be written.
    pub write: Option<WriteCapabilities>,
}

/// What a reader can do.
#[derive(Debug)]
pub struct ReadCapabilities {
    /// The closed list of reader options.
    pub options: &'static [OptionSpec],
    /// `split_to_rows` is read.
    pub split_to_rows: bool,
    /// `split_values` is read; `multiple: true` columns need an entry.
    pub split_values: bool,
    /// A field can hold several values by itself; `multiple: true` columns need no `split_values` entry.
    pub native_arrays: bool,
    /// `escape` and `json` of `split_values` are read.
    pub split_escapes: bool,
    /// An input can carry fields that the schema does not name.
    pub undeclared_fields: bool,
    /// Columns are given by byte positions (`start`, `width`, `end`, `pad`, …).
    pub positional_layout: bool,
    /// Several record layouts in one file.
    pub multi_record: bool,
    /// The rule by which sections of an `envelope:` block are extracted; none when the format reads no such block.
    pub extract: Option<Extract>,
    /// Positional columns that the format generates itself: `schema: { generated: {} }` is read.
    pub generated_columns: bool,
}

/// How a section of a file is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extract {
    /// `segment:` with one of these tags: the header of the file.
    Segment(&'static [&'static str]),
    /// `xml_path:`.
    XmlPath,
    /// `json_pointer:`.
    JsonPointer,
    /// `record_type:`.
    RecordType,
}

impl Extract {
    /// The key under `extract:`.
    pub fn key(self) -> &'static str {
        match self {
            Extract::Segment(_) => "segment",
            Extract::XmlPath => "xml_path",
            Extract::JsonPointer => "json_pointer",
            Extract::RecordType => "record_type",
        }
    }
}

/// What a writer can do.
#[derive(Debug)]
pub struct WriteCapabilities {
    /// The closed list of writer options.
    pub options: &'static [OptionSpec],
    /// `include_header` is read.
    pub header: bool,
    /// `join_values` is read; `multiple` columns are joined.
    pub join_values: bool,
    /// `multiple` columns are written without `join_values`.
    pub native_arrays: bool,
    /// The code with which `split:` is refused; none when an output may be split into several files.
    pub no_split: Option<&'static str>,
    /// An output file has room for one envelope: rows of a second document do not fit into it.
    pub one_envelope: bool,
    /// The sink needs its own `schema:`.
    pub needs_schema: bool,
    /// `encoding` may name a character set that cannot hold every character.
    pub lossy_charsets: bool,
}

impl ReadCapabilities {
    /// Everything that the format can do or not, by name.
    pub fn capabilities(&self) -> Vec<(&'static str, bool)> {
        // Without `..`: a new capability cannot be forgotten here.
        let Self {
            options: _,
            split_to_rows,
            split_values,
            native_arrays,
            split_escapes,
            undeclared_fields,
            positional_layout,
            multi_record,
            extract,
            generated_columns,
        } = *self;
        vec![
            ("split_to_rows", split_to_rows),
            ("split_values", split_values),
            ("native_arrays", native_arrays),
            ("split_escapes", split_escapes),
            ("undeclared_fields", undeclared_fields),
            ("positional_layout", positional_layout),
            ("multi_record", multi_record),
            ("envelope", extract.is_some()),
            ("generated_columns", generated_columns),
        ]
    }
}

impl WriteCapabilities {
    /// Everything that the format can do or not, by name.
    pub fn capabilities(&self) -> Vec<(&'static str, bool)> {
        // Without `..`: a new capability cannot be forgotten here.
        let Self {
            options: _,
            header,
            join_values,
            native_arrays,
            no_split,
            one_envelope,
            needs_schema,
            lossy_charsets,
        } = *self;
        vec![
            ("header", header),
            ("join_values", join_values),
            ("native_arrays", native_arrays),
            ("split", no_split.is_none()),
            ("one_envelope", one_envelope),
            ("needs_schema", needs_schema),
            ("lossy_charsets", lossy_charsets),
        ]
    }
}
