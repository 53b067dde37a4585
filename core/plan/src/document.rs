//! The document around the nodes: `pipeline`, `error_handling`, `formats`.

use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_record::datetime::DateFormat;
use clinker_record::{Kind, Type, Value};

use crate::decode::{self, ANY, Fields, Key, Shape, gone, later, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::MemoryPlan;
use crate::nodes::values;
use crate::yaml::{Core, Node, NodeKind};

/// Default of `pipeline.memory.limit`.
const MEMORY_LIMIT: u64 = 512 << 20;
/// Default of `pipeline.batch_size`.
const BATCH_SIZE: usize = 2048;
/// Default of `pipeline.memory.resume_threshold`.
const RESUME: f64 = 0.70;
/// Fraction of the limit at which something must give way.
pub(crate) const SOFT: f64 = 0.80;

/// The document's keys with what they hold.
pub(crate) struct Root<'a> {
    pub settings: Settings,
    pub errors: Fields<'a>,
    pub formats: Option<Fields<'a>>,
    pub nodes: &'a [Node],
    pub nodes_node: Option<&'a Node>,
}

/// `pipeline`.
pub(crate) struct Settings {
    pub name: Arc<str>,
    pub memory: MemoryPlan,
    pub batch_size: usize,
    pub threads: Option<usize>,
    /// Name, type and value.
    pub vars: Vec<(String, Type, Value)>,
    pub date_formats: Vec<DateFormat>,
}

pub(crate) const ROOT: &[Key] = &[
    required("pipeline", Shape::Map(PIPELINE), "run-wide settings"),
    required("nodes", Shape::List(&Shape::Open), "the nodes"),
    optional("error_handling", Shape::Map(crate::failures::ERRORS), "what a failure does"),
    optional("formats", Shape::Map(FORMATS), "plugins and dialects"),
    optional("_notes", ANY, "remarks"),
];

const FORMATS: &[Key] = &[
    optional("plugins", Shape::Texts, "shared libraries that register formats"),
    optional("dialects", Shape::Texts, "descriptions of segment formats"),
];

const PIPELINE: &[Key] = &[
    required("name", Shape::Text, "the pipeline's name"),
    optional("memory", Shape::Map(MEMORY), "the memory budget"),
    optional("batch_size", Shape::Any(&[Shape::Integer(1)]), "rows of a batch"),
    optional("vars", Shape::Named(&VALUE), "static variables"),
    optional("date_formats", Shape::Texts, "patterns tried when text is read as a date"),
    optional("concurrency", Shape::Map(CONCURRENCY), "threads"),
    later("rules_path", &[]),
    later("metrics", &["{}"]),
    gone("date_locale", "E119", "list the accepted patterns in `date_formats`"),
    gone("log_rules", "E124", "configure runtime logging outside the pipeline document"),
    gone("include_provenance", "E125", "set `write_meta: true` on each Sink that needs a sidecar"),
];

const MEMORY: &[Key] = &[
    optional("limit", Shape::Any(&[Shape::Integer(0), Shape::Text]), "hard budget of the run, for example `512M`"),
    optional("backpressure", Shape::Word(&["pause", "spill", "both"]), "what gives way"),
    optional("resume_threshold", Shape::Number, "fraction of the limit below which a paused reader resumes"),
];

const CONCURRENCY: &[Key] = &[
    optional("threads", Shape::Integer(1), "worker threads"),
    // Advice about grouping of rows that the engine may ignore by contract; only its kind is checked.
    optional("chunk_size", Shape::Integer(1), "advisory row-group size"),
];

/// Types of static variables.
const VARIABLE_TYPES: [&str; 6] = ["string", "int", "float", "bool", "date", "date_time"];

const VARIABLE: &[Key] = &[
    required("type", Shape::Words(&VARIABLE_TYPES), "the type"),
    optional("default", SCALAR, "the value"),
    optional("description", ANY, "a remark"),
];

/// A scalar that is a value of its own.
pub(crate) const SCALAR: Shape = Shape::Any(&[Shape::Text, Shape::Bool, Shape::Number]);
/// A variable: its value, or a declaration.
const VALUE: Shape = Shape::Any(&[Shape::Text, Shape::Bool, Shape::Number, Shape::Map(VARIABLE)]);

