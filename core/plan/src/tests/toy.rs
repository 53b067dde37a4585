//! A format that binds and refuses options, and reads and writes nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{
    Descriptor, Encoded, Encoder, Fault, FileIdentity, Format, FormatLoader, LoadFault, OpenFile, OptionFault,
    OptionKind, OptionSpec, OutputRows, ReadCapabilities, ReadFactory, ReadRequest, Registration, WriteCapabilities,
    WriteFactory, WriteRequest, Writer,
};

const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: "mark", kind: OptionKind::Text, default: ",", required: false, doc: "A mark." },
    OptionSpec { key: "strict", kind: OptionKind::Bool, default: "true", required: false, doc: "A switch." },
    OptionSpec { key: "most", kind: OptionKind::Size, default: "64MB", required: false, doc: "A limit." },
    OptionSpec {
        key: "digits",
        kind: OptionKind::Integer { min: 1, max: 9 },
        default: "3",
        required: false,
        doc: "A count.",
    },
    OptionSpec { key: "ends", kind: OptionKind::Word(&["lf", "crlf"]), default: "lf", required: false, doc: "A word." },
    OptionSpec { key: "narrow", kind: OptionKind::Bool, default: "false", required: false, doc: "Lacks characters." },
];

static TOY: Descriptor = Descriptor {
    name: "toy",
    summary: "A format for tests.",
    read: Some(ReadCapabilities {
        options: OPTIONS,
        split_to_rows: false,
        split_values: true,
        native_arrays: false,
        split_escapes: true,
        undeclared_fields: true,
        positional_layout: false,
        multi_record: false,
        extract: None,
        generated_columns: false,
    }),
    write: Some(WriteCapabilities {
        options: OPTIONS,
        header: true,
        join_values: true,
        native_arrays: false,
        no_split: None,
        one_envelope: false,
        needs_schema: false,
        lossy_charsets: false,
    }),
};

static PLAIN: Descriptor = Descriptor {
    name: "plain",
    summary: "Reads and writes no lists.",
    read: Some(ReadCapabilities {
        options: &[],
        split_to_rows: false,
        split_values: false,
        native_arrays: false,
        split_escapes: false,
        undeclared_fields: false,
        positional_layout: false,
        multi_record: false,
        extract: None,
        generated_columns: false,
    }),
    write: Some(WriteCapabilities {
        options: &[],
        header: false,
        join_values: false,
        native_arrays: false,
        no_split: Some("E338"),
        one_envelope: false,
        needs_schema: false,
        lossy_charsets: false,
    }),
};

static READONLY: Descriptor =
    Descriptor { name: "readonly", summary: "Is not written.", read: PLAIN_READ, write: None };

static NESTED: Descriptor = Descriptor {
    name: "nested",
    summary: "Has lists of its own.",
    read: Some(ReadCapabilities {
        options: &[],
        split_to_rows: true,
        split_values: false,
        native_arrays: true,
        split_escapes: false,
        undeclared_fields: true,
        positional_layout: false,
        multi_record: false,
        extract: None,
        generated_columns: false,
    }),
    write: None,
};

const PLAIN_READ: Option<ReadCapabilities> = Some(ReadCapabilities {
    options: &[],
    split_to_rows: false,
    split_values: false,
    native_arrays: false,
    split_escapes: false,
    undeclared_fields: false,
    positional_layout: false,
    multi_record: false,
    extract: None,
    generated_columns: false,
});

struct Toy(&'static Descriptor);
struct Nothing {
    narrow: bool,
}

inventory::submit! { Registration::new(&Toy(&TOY)) }
inventory::submit! { Registration::new(&Toy(&PLAIN)) }
inventory::submit! { Registration::new(&Toy(&READONLY)) }
inventory::submit! { Registration::new(&Toy(&NESTED)) }

fn refuse(mark: Option<&str>) -> Result<(), Vec<OptionFault>> {
    match mark {
        Some(mark) if mark.len() != 1 => {
            let message = format!("mark {mark:?} is not one byte");
            Err(vec![OptionFault { key: "mark", code: "E401", message, help: Some("use one byte".to_string()) }])
        }
        _ => Ok(()),
    }
}

impl Format for Toy {
    fn descriptor(&self) -> &'static Descriptor {
        self.0
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        refuse(request.options.text("mark")).map(|()| Arc::new(Nothing { narrow: false }) as Arc<dyn ReadFactory>)
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        refuse(request.options.text("mark"))?;
        Ok(Arc::new(Nothing { narrow: request.options.bool("narrow").unwrap_or(false) }))
    }
}

impl ReadFactory for Nothing {
    fn open(&self, _file: &FileIdentity, _input: &mut BlockInput) -> Result<OpenFile, Fault> {
        Err(Fault::Io(io::Error::other("nothing is read")))
    }
}

impl WriteFactory for Nothing {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        Some(Arc::new(Nothing { narrow: false }))
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Nothing { narrow: false })
    }

    fn may_lack_characters(&self) -> bool {
        self.narrow
    }
}

impl Encoder for Nothing {
    fn encode(&self, _rows: &OutputRows<'_>, _out: &mut Encoded) {}
}

impl Writer for Nothing {
    fn columns(&mut self, _names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn records(&mut self, _encoded: &Encoded, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

/// Loads formats of which only names are known: a plugin has the name of its file, a description its `dialect`.
pub(super) struct ToyLoader;

fn named(name: &str) -> &'static dyn Format {
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let descriptor = Descriptor { name, summary: "Was loaded.", read: PLAIN_READ, write: None };
    Box::leak(Box::new(Toy(Box::leak(Box::new(descriptor)))))
}

impl FormatLoader for ToyLoader {
    fn plugin(&self, path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault> {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        match stem.split_once("bad") {
            None => Ok(vec![named(stem)]),
            Some(_) => {
                let message = "it is no library of this platform".to_owned();
                Err(LoadFault { code: "E461", key: String::new(), message, help: None })
            }
        }
    }

    fn dialect(&self, description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>> {
        let fault = |key: &str, message: &str| LoadFault {
            code: "E411",
            key: key.to_owned(),
            message: message.to_owned(),
            help: Some("correct it".to_owned()),
        };
        let mut faults = Vec::new();
        let name = description.get("dialect").and_then(serde_json::Value::as_str);
        if name.is_none() {
            faults.push(fault("", "it has no `dialect`"));
        }
        for (at, level) in description["levels"].as_array().into_iter().flatten().enumerate() {
            if level["open"].as_str().is_none_or(|open| open.len() != 3) {
                faults.push(fault(&format!("levels[{at}].open"), "a tag has three letters"));
            }
        }
        match name {
            Some(name) if faults.is_empty() => Ok(named(name)),
            _ => Err(faults),
        }
    }
}
