//! The sections after the outputs.

use std::fmt::Write;

use clinker_format::input::FileSelection;

use super::{ExplainSettings, display, kind, size};
use crate::document::SOFT;
use crate::documents::SectionPlan;
use crate::model::{CompiledPlan, Input, MergeMode, Node, Operator, ProjectedFrom, WidenedColumns};

pub(super) fn headed(title: &str) -> String {
    format!("=== {title} ===\n\n")
}

/// Writes a line. Text grows without fail.
macro_rules! line {
    ($text:expr, $($part:tt)*) => {{ let _ = writeln!($text, $($part)*); }};
}

pub(super) fn execution_plan(plan: &CompiledPlan) -> String {
    let mut text = headed("Execution Plan");
    let count = |wanted: &str| plan.nodes.iter().filter(|node| kind(node) == wanted).count();
    line!(text, "Mode: Streaming");
    line!(text, "Indices to build: 0");
    line!(text, "Transforms: {}", count("transform"));
    line!(text, "Output projections: {}", count("sink"));
    line!(text, "DAG nodes: {}", plan.nodes.len());
    line!(text, "arbitration: {}", policy(plan));
    let sources = plan.nodes.iter().filter(|node| kind(node) == "source");
    line!(text, "Source tier 0: {}", sources.map(|node| &*node.name).collect::<Vec<_>>().join(", "));
    for node in &plan.nodes {
        match &node.operator {
            Operator::Transform(transform) => {
                let emits: Vec<&str> = transform.program.emits().iter().map(|(name, _)| &**name).collect();
                line!(text, "\n{}", display(node));
                line!(text, "  emits: {}", emits.join(", "));
                line!(text, "  validations: {}", transform.validations.len());
                if !transform.log.is_empty() {
                    line!(text, "  log events: {}", transform.log.len());
                }
            }
            Operator::Sink(sink) => {
                let columns: Vec<&str> = sink.projection.columns.iter().map(|column| &*column.name).collect();
                let rest = match sink.projection.widened {
                    WidenedColumns::None => "",
                    WidenedColumns::Append { .. } => ", then undeclared fields in first-seen order",
                };
                line!(text, "\n{}", display(node));
                line!(text, "  writes: {}{rest}", columns.join(", "));
            }
            Operator::Merge(merge) => {
                let inputs: Vec<String> = node.inputs.iter().map(|input| reference(plan, *input)).collect();
                line!(text, "\n{}", display(node));
                line!(text, "  mode: {}", merge_mode(merge.mode));
                line!(text, "  inputs: {}", inputs.join(", "));
            }
            Operator::Source(source) if !source.documents.levels.is_empty() => {
                line!(text, "\n{}", display(node));
                for level in &source.documents.levels {
                    let sections: Vec<String> = level.sections.iter().map(described_section).collect();
                    let sections = if sections.is_empty() { "(no section)".to_string() } else { sections.join("; ") };
                    line!(text, "  level {}: {sections}", level.name);
                }
            }
            Operator::Source(_) | Operator::Route(_) => {}
        }
    }
    text
}

/// A section with the fields that programs can read.
fn described_section(section: &SectionPlan) -> String {
    let from = section.extract.as_ref().map(|extract| format!(" from {extract}")).unwrap_or_default();
    let fields = section.fields.as_ref().map_or("every field".to_string(), |fields| {
        fields
            .iter()
            .map(|field| format!("{} {}", field.rule.name, field.rule.ty.kind.word()))
            .collect::<Vec<_>>()
            .join(", ")
    });
    format!("{}{from} ({fields})", section.name)
}

/// The order of a Merge in words.
fn merge_mode(mode: MergeMode) -> String {
    match mode {
        MergeMode::Concat => "concat".to_string(),
        MergeMode::Interleave { turn: 1 } => "interleave, in turns of 1 row".to_string(),
        MergeMode::Interleave { turn } => format!("interleave, in turns of {turn} rows"),
        MergeMode::Seeded { seed } => format!("interleave, by a schedule of seed {seed}"),
    }
}

