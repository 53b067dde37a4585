//! The options of both directions and their checks.

use clinker_format::charset::{Charset, Encoding};
use clinker_format::{Descriptor, OptionFault, OptionKind, OptionSpec, Options, ReadCapabilities, WriteCapabilities};

/// The largest `max_record_bytes`: positions inside a block take 31 bits.
const MAX_RECORD_BYTES: u64 = 512 << 20;

const DELIMITER: OptionSpec = OptionSpec {
    key: "delimiter",
    kind: OptionKind::Text,
    default: ",",
    required: false,
    doc: "The ASCII character between the cells of a row.",
};
const QUOTE_CHAR: OptionSpec = OptionSpec {
    key: "quote_char",
    kind: OptionKind::Text,
    default: "\"",
    required: false,
    doc: "The ASCII character around cells that hold delimiters, quotes or line breaks.",
};
const ENCODING: OptionSpec = OptionSpec {
    key: "encoding",
    kind: OptionKind::Text,
    default: "utf-8",
    required: false,
    doc: "The character set of the file: utf-8, utf-16, utf-16le, utf-16be, iso-8859-1, windows-1252, cp037, cp500 \
          or cp1047.",
};

/// What the registry knows of csv.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "csv",
    summary: "Rows of cells between delimiters, as RFC 4180 describes them.",
    read: Some(ReadCapabilities {
        options: &[
            DELIMITER,
            QUOTE_CHAR,
            OptionSpec {
                key: "has_header",
                kind: OptionKind::Bool,
                default: "true",
                required: false,
                doc: "Whether the first row names the columns.",
            },
            ENCODING,
            OptionSpec {
                key: "max_record_bytes",
                kind: OptionKind::Size,
                default: "64MB",
                required: false,
                doc: "The size of a row above which reading stops.",
            },
        ],
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
        options: &[
            DELIMITER,
            QUOTE_CHAR,
            ENCODING,
            OptionSpec {
                key: "line_ending",
                kind: OptionKind::Word(&["lf", "crlf"]),
                default: "lf",
                required: false,
                doc: "What ends each row.",
            },
            OptionSpec {
                key: "quoting",
                kind: OptionKind::Word(&["necessary", "always"]),
                default: "necessary",
                required: false,
                doc: "Whether only cells that need quotes get them, or all.",
            },
        ],
        header: true,
        join_values: true,
        native_arrays: false,
        no_split: None,
        one_envelope: false,
        needs_schema: false,
        lossy_charsets: true,
    }),
};

/// Reader options, bound.
#[derive(Clone, Copy, Debug)]
pub struct ReaderSpec {
    /// ASCII.
    pub delimiter: u8,
    /// ASCII.
    pub quote: u8,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// As named; a mark may decide otherwise.
    pub encoding: Encoding,
    /// Limit of one record.
    pub max_record_bytes: usize,
}

/// Writer options, bound.
#[derive(Clone, Copy, Debug)]
pub struct WriterSpec {
    /// ASCII.
    pub delimiter: u8,
    /// ASCII.
    pub quote: u8,
    /// The character set of the output.
    pub encoding: Encoding,
    /// CRLF instead of LF.
    pub crlf: bool,
    /// Every cell in quotes.
    pub always: bool,
}

impl ReaderSpec {
    /// Binds checked options.
    ///
    /// # Errors
    /// Every option whose value breaks its rule.
    pub fn bind(options: &Options) -> Result<Self, Vec<OptionFault>> {
        let mut faults = Vec::new();
        let (delimiter, quote) = separators(options, &mut faults);
        let encoding = encoding(options, &mut faults);
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
        let has_header = options.bool("has_header").unwrap_or(true);
        if faults.is_empty() {
            Ok(Self { delimiter, quote, has_header, encoding, max_record_bytes: max_record_bytes as usize })
        } else {
            Err(faults)
        }
    }
}

impl WriterSpec {
    /// Binds checked options.
    ///
    /// # Errors
    /// Every option whose value breaks its rule.
    pub fn bind(options: &Options) -> Result<Self, Vec<OptionFault>> {
        let mut faults = Vec::new();
        let (delimiter, quote) = separators(options, &mut faults);
        let encoding = encoding(options, &mut faults);
        let crlf = options.text("line_ending") == Some("crlf");
        let always = options.text("quoting") == Some("always");
        if faults.is_empty() { Ok(Self { delimiter, quote, encoding, crlf, always }) } else { Err(faults) }
    }
}

fn separators(options: &Options, faults: &mut Vec<OptionFault>) -> (u8, u8) {
    let delimiter = one_byte(options, "delimiter", b',', faults);
    let quote = one_byte(options, "quote_char", b'"', faults);
    if delimiter == quote && faults.is_empty() {
        faults.push(OptionFault {
            key: "delimiter",
            code: "E401",
            message: format!("delimiter and quote_char are both {:?}", char::from(delimiter)),
            help: Some("choose two different characters".into()),
        });
    }
    (delimiter, quote)
}

/// An option that is one ASCII byte and no line end; its default when it is at fault.
fn one_byte(options: &Options, key: &'static str, default: u8, faults: &mut Vec<OptionFault>) -> u8 {
    let rule = match options.text(key) {
        None => return default,
        Some(text) => match text.as_bytes() {
            [b'\r' | b'\n'] => "it must not be a line end",
            [byte] if byte.is_ascii() => return *byte,
            [] => "it must not be empty",
            _ if text.is_ascii() => "it must be a single character",
            _ => "it must be a single ASCII character",
        },
    };
    let value = options.text(key).unwrap_or_default();
    faults.push(OptionFault { key, code: "E401", message: format!("{key} is {value:?}; {rule}"), help: None });
    default
}

fn encoding(options: &Options, faults: &mut Vec<OptionFault>) -> Encoding {
    let name = options.text("encoding").unwrap_or("utf-8");
    match Encoding::parse(name) {
        // ASCII is utf-8 already.
        Some(Encoding::Known(Charset::UsAscii)) => {}
        Some(encoding) => return encoding,
        None => {}
    }
    faults.push(OptionFault {
        key: "encoding",
        code: "E402",
        message: format!(
            "encoding {name:?} is not accepted; accepted are utf-8, utf-16, utf-16le, utf-16be, iso-8859-1, \
             windows-1252, cp037, cp500, cp1047"
        ),
        help: None,
    });
    Encoding::Utf16
}
