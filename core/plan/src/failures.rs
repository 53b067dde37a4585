//! `error_handling`.

use clinker_diagnostics::{Span, suggestion};

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, later, optional};
use crate::faults::{Fault, Faults};
use crate::model::{FailurePolicy, Strategy};
use crate::paths::{self, Destination};
use crate::yaml::{Core, Node};

const ERRORS: &[Key] = &[
    optional("strategy", Shape::Text, "`fail_fast` or `continue`"),
    optional("dlq", Shape::Map, "the dead-letter output"),
    optional("type_error_threshold", Shape::Number, "breaker on declared-type failures"),
    // Both act on correlation groups only, and there are none.
    optional("max_group_buffer", Shape::Integer(1), "entries held of one correlation group"),
    optional("correlation_fanout_policy", Shape::Word(&["any", "all", "primary"]), "whom a failure condemns"),
];

const DLQ: &[Key] = &[
    optional("path", Shape::Text, "the dead-letter file"),
    optional("include_reason", Shape::Bool, "whether category and detail are written"),
    optional("include_source_row", Shape::Bool, "whether record columns are written"),
    optional("max_rate", Shape::Number, "ceiling of dead letters"),
    later("min_records", &["100"]),
    optional("per_source", Shape::Map, "settings of one Source"),
];

const PER_SOURCE: &[Key] = &[
    optional("path", Shape::Text, "the Source's own dead-letter file"),
    optional("max_rate", Shape::Number, "ceiling of dead letters"),
    later("min_records", &[]),
];

/// What becomes of failing records.
pub(crate) struct Failures {
    pub policy: FailurePolicy,
    pub file: Option<DeadLetterFile>,
}

/// The pipeline-wide dead-letter file.
pub(crate) struct DeadLetterFile {
    pub path: String,
    pub span: Span,
    pub include_reason: bool,
    pub include_source_row: bool,
}

/// The strictly read block.
pub(crate) fn fields<'a>(node: &'a Node, faults: &mut Faults) -> Option<Fields<'a>> {
    decode::fields(node, "`error_handling`", ERRORS, faults)
}

/// A block that is not there.
pub(crate) fn absent<'a>(span: Span) -> Fields<'a> {
    Fields::empty(span)
}

/// Reads the block. `sources` are the names of the pipeline's Sources.
pub(crate) fn read(fields: &Fields<'_>, sources: &[&str], context: &Context<'_>, faults: &mut Faults) -> Failures {
    let strategy = strategy(fields, faults);
    if let Some(node) = fields.node("type_error_threshold") {
        match number(node) {
            value if (0.0..=1.0).contains(&value) => {
                decode::unavailable("`type_error_threshold`", "`error_handling`", node.span, faults);
            }
            value => {
                let message = format!("`type_error_threshold` is {value}; it must be 0.0 to 1.0");
                faults.error("E368", node.span, message);
            }
        }
    }
    let block = fields.node("dlq").and_then(|node| decode::fields(node, "`dlq`", DLQ, faults));
    let policy = FailurePolicy {
        strategy,
        has_dlq_block: fields.node("dlq").is_some(),
        type_error_threshold: None,
        max_rate: None,
        source_rates: vec![None; sources.len()],
    };
    let Some(block) = block else { return Failures { policy, file: None } };
    max_rate(&block, "error_handling.dlq.max_rate", faults);
    per_source(&block, sources, context, faults);
    let file = path(&block, "dead-letter `path`", context, faults).map(|(path, span)| DeadLetterFile {
        path,
        span,
        include_reason: block.bool("include_reason").unwrap_or(true),
        include_source_row: block.bool("include_source_row").unwrap_or(true),
    });
    Failures { policy, file }
}

fn strategy(fields: &Fields<'_>, faults: &mut Faults) -> Strategy {
    let Some(node) = fields.node("strategy") else { return Strategy::FailFast };
    match node.text().map(|word| &**word) {
        Some("continue") => Strategy::Continue,
        Some("fail_fast") | None => Strategy::FailFast,
        Some("best_effort") => {
            let message = "`best_effort` is not a strategy";
            faults.push(Fault::new("E393", node.span, message).help("write `strategy: continue`"));
            Strategy::Continue
        }
        Some(word) => {
            let shown = faults.place().shown(node);
            let help = suggestion(word, ["fail_fast", "continue"])
                .unwrap_or_else(|| "the strategies are `fail_fast` and `continue`".to_string());
            let message = format!("`{shown}` is not a strategy; write `fail_fast` or `continue`");
            faults.push(Fault::new("E000", node.span, message).help(help));
            Strategy::Continue
        }
    }
}

fn number(node: &Node) -> f64 {
    match node.core() {
        Some(Core::Float(value)) => value,
        Some(Core::Int(value)) => value as f64,
        _ => f64::NAN,
    }
}

fn max_rate(block: &Fields<'_>, key: &str, faults: &mut Faults) {
    let Some(node) = block.node("max_rate") else { return };
    let value = number(node);
    if value > 0.0 && value <= 1.0 {
        decode::unavailable("`max_rate`", "`dlq`", node.span, faults);
    } else {
        faults.error("E318", node.span, format!("`{key}` is {value}; it must lie in (0.0, 1.0]"));
    }
}

fn path(block: &Fields<'_>, what: &str, context: &Context<'_>, faults: &mut Faults) -> Option<(String, Span)> {
    let node = block.node("path")?;
    let path = node.text()?.to_string();
    match paths::check_text(&path, context.allow_absolute) {
        Ok(()) => Some((path, node.span)),
        Err(message) => {
            faults.error("E-SEC-001", node.span, format!("{what}: {message}"));
            None
        }
    }
}

/// Files and ceilings of single Sources: checked whole, then refused by name.
fn per_source(block: &Fields<'_>, sources: &[&str], context: &Context<'_>, faults: &mut Faults) {
    let Some(entries) = block.entries("per_source") else { return };
    let mut claimed: Vec<(String, String, Destination)> = Vec::new();
    if let Some(path) = block.text("path") {
        let place = Destination::resolve(&context.base, path);
        claimed.push(("error_handling.dlq.path".to_string(), path.to_string(), place));
    }
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    for entry in sorted {
        if !sources.contains(&&*entry.key) {
            let help = suggestion(&entry.key, sources.iter().copied())
                .unwrap_or_else(|| format!("the sources are {}", sources.join(", ")));
            let message = format!("`per_source` names `{}`, which is no Source", entry.key);
            faults.push(Fault::new("E317", entry.key_span, message).help(help));
            continue;
        }
        let key = format!("error_handling.dlq.per_source.{}", entry.key);
        let Some(fields) = decode::fields(&entry.value, "a `per_source` entry", PER_SOURCE, faults) else { continue };
        max_rate(&fields, &format!("{key}.max_rate"), faults);
        if let Some((path, span)) = self::path(&fields, &format!("`{key}.path`"), context, faults) {
            let place = Destination::resolve(&context.base, &path);
            match claimed.iter().find(|(_, _, other)| other.is(&place)) {
                Some((first_key, first, _)) => {
                    let spelling = if *first == path { String::new() } else { format!(" (there spelled `{first}`)") };
                    let message = format!("`{key}.path` names the file of `{first_key}`{spelling}");
                    faults.error("E318", span, message);
                }
                None => {
                    decode::unavailable("`per_source`", "`dlq`", entry.key_span, faults);
                    claimed.push((format!("{key}.path"), path, place));
                }
            }
        }
    }
}
