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
            envelope,
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
            ("envelope", envelope),
            ("generated_columns", generated_columns),
        ]
    }
}

impl WriteCapabilities {
    /// Everything that the format can do or not, by name.
    pub fn capabilities(&self) -> Vec<(&'static str, bool)> {
        // Without `..`: a new capability cannot be forgotten here.
        let Self { options: _, header, join_values, native_arrays, split, needs_schema, lossy_charsets } = *self;
        vec![
            ("header", header),
            ("join_values", join_values),
            ("native_arrays", native_arrays),
            ("split", split),
            ("needs_schema", needs_schema),
            ("lossy_charsets", lossy_charsets),
        ]
    }
}
