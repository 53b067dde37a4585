//! The writer options of a dialect, and their checks.

use std::sync::Arc;

use clinker_format::charset::{Charset, Encoding};
use clinker_format::{OptionFault, OptionKind, OptionSpec, Options, WriteRequest};
use regex::Regex;

use super::header;
use crate::dialect::{CharsetRule, Dialect, HeaderRule, Service, WriterRules};

/// The message formats keep to these.
const ENCODINGS: &str = "utf-8, iso-8859-1";

/// What follows a segment's terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newline {
    /// Nothing.
    None,
    /// A line feed.
    Lf,
    /// Carriage return and line feed.
    CrLf,
}

/// How the header of a level is made.
#[derive(Clone, Debug, PartialEq)]
pub enum HeaderPlan {
    /// A record opens the level.
    Record,
    /// From these elements.
    Literal(Vec<String>),
    /// From the section of that name.
    Echo(Arc<str>),
    /// It is not written.
    Absent,
}

/// Bound writer options.
#[derive(Debug)]
pub struct WriterSpec {
    pub dialect: Arc<Dialect>,
    pub rules: WriterRules,
    /// The character set, unless the header decides.
    pub charset: Charset,
    /// Cells hold wire text.
    pub wire: bool,
    pub newline: Newline,
    /// The type of an innermost level when the records have none.
    pub type_default: Option<String>,
    /// One a level.
    pub headers: Vec<HeaderPlan>,
    /// Whether the service segment is asked for.
    pub service: bool,
    /// What a whole tag looks like.
    pub tag: Regex,
}

impl WriterSpec {
    /// The header rule of a level.
    pub fn rule(&self, level: usize) -> Option<&HeaderRule> {
        self.rules.headers.iter().find(|rule| usize::from(rule.level) == level)
    }
}

/// The writer options of a dialect, which live as long as the program.
pub fn writer_options(dialect: &Dialect) -> &'static [OptionSpec] {
    let Some(rules) = &dialect.writer else { return &[] };
    let mut specs = Vec::new();
    for rule in &rules.headers {
        header_options(dialect, rule, &mut specs);
    }
    if let Some(key) = &rules.type_option {
        specs.push(text(key, "", "The type of a message whose records have none."));
    }
    if let CharsetRule::Option(default) = &dialect.charset {
        specs.push(text("encoding", default, "The character set of the file: utf-8 or iso-8859-1."));
    }
    specs.push(OptionSpec {
        key: "element_text",
        kind: OptionKind::Word(&["decoded", "wire"]),
        default: "decoded",
        required: false,
        doc: "Whether cells hold text, or elements exactly as they stand in a file.",
    });
    specs.push(OptionSpec {
        key: "segment_newline",
        kind: OptionKind::BoolOr(&["none", "lf", "crlf"]),
        default: if rules.newline { "true" } else { "false" },
        required: false,
        doc: "The line break after each segment; `true` means `lf`.",
    });
    if let Some(key) = service_option(dialect, rules) {
        specs.push(OptionSpec {
            key: leak(&key),
            kind: OptionKind::Bool,
            default: "false",
            required: false,
            doc: "Whether the service segment is written even where its separators are the usual ones.",
        });
    }
    Box::leak(specs.into_boxed_slice())
}

fn header_options(dialect: &Dialect, rule: &HeaderRule, specs: &mut Vec<OptionSpec>) {
    let Some(level) = dialect.levels.get(usize::from(rule.level)) else { return };
    if let Some(key) = &rule.literal {
        specs.push(OptionSpec {
            key: leak(key),
            kind: OptionKind::Texts { count: rule.count },
            default: "",
            required: false,
            doc: leak(&format!("The elements of the {} segment that opens the {}.", level.open, level.name)),
        });
    }
    if let Some(key) = &rule.echo {
        let doc = format!("The section whose {} segment is written again, with its separators.", level.open);
        specs.push(text(key, "", &doc));
    }
}

fn text(key: &str, default: &str, doc: &str) -> OptionSpec {
    OptionSpec { key: leak(key), kind: OptionKind::Text, default: leak(default), required: false, doc: leak(doc) }
}

/// Descriptors live as long as the program, and are made once a dialect.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// The switch that asks for the service segment.
fn service_option(dialect: &Dialect, rules: &WriterRules) -> Option<String> {
    let (tag, _) = dialect.framing.service.as_ref().filter(|_| rules.service == Service::Option)?;
    Some(format!("write_{}", tag.to_lowercase()))
}

