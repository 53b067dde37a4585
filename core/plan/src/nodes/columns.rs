//! Schemas: column lists in the document or in a file of their own.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_diagnostics::{Span, suggestion};
use clinker_record::datetime::DateFormat;
use clinker_record::{Decimal, Kind, Type, Value};

use crate::context::Context;
use crate::decode::{self, ANY, Fields, Key, Shape, later, optional, required};
use crate::faults::{Fault, Faults};
use crate::nodes::values;
use crate::paths;
use crate::yaml::{Core, Document, Node, NodeKind, Unreadable};

/// A declared column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDraft {
    /// Where it is declared; for a column of a schema file, where the file is named.
    pub span: Span,
    pub name: Arc<str>,
    pub input_name: Arc<str>,
    pub ty: Type,
    pub multiple: bool,
    pub required: bool,
    pub default: Option<Value>,
    pub enumeration: Option<Vec<String>>,
    pub coerce: bool,
    pub format: Option<DateFormat>,
    pub precision: Option<u8>,
    pub scale: Option<u8>,
}

/// A schema as authored.
#[derive(Debug)]
pub(crate) enum SchemaDraft {
    /// Columns that are listed.
    Columns(Vec<ColumnDraft>),
    /// `generated: {}`: those that the format makes. Where that is written.
    Generated(Span),
}

impl SchemaDraft {
    /// The columns, where they are listed.
    pub fn columns(self) -> Option<Vec<ColumnDraft>> {
        match self {
            SchemaDraft::Columns(columns) => Some(columns),
            SchemaDraft::Generated(_) => None,
        }
    }
}

impl ColumnDraft {
    /// A column of text that may be absent.
    pub fn text(name: &Arc<str>, span: Span) -> ColumnDraft {
        ColumnDraft {
            span,
            name: Arc::clone(name),
            input_name: Arc::clone(name),
            ty: Type::nullable(Kind::String),
            multiple: false,
            required: false,
            default: None,
            enumeration: None,
            coerce: true,
            format: None,
            precision: None,
            scale: None,
        }
    }
}

/// What the `schema:` key of a Sink takes.
pub(crate) const SCHEMA: Shape = Shape::Any(&[Shape::Text, Shape::List(&Shape::Map(COLUMN))]);
/// What the `schema:` key of a Source takes.
pub(crate) const SOURCE_SCHEMA: Shape =
    Shape::Any(&[Shape::Text, Shape::List(&Shape::Map(COLUMN)), Shape::Map(GENERATED)]);

const GENERATED: &[Key] = &[required("generated", Shape::Map(&[]), "the positional columns of the format")];

const COLUMN: &[Key] = &[
    required("name", Shape::Text, "the exposed name"),
    required("type", Shape::Any(&[Shape::Text]), "the type, for example `int` or `nullable(date)`"),
    optional("source_name", Shape::Text, "the input field to read"),
    optional("multiple", Shape::Bool, "whether it holds several values"),
    optional("required", Shape::Bool, "whether an absent value has a category of its own"),
    optional("default", ANY, "what replaces an absent or null cell"),
    optional("enum", Shape::Texts, "the accepted texts"),
    optional("coerce", Shape::Bool, "whether text is converted"),
    optional("format", Shape::Text, "the only date pattern tried"),
    optional("precision", Shape::Integer(i64::MIN), "decimal digits in total"),
    optional("scale", Shape::Integer(i64::MIN), "decimal digits after the point"),
    optional("long_unique", Shape::Bool, "a hint about storage, which changes no result"),
    optional("description", ANY, "a remark"),
    later("start", &[]),
    later("width", &[]),
    later("end", &[]),
    later("justify", &[]),
    later("pad", &[]),
    later("trim", &["true"]),
    later("truncation", &[]),
];

