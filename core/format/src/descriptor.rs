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
    /// An `envelope:` block is read.
    pub envelope: bool,
    /// Positional columns that the format generates itself.
    pub generated_columns: bool,
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
    /// An output may be split into several files.
    pub split: bool,
    /// The sink needs its own `schema:`.
    pub needs_schema: bool,
    /// `encoding` may name a character set that cannot hold every character.
    pub lossy_charsets: bool,
}