/// An output as references name it.
pub(super) fn reference(plan: &CompiledPlan, input: Input) -> String {
    let node = &plan.nodes[input.node];
    match &node.ports[input.port].name {
        Some(port) => format!("{}.{port}", node.name),
        None => node.name.to_string(),
    }
}

pub(super) fn policy(plan: &CompiledPlan) -> String {
    let thresholds = format!("(pause at {SOFT:.2}·limit, resume below {:.2}·limit)", plan.memory.resume_threshold);
    match plan.memory.backpressure {
        "spill" => "Priority".to_string(),
        "both" => format!("BackPressurePreferred -> LargestFirst {thresholds}"),
        _ => format!("BackPressurePreferred -> Priority {thresholds}"),
    }
}

/// How the rows that leave a node are partitioned, and why.
#[derive(Clone, Copy)]
pub(super) struct Partitioning {
    pub by_file: bool,
    pub provenance: &'static str,
}

impl Partitioning {
    pub(super) fn word(self) -> &'static str {
        if self.by_file { "FilePartitioned($source.file)" } else { "Single" }
    }
}

/// The partitioning of each node, by plan order: the Sources have it, a Merge drops it, all others keep it.
pub(super) fn partitionings(plan: &CompiledPlan) -> Vec<Partitioning> {
    let mut found: Vec<Partitioning> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        found.push(match &node.operator {
            Operator::Source(source) => {
                Partitioning { by_file: several_files(&source.files), provenance: "DeclaredOnInput" }
            }
            Operator::Merge(_) => Partitioning { by_file: false, provenance: "DroppedByMerge" },
            _ => Partitioning {
                by_file: node.input().is_some_and(|input| found[input].by_file),
                provenance: "Preserved",
            },
        });
    }
    found
}

pub(super) fn physical_properties(plan: &CompiledPlan, estimates: &[Option<u64>]) -> String {
    let mut text = headed("Physical Properties");
    let partitionings = partitionings(plan);
    for (id, node) in plan.nodes.iter().enumerate() {
        if id > 0 {
            text.push('\n');
        }
        line!(text, "{}.{}:", kind(node), node.name);
        line!(text, "  ordering: <none>");
        line!(text, "  ordering_provenance: NoOrdering");
        line!(text, "  partitioning: {}", partitionings[id].word());
        line!(text, "  partitioning_provenance: {}", partitionings[id].provenance);
        // Every edge of this plan is a handoff: no node blocks, and inputs that would have to wait are refused.
        line!(text, "  buffer: streaming");
        line!(
            text,
            "  arbitration: spill_priority=N/A, can_back_pressure={}, predicted_peak={}, predicted_freed=0B, \
             predicted_subtree_reclaim=0B",
            kind(node) == "source",
            size(estimates[id].unwrap_or(0))
        );
    }
    text
}

/// What each branch of each Route feeds.
pub(super) fn routes(plan: &CompiledPlan) -> Option<String> {
    let mut text = String::new();
    for node in &plan.nodes {
        let Operator::Route(route) = &node.operator else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        line!(text, "Route '{}':", node.name);
        line!(text, "  Mode: {}", if route.inclusive { "inclusive" } else { "exclusive" });
        for (at, port) in node.ports.iter().enumerate() {
            let readers: Vec<&str> = port.consumers.iter().map(|reader| &*plan.nodes[*reader].name).collect();
            let readers = if readers.is_empty() { "(unconsumed)".to_string() } else { readers.join(", ") };
            let what = if at < route.branches.len() { "Branch" } else { "Default" };
            line!(text, "  {what}: {} -> {readers}", port.name.as_deref().unwrap_or_default());
        }
    }
    Some(text).filter(|text| !text.is_empty())
}

fn several_files(files: &FileSelection) -> bool {
    files.path.is_none()
}

pub(super) fn statistics(plan: &CompiledPlan, estimates: &[Option<u64>]) -> Option<String> {
    let mut text = headed("Statistics");
    let mut known = false;
    for (node, estimate) in plan.nodes.iter().zip(estimates) {
        let (Operator::Source(_), Some(bytes)) = (&node.operator, estimate) else { continue };
        known = true;
        line!(text, "{}: ≈{} rows [file metadata]", node.name, super::estimate::rows(*bytes));
    }
    known.then_some(text)
}