/// Reads the value of a `schema:` key that lists columns. `None` when it cannot be used; what is wrong was reported.
pub(crate) fn listed(node: &Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<Vec<ColumnDraft>> {
    match schema(node, context, faults)? {
        SchemaDraft::Columns(columns) => Some(columns),
        SchemaDraft::Generated(span) => {
            refuse_generated(span, faults);
            None
        }
    }
}

/// Reports `generated` where nothing generates columns.
pub(crate) fn refuse_generated(span: Span, faults: &mut Faults) {
    let message = "`generated` columns need a format that makes positional columns of its own";
    faults.push(Fault::new("E159", span, message).help("list the columns"));
}

/// Reads the value of a `schema:` key. `None` when it cannot be used; what is wrong was reported.
pub(crate) fn schema(node: &Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<SchemaDraft> {
    match node.text() {
        Some(path) => file(path, node.span, context, faults),
        None => layout(node, context, faults),
    }
}

fn layout(node: &Node, context: &Context<'_>, faults: &mut Faults) -> Option<SchemaDraft> {
    match &node.kind {
        NodeKind::List(items) => list(items, node.span, context, faults).map(SchemaDraft::Columns),
        NodeKind::Map(_) if node.get("discriminator").is_some() || node.get("records").is_some() => {
            decode::unavailable("a multi-record layout", "`schema`", node.span, faults);
            None
        }
        NodeKind::Map(_) if node.get("generated").is_some() => {
            let fields = decode::fields(node, "`schema`", GENERATED, faults)?;
            decode::fields(fields.node("generated")?, "`generated`", &[], faults)?;
            Some(SchemaDraft::Generated(node.span))
        }
        _ => {
            let message =
                format!("`schema` must be a list of columns or the path of a schema file; it is {}", node.word());
            faults.push(Fault::new("E000", node.span, message).help("write `schema: [ { name: id, type: int } ]`"));
            None
        }
    }
}

/// An external schema file: inlined, and part of the pipeline hash.
fn file(path: &str, span: Span, context: &mut Context<'_>, faults: &mut Faults) -> Option<SchemaDraft> {
    if let Err(message) = paths::check_text(path, context.allow_absolute) {
        faults.error("E-SEC-001", span, message);
        return None;
    }
    let bytes = match std::fs::read(context.base.join(path)) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("the schema file `{path}` cannot be read: {error}");
            faults.push(Fault::new("E157", span, message).help("the path is relative to the base directory"));
            return None;
        }
    };
    let document = match Document::read(path, &bytes, None) {
        Ok(document) => document,
        Err(Unreadable::Bytes(message)) => {
            faults.error("E157", span, format!("the schema file `{path}`: {message}"));
            return None;
        }
        Err(Unreadable::Text(place, found)) => {
            faults.within(place, span, "E157", |faults| found.into_iter().for_each(|fault| faults.push(fault)));
            return None;
        }
    };
    context.inlined.push(bytes);
    let schema = faults.within(Arc::clone(&document.place), span, "E157", |faults| {
        document.faults.into_iter().for_each(|fault| faults.push(fault));
        if document.root.text().is_some() {
            let message = format!("the schema file `{path}` names another file; it must hold the columns itself");
            faults.error("E157", document.root.span, message);
            return None;
        }
        layout(&document.root, context, faults)
    })?;
    Some(match schema {
        SchemaDraft::Columns(columns) => {
            SchemaDraft::Columns(columns.into_iter().map(|column| ColumnDraft { span, ..column }).collect())
        }
        SchemaDraft::Generated(_) => SchemaDraft::Generated(span),
    })
}

fn list(items: &[Node], span: Span, context: &Context<'_>, faults: &mut Faults) -> Option<Vec<ColumnDraft>> {
    if items.is_empty() {
        faults.error("E000", span, "`schema` lists no column");
        return None;
    }
    let mut columns: Vec<ColumnDraft> = Vec::with_capacity(items.len());
    let mut places: HashMap<Arc<str>, Span> = HashMap::new();
    let mut complete = true;
    for item in items {
        let Some(column) = column(item, context, faults) else {
            complete = false;
            continue;
        };
        if let Some(first) = places.insert(Arc::clone(&column.name), column.span) {
            let message = format!("two columns are named `{}`", column.name);
            faults.push(Fault::new("E000", column.span, message).related(first));
            continue;
        }
        columns.push(column);
    }
    complete.then_some(columns)
}

