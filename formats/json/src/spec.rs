//! The options of both directions and their checks.

use clinker_format::{
    Descriptor, Extract, OptionFault, OptionKind, OptionSpec, Options, ReadCapabilities, WriteCapabilities,
};

/// The largest `max_record_bytes`: positions inside a block take 31 bits.
const MAX_RECORD_BYTES: u64 = 512 << 20;

/// What the registry knows of json.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "json",
    summary: "JSON objects: the elements of an array, one a line, or one after another.",
    read: Some(ReadCapabilities {
        options: &[
            OptionSpec {
                key: "format",
                kind: OptionKind::Word(&["array", "ndjson", "object"]),
                default: "",
                required: false,
                doc: "The shape of the file: one array, one object a line, or an object that holds the array; by \
                      default the first bytes tell.",
            },
            OptionSpec {
                key: "record_path",
                kind: OptionKind::Text,
                default: "",
                required: false,
                doc: "Dot path of keys from the outermost object to the array of records.",
            },
            OptionSpec {
                key: "max_record_bytes",
                kind: OptionKind::Size,
                default: "64MB",
                required: false,
                doc: "The size of a record above which reading stops.",
            },
            OptionSpec {
                key: "escape_keys",
                kind: OptionKind::Bool,
                default: "false",
                required: false,
                doc: "Whether `.`, `[` and `\\` inside a key are escaped in the column name that is made of it.",
            },
        ],
        split_to_rows: true,
        split_values: true,
        native_arrays: true,
        split_escapes: false,
        undeclared_fields: true,
        positional_layout: false,
        multi_record: false,
        extract: Some(Extract::JsonPointer),
        generated_columns: false,
    }),
    write: Some(WriteCapabilities {
        options: &[
            OptionSpec {
                key: "format",
                kind: OptionKind::Word(&["array", "ndjson"]),
                default: "array",
                required: false,
                doc: "The shape of the file: one array, or one object a line.",
            },
            OptionSpec {
                key: "pretty",
                kind: OptionKind::Bool,
                default: "false",
                required: false,
                doc: "Whether each member stands on a line of its own.",
            },
        ],
        header: false,
        join_values: false,
        native_arrays: true,
        no_split: None,
        one_envelope: false,
        needs_schema: false,
        lossy_charsets: false,
    }),
};

/// The physical shape of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum InputShape {
    /// The first bytes tell.
    Detect,
    /// The elements of the outermost array.
    Array,
    /// One object a line.
    Lines,
    /// The elements of an array behind these keys.
    Path(Vec<String>),
}

/// Reader options, bound.
#[derive(Clone, Debug)]
pub struct ReaderSpec {
    /// Where the records are.
    pub shape: InputShape,
    /// Limit of one record.
    pub max_record_bytes: usize,
    /// Whether keys are escaped in column names.
    pub escape_keys: bool,
}

/// Writer options, bound.
#[derive(Clone, Copy, Debug)]
pub struct WriterSpec {
    /// One object a line instead of an array.
    pub lines: bool,
    /// Each member on a line of its own.
    pub pretty: bool,
    /// Null columns are written.
    pub preserve_nulls: bool,
}

impl ReaderSpec {
    /// Binds checked options.
    ///
    /// # Errors
    /// Every option whose value breaks its rule.
    pub fn bind(options: &Options) -> Result<Self, Vec<OptionFault>> {
        let mut faults = Vec::new();
        let path = options.text("record_path").and_then(|path| record_path(path, &mut faults));
        let shape = match (options.text("format"), path) {
            (_, Some(path)) => InputShape::Path(path),
            (Some("array"), _) => InputShape::Array,
            (Some("ndjson"), _) => InputShape::Lines,
            (Some("object"), _) if options.text("record_path").is_none() => {
                faults.push(OptionFault {
                    key: "format",
                    code: "E409",
                    message: "format is `object`, which needs a `record_path`".into(),
                    help: Some("name the keys that lead to the array of records: `record_path: data.items`".into()),
                });
                InputShape::Detect
            }
            _ => InputShape::Detect,
        };
        let max_record_bytes = options.number("max_record_bytes").unwrap_or(64_000_000);
        if max_record_bytes == 0 || max_record_bytes > MAX_RECORD_BYTES {
            faults.push(OptionFault {
                key: "max_record_bytes",
                code: "E403",
                message: format!(
                    "max_record_bytes is {max_record_bytes}; it must lie between 1 and {MAX_RECORD_BYTES}"
                ),
                help: None,
            });
        }
        let escape_keys = options.bool("escape_keys").unwrap_or(false);
        if faults.is_empty() {
            Ok(Self { shape, max_record_bytes: max_record_bytes as usize, escape_keys })
        } else {
            Err(faults)
        }
    }
}

/// The keys of a `record_path`.
fn record_path(path: &str, faults: &mut Vec<OptionFault>) -> Option<Vec<String>> {
    let (rule, corrected) = if path.is_empty() {
        ("it must not be empty", None)
    } else if let Some(rest) = path.strip_prefix("$.") {
        ("it is a path of keys without `$.` in front", Some(rest.to_owned()))
    } else if let Some(rest) = path.strip_prefix('/') {
        ("it is a path of keys with dots between them, no pointer", Some(rest.replace('/', ".")))
    } else if path.split('.').any(str::is_empty) {
        let segments: Vec<&str> = path.split('.').filter(|segment| !segment.is_empty()).collect();
        ("it has an empty segment", Some(segments.join(".")))
    } else {
        return Some(path.split('.').map(str::to_owned).collect());
    };
    let usable = |path: &String| !path.is_empty() && path.split('.').all(|segment| !segment.is_empty());
    faults.push(OptionFault {
        key: "record_path",
        code: "E363",
        message: format!("record_path is {path:?}; {rule}"),
        help: corrected.filter(usable).map(|path| format!("write `record_path: {path}`")),
    });
    None
}

impl WriterSpec {
    /// Binds checked options.
    pub fn bind(options: &Options, preserve_nulls: bool) -> Self {
        Self {
            lines: options.text("format") == Some("ndjson"),
            pretty: options.bool("pretty").unwrap_or(false),
            preserve_nulls,
        }
    }

    /// Options that are accepted and deserve a warning.
    pub fn warnings(&self) -> Vec<OptionFault> {
        let warning = OptionFault {
            key: "pretty",
            code: "W403",
            message:
                "`pretty` with `format: ndjson` writes objects of several lines each, which readers of lines refuse"
                    .into(),
            help: Some("drop one of the two options".into()),
        };
        Vec::from_iter((self.lines && self.pretty).then_some(warning))
    }
}
