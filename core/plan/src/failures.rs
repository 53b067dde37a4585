//! `error_handling`.

use std::sync::Arc;

use clinker_diagnostics::{Span, suggestion};

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, optional};
use crate::faults::{Fault, Faults};
use crate::model::{FailurePolicy, Rate, Strategy};
use crate::paths::{self, Destination};
use crate::yaml::{Core, Entry, Node};

pub(crate) const ERRORS: &[Key] = &[
    optional("strategy", Shape::Words(&STRATEGIES), "`fail_fast` or `continue`"),
    optional("dlq", Shape::Map(DLQ), "the dead-letter output"),
    optional("type_error_threshold", Shape::Number, "breaker on declared-type failures"),
    // Both act on correlation groups only, and there are none.
    optional("max_group_buffer", Shape::Integer(1), "entries held of one correlation group"),
    optional("correlation_fanout_policy", Shape::Word(&["any", "all", "primary"]), "whom a failure condemns"),
];

/// The words of `strategy`.
const STRATEGIES: [&str; 2] = ["fail_fast", "continue"];

const DLQ: &[Key] = &[
    optional("path", Shape::Text, "the dead-letter file"),
    optional("include_reason", Shape::Bool, "whether category and detail are written"),
    optional("include_source_row", Shape::Bool, "whether record columns are written"),
    optional("max_rate", Shape::Number, "ceiling of dead letters"),
    optional("min_records", Shape::Integer(0), "rows read before ceilings are looked at"),
    optional("per_source", Shape::Named(&Shape::Map(PER_SOURCE)), "settings of one Source"),
];

const PER_SOURCE: &[Key] = &[
    optional("path", Shape::Text, "the Source's own dead-letter file"),
    optional("max_rate", Shape::Number, "ceiling of dead letters"),
    optional("min_records", Shape::Integer(0), "rows read before its ceiling is looked at"),
];

/// Source rows that must have been read before a ceiling is looked at.
const MIN_RECORDS: u64 = 100;

/// What becomes of failing records.
pub(crate) struct Failures {
    pub policy: FailurePolicy,
    /// The pipeline-wide file first, then those of single Sources in name order.
    pub files: Vec<DeadLetterFile>,
    pub include_reason: bool,
    pub include_source_row: bool,
}

/// A dead-letter file.
pub(crate) struct DeadLetterFile {
    pub path: String,
    pub span: Span,
    /// The Source whose rows go to it; none for the pipeline-wide file.
    pub source: Option<Arc<str>>,
}

/// The Sources that `per_source` may name.
pub(crate) struct Sources<'a> {
    /// Their names in plan order.
    pub names: Vec<&'a str>,
    /// Names of nodes that could not be read, any of which may be a Source.
    pub unclear: Vec<&'a str>,
    /// Whether a node could not be read so far as to have a name.
    pub nameless: bool,
}

/// The strictly read block.
pub(crate) fn fields<'a>(node: &'a Node, faults: &mut Faults) -> Option<Fields<'a>> {
    decode::fields(node, "`error_handling`", ERRORS, faults)
}

/// A block that is not there.
pub(crate) fn absent<'a>(span: Span) -> Fields<'a> {
    Fields::empty(span)
}

/// Reads the block.
pub(crate) fn read(fields: &Fields<'_>, sources: &Sources<'_>, context: &Context<'_>, faults: &mut Faults) -> Failures {
    let block = fields.node("dlq").and_then(|node| decode::fields(node, "`dlq`", DLQ, faults));
    let policy = FailurePolicy {
        strategy: strategy(fields, faults),
        has_dlq_block: fields.node("dlq").is_some(),
        type_error_threshold: type_error_threshold(fields, faults),
        max_rate: None,
        source_rates: vec![None; sources.names.len()],
    };
    let mut failures = Failures { policy, files: Vec::new(), include_reason: true, include_source_row: true };
    let Some(block) = block else { return failures };
    failures.include_reason = block.bool("include_reason").unwrap_or(true);
    failures.include_source_row = block.bool("include_source_row").unwrap_or(true);
    let min_records = min_records(&block).unwrap_or(MIN_RECORDS);
    failures.policy.max_rate = max_rate(&block, "error_handling.dlq", min_records, faults);
    if let Some((path, span)) = path(&block, "dead-letter `path`", context, faults) {
        failures.files.push(DeadLetterFile { path, span, source: None });
    }
    per_source(&block, sources, min_records, context, &mut failures, faults);
    failures
}