fn column(node: &Node, context: &Context<'_>, faults: &mut Faults) -> Option<ColumnDraft> {
    let fields = decode::fields(node, "a column", COLUMN, faults)?;
    let name = fields.text("name");
    let shown = name.map_or("?", |name| name);
    if let (Some(name), Some(node)) = (name, fields.node("name"))
        && let Err(message) = check_name(name)
    {
        faults.error("E000", node.span, message);
    }
    let name = name?;
    // A column of an unknown type still has a name, which the nodes below may use.
    let ty = fields.node("type").and_then(|node| column_type(node, shown, faults));
    let ty = ty.unwrap_or(Type::nullable(Kind::Any));
    let format = date_format(&fields, ty, shown, faults);
    let (precision, scale) = digits(&fields, ty, shown, faults);
    let formats = format.clone().map_or_else(|| context.formats_for(ty), |format| vec![format]);
    let enumeration = enumeration(&fields, ty, shown, faults);
    let mut column = ColumnDraft {
        span: node.span,
        name: Arc::clone(name),
        input_name: Arc::clone(fields.text("source_name").unwrap_or(name)),
        ty,
        multiple: fields.bool("multiple").unwrap_or(false),
        required: fields.bool("required").unwrap_or(false),
        default: None,
        enumeration,
        coerce: fields.bool("coerce").unwrap_or(true),
        format,
        precision,
        scale,
    };
    if let Some(node) = fields.node("default") {
        match default(node, &column, &formats, &faults.place().shown(node)) {
            Ok(value) => column.default = Some(value),
            Err(problem) => {
                let message = format!("the `default` of column `{}` {problem}", column.name);
                faults.error("E403", node.span, message);
            }
        }
    }
    Some(column)
}

/// The path grammar of column names.
fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a column name is empty".to_string());
    }
    let (mut letters, mut segments) = (name.chars(), 1);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if !matches!(letters.next(), Some('.' | '[' | '\\')) => {
                return Err(format!("column name `{name}`: a backslash stands before `.`, `[` or `\\` only"));
            }
            '.' => segments += 1,
            _ => {}
        }
    }
    if segments > 64 {
        return Err(format!("column name `{name}` has {segments} segments; at most 64 are accepted"));
    }
    Ok(())
}

/// `int`, `nullable(int)` or `{ nullable: int }`.
pub(crate) fn column_type(node: &Node, column: &str, faults: &mut Faults) -> Option<Type> {
    let (word, nullable, span) = match (&node.kind, node.text()) {
        (NodeKind::Map(entries), _) if entries.len() == 1 && &*entries[0].key == "nullable" => {
            (entries[0].value.text().map(|word| word.trim()), true, entries[0].value.span)
        }
        (_, Some(text)) => match text.strip_prefix("nullable(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => (Some(inner.trim()), true, node.span),
            None => (Some(&**text), false, node.span),
        },
        // `type: null` is a word here, whatever YAML makes of it.
        _ if node.is_null() => (Some("null"), false, node.span),
        _ => (None, false, node.span),
    };
    let Some(word) = word else {
        faults.error("E000", span, format!("the type of column `{column}` must be a word; it is {}", node.word()));
        return None;
    };
    if word == "numeric" {
        let message = format!("column `{column}`: `numeric` is no type of a column");
        faults.push(Fault::new("E158", span, message).help("declare `int`, `float` or `decimal`"));
        return None;
    }
    let Some(kind) = Kind::from_word(word) else {
        const WORDS: [&str; 11] =
            ["null", "string", "int", "float", "decimal", "bool", "date", "date_time", "array", "map", "any"];
        let shown = faults.place().shown(node);
        let help =
            suggestion(word, WORDS).unwrap_or_else(|| format!("the types are {}, and `nullable(T)`", WORDS.join(", ")));
        faults.push(Fault::new("E000", span, format!("column `{column}`: unknown type `{shown}`")).help(help));
        return None;
    };
    Some(Type { kind, nullable })
}

