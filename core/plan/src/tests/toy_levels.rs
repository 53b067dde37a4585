//! Formats whose files are documents: one of segments with levels, one with a closed vocabulary, one without sections.

use std::io;
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{
    Descriptor, Encoder, Extract, Fault, FileIdentity, Format, LevelSpec, OpenFile, OptionFault, OptionKind,
    OptionSpec, Options, ReadCapabilities, ReadFactory, ReadRequest, Registration, Vocabulary, WriteCapabilities,
    WriteFactory, WriteRequest, Writer,
};
use clinker_record::{Frame, Type};

const SECTION: &[OptionSpec] = &[
    OptionSpec { key: "name", kind: OptionKind::Text, default: "", required: false, doc: "A name." },
    OptionSpec { key: "fields", kind: OptionKind::Fields, default: "", required: false, doc: "Types." },
];

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        key: "max_elements",
        kind: OptionKind::Integer { min: 1, max: 999 },
        default: "32",
        required: false,
        doc: "A count.",
    },
    OptionSpec {
        key: "group_section",
        kind: OptionKind::Map(SECTION),
        default: "",
        required: false,
        doc: "A section.",
    },
    OptionSpec { key: "set_section", kind: OptionKind::Map(SECTION), default: "", required: false, doc: "A section." },
];

const READS: ReadCapabilities = ReadCapabilities {
    options: OPTIONS,
    split_to_rows: false,
    split_values: false,
    native_arrays: false,
    split_escapes: false,
    undeclared_fields: true,
    positional_layout: false,
    multi_record: false,
    extract: Some(Extract::Segment(&["HDR"])),
    generated_columns: true,
};

static SEGMENTS: Descriptor = Descriptor {
    name: "segments",
    summary: "Levels of segments.",
    read: Some(READS),
    write: Some(WriteCapabilities {
        options: &[],
        header: false,
        join_values: false,
        native_arrays: false,
        no_split: Some("E338"),
        one_envelope: true,
        needs_schema: false,
        lossy_charsets: false,
    }),
};

static TREE: Descriptor = Descriptor {
    name: "tree",
    summary: "Sections by pointer.",
    read: Some(ReadCapabilities {
        options: &[],
        extract: Some(Extract::JsonPointer),
        generated_columns: false,
        ..READS
    }),
    write: None,
};

static FLAT: Descriptor = Descriptor {
    name: "flat",
    summary: "No sections.",
    read: Some(ReadCapabilities { options: &[], extract: None, generated_columns: false, ..READS }),
    write: None,
};

struct Levelled(&'static Descriptor);

inventory::submit! { Registration::new(&Levelled(&SEGMENTS)) }
inventory::submit! { Registration::new(&Levelled(&TREE)) }
inventory::submit! { Registration::new(&Levelled(&FLAT)) }

struct Reader {
    levels: Vec<LevelSpec>,
    vocabulary: Vocabulary,
    columns: Option<Arc<[Arc<str>]>>,
}

fn level(name: &str, given: Option<&Options>, file: bool) -> LevelSpec {
    let section = given.and_then(|given| given.text("name")).unwrap_or(name);
    let fields = given.and_then(|given| given.fields("fields"));
    let owned = |fields: &[(String, Type)]| fields.iter().map(|(name, ty)| (Arc::from(name.as_str()), *ty)).collect();
    LevelSpec { name: name.into(), section: section.into(), fields: fields.map(owned), frame: Frame::Inherit, file }
}

impl Format for Levelled {
    fn descriptor(&self) -> &'static Descriptor {
        self.0
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let options = request.options;
        let max = options.number("max_elements").unwrap_or(32) as u32;
        Ok(Arc::new(match self.0.name {
            "segments" => Reader {
                levels: vec![
                    level("interchange", None, true),
                    level("group", options.map("group_section"), false),
                    level("set", options.map("set_section"), false),
                ],
                vocabulary: Vocabulary::Positional { prefix: "e".into(), max },
                columns: Some(
                    (0..=max)
                        .map(|at| Arc::from(if at == 0 { "seg_id".to_owned() } else { format!("e{at:02}") }))
                        .collect(),
                ),
            },
            "tree" => Reader { levels: vec![level("file", None, true)], vocabulary: Vocabulary::Closed, columns: None },
            _ => Reader { levels: Vec::new(), vocabulary: Vocabulary::Open, columns: None },
        }))
    }

    fn bind_writer(&self, _: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        Ok(Arc::new(Nothing))
    }
}

impl ReadFactory for Reader {
    fn open(&self, _file: &FileIdentity, _input: &mut BlockInput) -> Result<OpenFile, Fault> {
        Err(Fault::Io(io::Error::other("nothing is read")))
    }

    fn levels(&self) -> &[LevelSpec] {
        &self.levels
    }

    fn vocabulary(&self) -> Vocabulary {
        self.vocabulary.clone()
    }

    fn generated_columns(&self) -> Option<Arc<[Arc<str>]>> {
        self.columns.clone()
    }
}

struct Nothing;

impl WriteFactory for Nothing {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        None
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Nothing)
    }

    fn may_lack_characters(&self) -> bool {
        false
    }
}

impl Writer for Nothing {
    fn columns(&mut self, _names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn records(&mut self, _encoded: &clinker_format::Encoded, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}