/// The share of declared-type failures that is borne.
fn type_error_threshold(fields: &Fields<'_>, faults: &mut Faults) -> Option<f64> {
    let node = fields.node("type_error_threshold")?;
    let value = number(node);
    let fits = (0.0..=1.0).contains(&value);
    if !fits {
        let message = format!("`type_error_threshold` is {value}; it must be 0.0 to 1.0");
        faults.push(Fault::new("E368", node.span, message).help("write a share: `0.02` is two percent"));
    }
    fits.then_some(value)
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
            let help = suggestion(word, STRATEGIES)
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

fn min_records(block: &Fields<'_>) -> Option<u64> {
    block.integer("min_records").and_then(|rows| u64::try_from(rows).ok())
}

/// The ceiling of a block that the document names by `key`.
fn max_rate(block: &Fields<'_>, key: &str, min_records: u64, faults: &mut Faults) -> Option<Rate> {
    let node = block.node("max_rate")?;
    let max = number(node);
    let fits = max > 0.0 && max <= 1.0;
    if !fits {
        let message = format!("`{key}.max_rate` is {max}; it must lie in (0.0, 1.0]");
        faults.push(Fault::new("E318", node.span, message).help("write a share: `0.02` is two percent"));
    }
    fits.then_some(Rate { max, min_records })
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

/// Files and ceilings of single Sources.
fn per_source(
    block: &Fields<'_>,
    sources: &Sources<'_>,
    min_records: u64,
    context: &Context<'_>,
    failures: &mut Failures,
    faults: &mut Faults,
) {
    let Some(entries) = block.entries("per_source") else { return };
    let destination = |path: &str| Destination::resolve(&context.base, path);
    let mut claimed: Vec<(String, String, Destination)> = Vec::new();
    if let Some(file) = failures.files.first() {
        claimed.push(("error_handling.dlq.path".to_string(), file.path.clone(), destination(&file.path)));
    }
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    for entry in sorted {
        let key = format!("error_handling.dlq.per_source.{}", entry.key);
        let fields = decode::fields(&entry.value, "a `per_source` entry", PER_SOURCE, faults);
        let position = sources.names.iter().position(|name| **name == *entry.key);
        if position.is_none() {
            unknown_source(entry, sources, faults);
        }
        let (Some(fields), Some(position)) = (fields, position) else { continue };
        let min_records = self::min_records(&fields).unwrap_or(min_records);
        failures.policy.source_rates[position] = max_rate(&fields, &key, min_records, faults);
        let Some((path, span)) = path(&fields, &format!("`{key}.path`"), context, faults) else { continue };
        let place = destination(&path);
        if let Some((first_key, first, _)) = claimed.iter().find(|(_, _, other)| other.is(&place)) {
            let spelling = if *first == path { String::new() } else { format!(" (there spelled `{first}`)") };
            let message = format!("`{key}.path` names the file of `{first_key}`{spelling}");
            faults.push(Fault::new("E318", span, message).help("give each dead-letter file a path of its own"));
            continue;
        }
        claimed.push((format!("{key}.path"), path.clone(), place));
        failures.files.push(DeadLetterFile { path, span, source: Some(Arc::clone(&entry.key)) });
    }
}

fn unknown_source(entry: &Entry, sources: &Sources<'_>, faults: &mut Faults) {
    if sources.nameless || sources.unclear.contains(&&*entry.key) {
        return;
    }
    let help = suggestion(&entry.key, sources.names.iter().copied())
        .unwrap_or_else(|| format!("the sources are {}", sources.names.join(", ")));
    let message = format!("`per_source` names `{}`, which is no Source", entry.key);
    faults.push(Fault::new("E317", entry.key_span, message).help(help));
}