fn date_format(fields: &Fields<'_>, ty: Type, column: &str, faults: &mut Faults) -> Option<DateFormat> {
    let node = fields.node("format")?;
    if !matches!(ty.kind, Kind::Date | Kind::DateTime) {
        faults.error(
            "E000",
            node.span,
            format!("column `{column}`: `format` needs type `date` or `date_time`, not `{ty}`"),
        );
        return None;
    }
    match DateFormat::compile(node.text()?) {
        Ok(format) => Some(format),
        Err(message) => {
            faults.error("E000", node.span, format!("column `{column}`: {message}"));
            None
        }
    }
}

fn digits(fields: &Fields<'_>, ty: Type, column: &str, faults: &mut Faults) -> (Option<u8>, Option<u8>) {
    let mut read = |key: &str| {
        let (node, value) = (fields.node(key)?, fields.integer(key)?);
        let message = if ty.kind != Kind::Decimal {
            format!("column `{column}`: `{key}` needs type `decimal`, not `{ty}`")
        } else if !(0..=28).contains(&value) {
            format!("column `{column}`: `{key}` is {value}; it must be 0 to 28")
        } else {
            return u8::try_from(value).ok();
        };
        faults.error("E403", node.span, message);
        None
    };
    let (precision, scale) = (read("precision"), read("scale"));
    if let (Some(digits), Some(fraction), Some(node)) = (precision, scale, fields.node("scale"))
        && fraction > digits
    {
        let message = format!("column `{column}`: `scale` {fraction} is larger than `precision` {digits}");
        faults.error("E403", node.span, message);
    }
    (precision, scale)
}

/// A default must be what the column would admit.
fn default(node: &Node, column: &ColumnDraft, formats: &[DateFormat], shown: &str) -> Result<Value, String> {
    let NodeKind::Scalar(scalar) = &node.kind else {
        return Err(format!("must be a scalar; it is {}", node.word()));
    };
    if scalar.core() == Core::Null {
        return Err("is null, which replaces nothing".to_string());
    }
    let ty = column.ty;
    let value = match (ty.kind, column.scale) {
        (Kind::Decimal, Some(scale)) => Decimal::parse_literal_at(scalar.text.as_bytes(), scale).map(Value::Decimal),
        _ => values::admitted(ty, scalar, formats),
    };
    let value = value.ok_or_else(|| format!("is `{shown}`, which is no `{ty}`"))?;
    match (&value, column.precision, &column.enumeration) {
        (Value::Decimal(decimal), Some(most), _) if digits_of(decimal.coefficient()) > u32::from(most) => {
            Err(format!("is `{shown}`, which has more than {most} digits"))
        }
        (Value::String(text), _, Some(words)) if !words.iter().any(|word| **word == **text) => {
            Err(format!("is `{shown}`, which `enum` does not list"))
        }
        _ => Ok(value),
    }
}

fn digits_of(coefficient: i128) -> u32 {
    coefficient.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1)
}

fn enumeration(fields: &Fields<'_>, ty: Type, column: &str, faults: &mut Faults) -> Option<Vec<String>> {
    let (node, items) = (fields.node("enum")?, fields.items("enum")?);
    let message = if ty.kind != Kind::String {
        format!("column `{column}`: `enum` needs type `string`, not `{ty}`")
    } else if items.is_empty() {
        format!("column `{column}`: `enum` lists no value")
    } else {
        return Some(items.iter().filter_map(|item| item.text()).map(|text| text.to_string()).collect());
    };
    faults.error("E403", node.span, message);
    None
}