/// Reads the root of the document. `None` when it is no map.
pub(crate) fn read<'a>(root: &'a Node, flag: Option<&str>, faults: &mut Faults) -> Option<Root<'a>> {
    if !matches!(root.kind, NodeKind::Map(_)) {
        let message = format!("the document must be a map; it is {}", root.word());
        faults.push(Fault::new("E000", root.span, message).help("begin with the keys `pipeline:` and `nodes:`"));
        return None;
    }
    let fields = decode::fields(root, "the document", ROOT, faults)?;
    let formats = fields.node("formats").and_then(|node| decode::fields(node, "`formats`", FORMATS, faults));
    let settings = settings(&fields, flag, faults);
    let errors = match fields.node("error_handling") {
        Some(node) => crate::failures::fields(node, faults)?,
        None => crate::failures::absent(root.span),
    };
    Some(Root {
        settings,
        errors,
        formats,
        nodes: fields.items("nodes").unwrap_or_default(),
        nodes_node: fields.node("nodes"),
    })
}

/// The formats that a document names, whatever else is wrong with it.
pub(crate) fn formats<'a>(root: &'a Node, faults: &mut Faults) -> Option<Fields<'a>> {
    decode::fields(&root.get("formats")?.value, "`formats`", FORMATS, faults)
}

fn settings(root: &Fields<'_>, flag: Option<&str>, faults: &mut Faults) -> Settings {
    let fields = root.node("pipeline").and_then(|node| decode::fields(node, "`pipeline`", PIPELINE, faults));
    let mut settings = Settings {
        name: Arc::from(""),
        memory: MemoryPlan { limit: MEMORY_LIMIT, backpressure: "pause", resume_threshold: RESUME },
        batch_size: BATCH_SIZE,
        threads: None,
        vars: Vec::new(),
        date_formats: Vec::new(),
    };
    if let Some(fields) = fields {
        if let (Some(name), Some(node)) = (fields.text("name"), fields.node("name")) {
            if name.is_empty() {
                faults.error("E000", node.span, "`name` of `pipeline` is empty");
            }
            settings.name = Arc::clone(name);
        }
        memory(&fields, &mut settings.memory, faults);
        if let Some(rows) = batch_size(&fields, faults) {
            settings.batch_size = rows;
        }
        settings.vars = variables(&fields, faults);
        settings.date_formats = date_formats(&fields, faults);
        settings.threads = threads(&fields, faults);
    }
    memory_flag(flag, &mut settings.memory, root, faults);
    settings
}

fn memory(pipeline: &Fields<'_>, memory: &mut MemoryPlan, faults: &mut Faults) {
    let Some(fields) = pipeline.node("memory").and_then(|node| decode::fields(node, "`memory`", MEMORY, faults)) else {
        return;
    };
    if let Some(node) = fields.node("limit") {
        let limit = match &node.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.core(), Core::Int(_) | Core::Text) => {
                values::binary_size(&scalar.text)
            }
            _ => None,
        };
        match limit {
            Some(limit) => memory.limit = limit,
            None => {
                let message = format!("`memory.limit`: `{}` is no memory size", faults.place().shown(node));
                faults.push(Fault::new("E000", node.span, message).help(SIZE_HELP));
            }
        }
    }
    memory.backpressure = match fields.text("backpressure").map(|word| &**word) {
        Some("spill") => "spill",
        Some("both") => "both",
        _ => "pause",
    };
    if let Some(node) = fields.node("resume_threshold") {
        let value = match node.core() {
            Some(Core::Float(value)) => value,
            Some(Core::Int(value)) => value as f64,
            _ => f64::NAN,
        };
        if value > 0.0 && value < SOFT {
            memory.resume_threshold = value;
        } else {
            let message = format!("`resume_threshold` is {value}; it must be above 0 and below 0.80");
            faults.error("E324", node.span, message);
        }
    }
}

const SIZE_HELP: &str = "write bytes, or an integer with `K`, `M` or `G`: `512M`";

/// `--memory-limit` wins over the document; a blank one counts as none.
fn memory_flag(flag: Option<&str>, memory: &mut MemoryPlan, root: &Fields<'_>, faults: &mut Faults) {
    let Some(flag) = flag.filter(|flag| !flag.trim().is_empty()) else { return };
    match values::binary_size(flag) {
        Some(limit) => memory.limit = limit,
        None => {
            let diagnostic = Diagnostic::error("E000", format!("--memory-limit: `{flag}` is no memory size"));
            faults.adopt(root.span, vec![diagnostic.help(SIZE_HELP)]);
        }
    }
}

