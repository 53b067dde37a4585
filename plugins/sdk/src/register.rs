//! What a format says of itself.

use clinker_plugin_abi::Item;

/// A format's name, directions, options and capabilities. Deterministic and free of side effects.
#[derive(Clone, Debug, Default)]
pub struct Registration {
    /// The word `type:` uses: `[a-z][a-z0-9_]*`.
    pub name: String,
    /// One sentence for listings.
    pub summary: String,
    /// Present when it can be read.
    pub read: Option<ReadCapabilities>,
    /// Present when it can be written.
    pub write: Option<WriteCapabilities>,
    /// Its own codes.
    pub codes: Vec<Code>,
    /// Files that `clinker plugin check` tries it with.
    pub corpus: Vec<CorpusFile>,
}

/// A file that a format is tried with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusFile {
    /// Its name, for messages.
    pub name: String,
    /// Reader options.
    pub options: Vec<(String, Item)>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Rows that are read from it.
    pub rows: u64,
    /// The code of its fault; none for a valid file.
    pub code: Option<String>,
    /// Whether the fault rejects one row only.
    pub bounded: bool,
    /// Whether what was read from it is written back as these bytes.
    pub round_trip: bool,
}

impl CorpusFile {
    fn to_item(&self) -> Item {
        Item::map([
            ("name", self.name.as_str().into()),
            ("options", Item::Map(self.options.clone())),
            ("bytes", Item::Bytes(self.bytes.clone())),
            ("rows", self.rows.into()),
            ("code", self.code.clone().into()),
            ("bounded", self.bounded.into()),
            ("round_trip", self.round_trip.into()),
        ])
    }
}

/// What a reader can do. See the descriptor of the engine's own formats: the words are those of `clinker formats show`.
#[derive(Clone, Debug, Default)]
pub struct ReadCapabilities {
    /// The closed list of reader options.
    pub options: Vec<OptionSpec>,
    /// `split_values` is read.
    pub split_values: bool,
    /// A field can hold several values by itself.
    pub native_arrays: bool,
    /// `escape` and `json` of `split_values` are read.
    pub split_escapes: bool,
    /// An input can carry fields that the schema does not name.
    pub undeclared_fields: bool,
    /// Several record layouts in one file.
    pub multi_record: bool,
    /// How sections of the file are found; none when the format reads no `envelope:` block.
    pub extract: Option<Extract>,
    /// Positional columns that the format generates itself.
    pub generated_columns: bool,
}

/// How a section of a file is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extract {
    /// `segment:` with one of these tags.
    Segment(Vec<String>),
    /// `xml_path:`.
    XmlPath,
    /// `json_pointer:`.
    JsonPointer,
    /// `record_type:`.
    RecordType,
}

/// What a writer can do.
#[derive(Clone, Debug, Default)]
pub struct WriteCapabilities {
    /// The closed list of writer options.
    pub options: Vec<OptionSpec>,
    /// `include_header` is read.
    pub header: bool,
    /// `join_values` is read; `multiple` columns are joined.
    pub join_values: bool,
    /// `multiple` columns are written without `join_values`.
    pub native_arrays: bool,
    /// The code with which `split:` is refused; none when an output may be split into several files.
    pub no_split: Option<String>,
    /// An output file has room for one envelope.
    pub one_envelope: bool,
    /// The sink needs its own `schema:`.
    pub needs_schema: bool,
    /// `encoding` may name a character set that cannot hold every character.
    pub lossy_charsets: bool,
}

/// The shape of an option's value.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// One of the listed words.
    Word(Vec<String>),
    /// Bytes.
    Size,
    /// An integer in a range, both ends included.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A list of texts, of which there are so many.
    Texts {
        /// How many there must be; `None` for any number.
        count: Option<u64>,
    },
    /// `true`, `false`, or one of the listed words.
    BoolOr(Vec<String>),
    /// A map from names to declared types.
    Fields,
    /// A map with these keys.
    Map(Vec<OptionSpec>),
    /// A list of maps with these keys.
    Maps(Vec<OptionSpec>),
}

/// One option of a reader or a writer.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// Its key under `options:`.
    pub key: String,
    /// Shape of its value.
    pub kind: OptionKind,
    /// The default as a user would write it; empty when there is none.
    pub default: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it does, one sentence.
    pub doc: String,
}

impl OptionSpec {
    /// An option that need not be given.
    pub fn new(key: &str, kind: OptionKind, default: &str, doc: &str) -> Self {
        Self { key: key.into(), kind, default: default.into(), required: false, doc: doc.into() }
    }
}