pub(super) fn expressions(plan: &CompiledPlan) -> String {
    let mut text = headed("CXL Expressions");
    let mut any = false;
    for node in &plan.nodes {
        let lines = node_expressions(node);
        if lines.is_empty() && !matches!(node.operator, Operator::Transform(_)) {
            continue;
        }
        any = true;
        line!(text, "{}:", display(node));
        lines.iter().for_each(|described| line!(text, "  {described}"));
    }
    if !any {
        line!(text, "(none)");
    }
    text
}

/// What a node evaluates, a line each.
pub(super) fn node_expressions(node: &Node) -> Vec<String> {
    match &node.operator {
        Operator::Transform(transform) => {
            let mut lines: Vec<String> = transform.program.describe().lines().map(str::to_string).collect();
            lines.extend(transform.validations.iter().map(|validation| {
                format!("validation {} ({})", validation.name, if validation.warn { "warn" } else { "error" })
            }));
            let conditions = transform.log.iter().filter_map(|event| Some((&event.name, event.condition.as_ref()?)));
            lines.extend(conditions.map(|(name, condition)| format!("log {name}: {}", condition.describe())));
            lines
        }
        Operator::Route(route) => {
            let branches = route.branches.iter();
            branches.map(|(branch, condition)| format!("branch {branch}: {}", condition.describe())).collect()
        }
        Operator::Source(_) | Operator::Merge(_) | Operator::Sink(_) => Vec::new(),
    }
}

pub(super) fn types(plan: &CompiledPlan) -> String {
    let mut text = headed("Type Annotations");
    for node in &plan.nodes {
        line!(text, "{}:", display(node));
        node_fields(node).iter().for_each(|(name, ty)| line!(text, "  {name}: {ty}"));
    }
    text
}

/// The output fields of a node with their types; for a Sink what it writes.
pub(super) fn node_fields(node: &Node) -> Vec<(&str, String)> {
    let Operator::Sink(sink) = &node.operator else {
        return node.schema.columns.iter().map(|(name, ty)| (&**name, ty.to_string())).collect();
    };
    let ty = |from: &ProjectedFrom| match from {
        ProjectedFrom::Column(at) => node.schema.columns[*at].1.to_string(),
        ProjectedFrom::Widened(_) => "any".to_string(),
    };
    sink.projection.columns.iter().map(|column| (&*column.name, ty(&column.from))).collect()
}

pub(super) fn memory(plan: &CompiledPlan, settings: &ExplainSettings) -> String {
    let mut text = headed("Memory Budget");
    let limit = plan.memory.limit;
    let share = |fraction: f64| size((limit as f64 * fraction) as u64);
    line!(text, "limit: {}", size(limit));
    line!(text, "soft threshold: {} ({SOFT:.2}·limit)", share(SOFT));
    let resume = plan.memory.resume_threshold;
    line!(text, "resume threshold: {} ({resume:.2}·limit)", share(resume));
    line!(text, "worker threads: {}", settings.threads);
    text
}

/// Present with a `dlq:` block.
pub(super) fn dead_letters(plan: &CompiledPlan) -> Option<String> {
    if !plan.failures.has_dlq_block {
        return None;
    }
    let mut text = headed("Dead-Letter Output");
    if plan.dead_letters.is_empty() {
        line!(text, "  (none)");
    }
    for file in &plan.dead_letters {
        let sources: Vec<&str> = file.sources.iter().map(|source| &**source).collect();
        let columns: Vec<&str> = file.header().collect();
        line!(text, "  {}{}", file.path, if file.fallback { " (pipeline-wide)" } else { "" });
        line!(text, "    sources: {}", if sources.is_empty() { "(none)".to_string() } else { sources.join(", ") });
        line!(text, "    columns: {}", columns.join(", "));
    }
    Some(text)
}

/// Input files are never copied before they are read.
pub(super) fn staging() -> String {
    let mut text = headed("Staging Plan");
    line!(text, "Staging is off: every source reads its files in place.");
    text
}
