//! The sections after the outputs.

use std::fmt::Write;

use clinker_format::input::FileSelection;

use super::{ExplainSettings, display, kind, size};
use crate::document::SOFT;
use crate::model::{CompiledPlan, Node, NodeId, Operator, WidenedColumns};

fn headed(title: &str) -> String {
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
            Operator::Source(_) | Operator::Route(_) | Operator::Merge(_) => {}
        }
    }
    text
}

fn policy(plan: &CompiledPlan) -> String {
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
        line!(text, "{}: ≈{} rows [file metadata]", node.name, bytes.div_ceil(1024));
    }
    known.then_some(text)
}

pub(super) fn expressions(plan: &CompiledPlan) -> String {
    let mut text = headed("CXL Expressions");
    if !plan.nodes.iter().any(|node| matches!(node.operator, Operator::Transform(_))) {
        line!(text, "(none)");
    }
    for node in &plan.nodes {
        let Operator::Transform(transform) = &node.operator else { continue };
        line!(text, "{}:", display(node));
        for statement in transform.program.describe().lines() {
            line!(text, "  {statement}");
        }
        for validation in &transform.validations {
            let severity = if validation.warn { "warn" } else { "error" };
            line!(text, "  validation {} ({severity})", validation.name);
        }
    }
    text
}

pub(super) fn types(plan: &CompiledPlan) -> String {
    let mut text = headed("Type Annotations");
    for node in &plan.nodes {
        line!(text, "{}:", display(node));
        let written = match &node.operator {
            Operator::Sink(sink) => Some(&sink.projection.columns),
            _ => None,
        };
        match written {
            Some(columns) => {
                for column in columns {
                    let ty = match column.from {
                        crate::ProjectedFrom::Column(at) => node.schema.columns[at].1.to_string(),
                        crate::ProjectedFrom::Widened(_) => "any".to_string(),
                    };
                    line!(text, "  {}: {ty}", column.name);
                }
            }
            None => node.schema.columns.iter().for_each(|(name, ty)| line!(text, "  {name}: {ty}")),
        }
    }
    text
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

/// The forest of nodes. Every node has at most one input, so plan order is its pre-order with the last-declared
/// consumer first.
pub(super) fn topology(plan: &CompiledPlan) -> String {
    let mut text = headed("DAG Topology");
    for (id, node) in plan.nodes.iter().enumerate() {
        line!(text, "{}{}", branch(plan, id), leaf(node));
    }
    text
}

fn leaf(node: &Node) -> String {
    match &node.operator {
        Operator::Source(source) => format!("● {} ({})", display(node), source.format),
        Operator::Sink(sink) => format!("{} ({})", display(node), sink.format),
        Operator::Transform(_) | Operator::Route(_) | Operator::Merge(_) => display(node),
    }
}

fn branch(plan: &CompiledPlan, id: NodeId) -> String {
    let is_last = |id: NodeId, parent: NodeId| plan.nodes[parent].consumers().next() == Some(id);
    let mut pieces = Vec::new();
    let mut at = id;
    while let Some(parent) = plan.nodes[at].input() {
        pieces.push(match (at == id, is_last(at, parent)) {
            (true, true) => "└─ ",
            (true, false) => "├─ ",
            (false, true) => "   ",
            (false, false) => "│  ",
        });
        at = parent;
    }
    pieces.into_iter().rev().collect()
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