/// A diagnostic code of the format's own: `E-<NAME>-nnn` or `W-<NAME>-nnn`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub code: String,
    /// What it means, in a few words.
    pub title: String,
    /// What it means, one sentence.
    pub meaning: String,
    /// What to do.
    pub remedy: String,
    /// `configuration`, `row`, `document` (the file is condemned, reading goes on), `corruption`, `write` or `warning`.
    pub class: String,
    /// The machine code, such as `source.data.invalid`.
    pub machine: String,
}

fn flags<const N: usize>(flags: [(&str, bool); N]) -> Item {
    Item::texts(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| name))
}

fn options(options: &[OptionSpec]) -> Item {
    Item::List(options.iter().map(OptionSpec::to_item).collect())
}

impl Registration {
    pub(crate) fn to_item(&self) -> Item {
        let read = self.read.as_ref().map(|read| {
            let extract = read.extract.as_ref().map(|extract| match extract {
                Extract::Segment(tags) => Item::map([("kind", "segment".into()), ("tags", Item::texts(tags))]),
                Extract::XmlPath => Item::map([("kind", "xml_path".into())]),
                Extract::JsonPointer => Item::map([("kind", "json_pointer".into())]),
                Extract::RecordType => Item::map([("kind", "record_type".into())]),
            });
            let capabilities = flags([
                ("split_values", read.split_values),
                ("native_arrays", read.native_arrays),
                ("split_escapes", read.split_escapes),
                ("undeclared_fields", read.undeclared_fields),
                ("multi_record", read.multi_record),
                ("generated_columns", read.generated_columns),
            ]);
            let extract = extract.unwrap_or_default();
            Item::map([("options", options(&read.options)), ("capabilities", capabilities), ("extract", extract)])
        });
        let write = self.write.as_ref().map(|write| {
            let capabilities = flags([
                ("header", write.header),
                ("join_values", write.join_values),
                ("native_arrays", write.native_arrays),
                ("one_envelope", write.one_envelope),
                ("needs_schema", write.needs_schema),
                ("lossy_charsets", write.lossy_charsets),
            ]);
            let no_split = write.no_split.clone().into();
            Item::map([("options", options(&write.options)), ("capabilities", capabilities), ("no_split", no_split)])
        });
        Item::map([
            ("name", self.name.as_str().into()),
            ("summary", self.summary.as_str().into()),
            ("read", read.unwrap_or_default()),
            ("write", write.unwrap_or_default()),
            ("codes", Item::List(self.codes.iter().map(Code::to_item).collect())),
            ("corpus", Item::List(self.corpus.iter().map(CorpusFile::to_item).collect())),
        ])
    }
}

impl OptionSpec {
    fn to_item(&self) -> Item {
        let null = || Item::Null;
        let (word, values, min, max, count, keys) = match &self.kind {
            OptionKind::Text => ("text", null(), null(), null(), null(), null()),
            OptionKind::Bool => ("bool", null(), null(), null(), null(), null()),
            OptionKind::Word(words) => ("word", Item::texts(words), null(), null(), null(), null()),
            OptionKind::Size => ("size", null(), null(), null(), null(), null()),
            OptionKind::Integer { min, max } => ("integer", null(), (*min).into(), (*max).into(), null(), null()),
            OptionKind::Texts { count } => ("texts", null(), null(), null(), (*count).into(), null()),
            OptionKind::BoolOr(words) => ("bool_or_word", Item::texts(words), null(), null(), null(), null()),
            OptionKind::Fields => ("fields", null(), null(), null(), null(), null()),
            OptionKind::Map(keys) => ("map", null(), null(), null(), null(), options(keys)),
            OptionKind::Maps(keys) => ("maps", null(), null(), null(), null(), options(keys)),
        };
        Item::map([
            ("key", self.key.as_str().into()),
            ("type", word.into()),
            ("values", values),
            ("min", min),
            ("max", max),
            ("count", count),
            ("keys", keys),
            ("default", self.default.as_str().into()),
            ("required", self.required.into()),
            ("doc", self.doc.as_str().into()),
        ])
    }
}

impl Code {
    fn to_item(&self) -> Item {
        Item::map([
            ("code", self.code.as_str().into()),
            ("title", self.title.as_str().into()),
            ("meaning", self.meaning.as_str().into()),
            ("remedy", self.remedy.as_str().into()),
            ("class", self.class.as_str().into()),
            ("machine", self.machine.as_str().into()),
        ])
    }
}