fn batch_size(pipeline: &Fields<'_>, faults: &mut Faults) -> Option<usize> {
    let node = pipeline.node("batch_size")?;
    match node.core() {
        Some(Core::Int(rows)) if rows >= 1 => usize::try_from(rows).ok(),
        Some(Core::Int(_)) => {
            faults.error("E000", node.span, "pipeline.batch_size must be >= 1");
            None
        }
        _ => {
            let message = format!("`batch_size` of `pipeline` must be an integer of at least 1; it is {}", node.word());
            faults.error("E000", node.span, message);
            None
        }
    }
}

fn threads(pipeline: &Fields<'_>, faults: &mut Faults) -> Option<usize> {
    let fields = decode::fields(pipeline.node("concurrency")?, "`concurrency`", CONCURRENCY, faults)?;
    usize::try_from(fields.integer("threads")?).ok()
}

fn date_formats(pipeline: &Fields<'_>, faults: &mut Faults) -> Vec<DateFormat> {
    let mut formats = Vec::new();
    for node in pipeline.items("date_formats").unwrap_or_default() {
        let Some(text) = node.text() else { continue };
        match DateFormat::compile(text) {
            Ok(format) => formats.push(format),
            Err(message) => faults.error("E000", node.span, format!("`date_formats`: {message}")),
        }
    }
    formats
}

fn variables(pipeline: &Fields<'_>, faults: &mut Faults) -> Vec<(String, Type, Value)> {
    let mut vars = Vec::new();
    for entry in pipeline.entries("vars").unwrap_or_default() {
        if let Some((kind, value)) = variable(&entry.key, &entry.value, faults) {
            // A variable without a value is null until something supplies one.
            let ty = if value.is_null() { Type::nullable(kind) } else { Type::plain(kind) };
            vars.push((entry.key.to_string(), ty, value));
        }
    }
    vars
}

fn variable(name: &str, node: &Node, faults: &mut Faults) -> Option<(Kind, Value)> {
    let scalar = match &node.kind {
        NodeKind::Map(_) => return declared(name, node, faults),
        NodeKind::List(_) => {
            let message = format!("variable `{name}` must be a scalar, or a map with `type` and `default`");
            faults.error("E000", node.span, message);
            return None;
        }
        NodeKind::Scalar(scalar) => scalar,
    };
    let kind = match scalar.core() {
        Core::Bool(_) => Some(Kind::Bool),
        Core::Int(_) => Some(Kind::Int),
        Core::Float(_) => Some(Kind::Float),
        Core::Text => Some(Kind::String),
        Core::Null | Core::HugeInt => None,
    };
    match kind.zip(values::native(&scalar.core(), &scalar.text)) {
        Some(variable) => Some(variable),
        None => {
            let shown = faults.place().shown(node);
            let fault =
                Fault::new("E116", node.span, format!("variable `{name}`: `{shown}` is no value of a variable"));
            faults.push(fault.help(format!("write `{name}: {{ type: string }}` for a variable without a value")));
            None
        }
    }
}

fn declared(name: &str, node: &Node, faults: &mut Faults) -> Option<(Kind, Value)> {
    let fields = decode::fields(node, &format!("variable `{name}`"), VARIABLE, faults)?;
    let word = fields.text("type")?;
    let kind = match &**word {
        "datetime" => Kind::DateTime,
        "string" | "int" | "float" | "bool" | "date" | "date_time" => Kind::from_word(word)?,
        _ => {
            let fault =
                Fault::new("E000", fields.node("type")?.span, format!("variable `{name}`: unknown type `{word}`"));
            let help = clinker_diagnostics::suggestion(word, VARIABLE_TYPES);
            faults.push(fault.help(help.unwrap_or_else(|| format!("the types are {}", VARIABLE_TYPES.join(", ")))));
            return None;
        }
    };
    let Some(default) = fields.node("default") else { return Some((kind, Value::Null)) };
    let value = match &default.kind {
        NodeKind::Scalar(scalar) => values::variable(kind, scalar),
        _ => None,
    };
    if value.is_none() {
        let shown = faults.place().shown(default);
        let message = format!("variable `{name}`: the default `{shown}` is no `{}`", kind.word());
        faults.error("E116", default.span, message);
    }
    value.map(|value| (kind, value))
}