/// Binds the options of a request.
///
/// # Errors
/// Every option whose value breaks its rule, and every one that is missing.
pub fn bind(dialect: &Arc<Dialect>, request: &WriteRequest<'_>) -> Result<WriterSpec, Vec<OptionFault>> {
    let Some(rules) = dialect.writer.clone() else {
        let message = format!("format `{}` cannot be written", dialect.name);
        return Err(vec![OptionFault { key: "", code: "E400", message, help: None }]);
    };
    let options = request.options;
    let mut faults = Vec::new();
    let headers = (0..dialect.levels.len()).map(|level| plan(dialect, &rules, level, options, &mut faults)).collect();
    let charset = charset(dialect, options, &mut faults);
    let tag = Regex::new(&format!(r"\A(?:{})\z", dialect.columns.tag_pattern.as_str())).map_err(|error| {
        let message = format!("the pattern of tags cannot be anchored: {error}");
        vec![OptionFault { key: "", code: "E411", message, help: None }]
    })?;
    let spec = WriterSpec {
        dialect: Arc::clone(dialect),
        charset,
        wire: options.text("element_text") == Some("wire"),
        newline: newline(options, rules.newline),
        type_default: rules.type_option.as_ref().and_then(|key| options.text(key)).map(str::to_owned),
        headers,
        service: service_option(dialect, &rules).and_then(|key| options.bool(&key)).unwrap_or(false),
        tag,
        rules,
    };
    if faults.is_empty() {
        header::check_literals(&spec, &mut faults);
    }
    if faults.is_empty() { Ok(spec) } else { Err(faults) }
}

fn newline(options: &Options, default: bool) -> Newline {
    match (options.text("segment_newline"), options.bool("segment_newline")) {
        (Some("none"), _) | (None, Some(false)) => Newline::None,
        (Some("crlf"), _) => Newline::CrLf,
        (Some(_), _) | (None, Some(true)) => Newline::Lf,
        (None, None) if default => Newline::Lf,
        (None, None) => Newline::None,
    }
}

fn charset(dialect: &Dialect, options: &Options, faults: &mut Vec<OptionFault>) -> Charset {
    let name = match &dialect.charset {
        CharsetRule::Fixed(name) => name,
        CharsetRule::Element { .. } => return Charset::Utf8,
        CharsetRule::Option(default) => options.text("encoding").unwrap_or(default),
    };
    match Encoding::parse(name) {
        Some(Encoding::Known(charset @ (Charset::Utf8 | Charset::Latin1))) => return charset,
        Some(Encoding::Known(charset)) if charset.unit() == 1 && matches!(dialect.charset, CharsetRule::Fixed(_)) => {
            return charset;
        }
        _ => {}
    }
    faults.push(OptionFault {
        key: "encoding",
        code: "E402",
        message: format!("encoding {name:?} is not accepted; accepted are {ENCODINGS}"),
        help: None,
    });
    Charset::Utf8
}

fn plan(
    dialect: &Dialect,
    rules: &WriterRules,
    level: usize,
    options: &Options,
    faults: &mut Vec<OptionFault>,
) -> HeaderPlan {
    if dialect.levels[level].emit_open {
        return HeaderPlan::Record;
    }
    let Some(rule) = rules.headers.iter().find(|rule| usize::from(rule.level) == level) else {
        return HeaderPlan::Absent;
    };
    // The literal wins over the echo.
    if let Some((key, texts)) = rule.literal.as_ref().and_then(|key| Some((key, options.texts(key)?))) {
        return HeaderPlan::Literal(literal(dialect, rule, key, texts, faults));
    }
    if let Some(section) = rule.echo.as_ref().and_then(|key| options.text(key)) {
        return HeaderPlan::Echo(section.into());
    }
    if rule.required {
        let given: Vec<_> = [&rule.literal, &rule.echo].into_iter().flatten().map(|key| format!("`{key}`")).collect();
        faults.push(OptionFault {
            key: leaked(dialect, rule.literal.as_ref().or(rule.echo.as_ref())),
            code: "E409",
            message: format!(
                "format `{}` needs {}: the {} segment that opens the {} comes from there",
                dialect.name,
                given.join(" or "),
                dialect.levels[level].open,
                dialect.levels[level].name
            ),
            help: None,
        });
    }
    HeaderPlan::Absent
}

/// The key of an option as its spec holds it.
pub(super) fn leaked(dialect: &Dialect, key: Option<&Arc<str>>) -> &'static str {
    let Some(key) = key else { return "" };
    writer_options(dialect).iter().find(|spec| *spec.key == **key).map_or("", |spec| spec.key)
}

/// Checks the elements of a literal header and pads those of fixed width.
fn literal(
    dialect: &Dialect,
    rule: &HeaderRule,
    key: &Arc<str>,
    texts: &[String],
    faults: &mut Vec<OptionFault>,
) -> Vec<String> {
    let mut refuse = |message: String| {
        faults.push(OptionFault { key: leaked(dialect, Some(key)), code: "E403", message, help: None });
    };
    match rule.count {
        Some(count) if count != texts.len() => {
            refuse(format!("`{key}` has {} elements; it must have {count}", texts.len()));
        }
        None if texts.is_empty() => refuse(format!("`{key}` is empty; a header has elements")),
        _ => {}
    }
    for (at, text) in texts.iter().enumerate() {
        let Some(width) = rule.widths.get(at) else { continue };
        if !text.is_ascii() {
            refuse(format!("element {} of `{key}` is {text:?}; an element of fixed width is ASCII", at + 1));
        } else if text.len() > *width {
            refuse(format!("element {} of `{key}` is {text:?}, {} bytes; it is {width} wide", at + 1, text.len()));
        }
    }
    texts.iter().zip(1..).map(|(text, number)| header::padded(rule, number, text)).collect()
}
