//! The plan as JSON, for programs.

use serde_json::{Map, Value, json};

use super::sections::{node_expressions, node_fields, partitionings, policy};
use super::{ExplainSettings, estimate, id, kind, outputs};
use crate::document::SOFT;
use crate::documents::{FieldPlan, LevelPlan};
use crate::model::{CompiledPlan, MergeMode, Node, Operator, WidenedColumns};

/// The JSON form of `--explain`, indented, ending in a line break.
pub fn explain_json(plan: &CompiledPlan, settings: &ExplainSettings) -> String {
    let estimates = estimate::bytes(plan);
    let mut document = json!({
        "schema_version": "1",
        "pipeline": { "name": &*plan.name, "hash": hex(&plan.pipeline_hash) },
        "execution": execution(plan),
        "nodes": plan.nodes.iter().map(|node| describe(plan, node)).collect::<Vec<_>>(),
        "node_properties": properties(plan, &estimates),
        "buffer_edges": [],
        "source_activation": sources(plan, |_| json!(true)),
        "statistics": statistics(plan, &estimates),
        "memory": memory(plan, settings),
    });
    let members = document.as_object_mut().expect("it was written as an object");
    if plan.failures.has_dlq_block {
        members.insert("dead_letter".to_string(), dead_letters(plan));
    }
    members.insert("storage_summary".to_string(), storage(plan));
    let mut text = serde_json::to_string_pretty(&document).expect("keys are text and numbers are finite");
    text.push('\n');
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn named(plan: &CompiledPlan, wanted: &str) -> usize {
    plan.nodes.iter().filter(|node| kind(node) == wanted).count()
}

/// A member for each Source, under its name.
fn sources(plan: &CompiledPlan, member: impl Fn(usize) -> Value) -> Value {
    let sources = plan.nodes.iter().enumerate().filter(|(_, node)| matches!(node.operator, Operator::Source(_)));
    Value::Object(sources.map(|(at, node)| (node.name.to_string(), member(at))).collect())
}

fn execution(plan: &CompiledPlan) -> Value {
    let sources = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Source(_)));
    json!({
        "mode": "Streaming",
        "indices_to_build": 0,
        "transforms": named(plan, "transform"),
        "output_projections": named(plan, "sink"),
        "dag_nodes": plan.nodes.len(),
        "arbitration": policy(plan),
        "source_tiers": [sources.map(|node| &*node.name).collect::<Vec<_>>()],
    })
}

fn describe(plan: &CompiledPlan, node: &Node) -> Value {
    let mut above: Vec<usize> = Vec::new();
    for input in &node.inputs {
        if !above.contains(&input.node) {
            above.push(input.node);
        }
    }
    let depends_on: Vec<String> = above.iter().map(|above| id(&plan.nodes[*above])).collect();
    let fields = node_fields(node).into_iter().map(|(name, ty)| json!({ "name": name, "type": ty }));
    let mut described = Map::new();
    described.insert("id".to_string(), json!(id(node)));
    described.insert("type".to_string(), json!(kind(node)));
    described.insert("name".to_string(), json!(&*node.name));
    described.insert("depends_on".to_string(), json!(depends_on));
    described.insert("fields".to_string(), fields.collect());
    let expressions = node_expressions(node);
    if !expressions.is_empty() {
        described.insert("expressions".to_string(), json!(expressions));
    }
    if let Value::Object(own) = members(plan, node) {
        described.extend(own);
    }
    Value::Object(described)
}

/// The members that only nodes of this kind have.
fn members(plan: &CompiledPlan, node: &Node) -> Value {
    match &node.operator {
        Operator::Source(source) => {
            let mut own = json!({ "format": source.format });
            if !source.documents.levels.is_empty() {
                own["levels"] = source.documents.levels.iter().map(level).collect();
            }
            own
        }
        Operator::Transform(transform) => json!({
            "emits": transform.program.emits().iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
            "validations": transform.validations.len(),
            "log_events": transform.log.iter().map(|event| &*event.name).collect::<Vec<_>>(),
        }),
        Operator::Route(route) => json!({
            "mode": if route.inclusive { "inclusive" } else { "exclusive" },
            "branches": node.ports.iter().enumerate().map(|(at, port)| json!({
                "name": port.name.as_deref().unwrap_or_default(),
                "default": at >= route.branches.len(),
                "targets": port.consumers.iter().map(|reader| id(&plan.nodes[*reader])).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        }),
        Operator::Merge(merge) => match merge.mode {
            MergeMode::Concat => json!({ "mode": "concat" }),
            MergeMode::Interleave { turn } => json!({ "mode": "interleave", "turn_rows": turn }),
            MergeMode::Seeded { seed } => json!({ "mode": "interleave", "seed": seed }),
        },
        Operator::Sink(sink) => json!({
            "format": sink.format,
            "output": outputs::described(plan, sink),
            "undeclared_fields": sink.projection.widened != WidenedColumns::None,
        }),
    }
}

/// A level of the documents of a Source.
fn level(level: &LevelPlan) -> Value {
    let sections = level.sections.iter().map(|section| {
        let fields = section.fields.as_ref().map(|fields| {
            let field = |field: &FieldPlan| {
                json!({ "name": &*field.rule.name, "type": field.rule.ty.kind.word(), "read": field.read })
            };
            fields.iter().map(field).collect::<Vec<_>>()
        });
        json!({ "name": &*section.name, "extract": section.extract.as_deref(), "fields": fields })
    });
    json!({ "name": &*level.name, "sections": sections.collect::<Vec<_>>() })
}

fn properties(plan: &CompiledPlan, estimates: &[Option<u64>]) -> Value {
    let partitionings = partitionings(plan);
    let nodes = plan.nodes.iter().enumerate().map(|(at, node)| {
        let described = json!({
            "ordering": null,
            "ordering_provenance": "NoOrdering",
            "partitioning": partitionings[at].word(),
            "partitioning_provenance": partitionings[at].provenance,
            "buffer": "streaming",
            "spill_priority": null,
            "can_back_pressure": matches!(node.operator, Operator::Source(_)),
            "predicted_peak_bytes": estimates[at],
            "predicted_freed_bytes_on_complete": null,
            "predicted_subtree_reclaim_bytes": null,
        });
        (node.name.to_string(), described)
    });
    Value::Object(nodes.collect())
}

fn statistics(plan: &CompiledPlan, estimates: &[Option<u64>]) -> Value {
    sources(plan, |at| match estimates[at] {
        Some(bytes) => json!({ "rows": estimate::rows(bytes), "provenance": "file metadata" }),
        None => json!({ "rows": null, "provenance": null }),
    })
}

fn memory(plan: &CompiledPlan, settings: &ExplainSettings) -> Value {
    let share = |fraction: f64| (plan.memory.limit as f64 * fraction) as u64;
    json!({
        "limit_bytes": plan.memory.limit,
        "soft_threshold_bytes": share(SOFT),
        "resume_threshold_bytes": share(plan.memory.resume_threshold),
        "worker_threads": settings.threads,
    })
}

fn dead_letters(plan: &CompiledPlan) -> Value {
    let buckets = plan.dead_letters.iter().map(|file| {
        json!({
            "path": file.path,
            "sources": file.sources.iter().map(|source| &**source).collect::<Vec<_>>(),
            "fallback": file.fallback,
            "header": file.header().collect::<Vec<_>>(),
        })
    });
    json!({ "buckets": buckets.collect::<Vec<_>>() })
}

/// No node of this plan writes state to disk, and every Source reads its files in place.
fn storage(plan: &CompiledPlan) -> Value {
    let sources = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Source(_)));
    let sources = sources.map(|node| json!({ "name": &*node.name, "stagable": false, "files": [] }));
    json!({
        "estimated_spill": { "per_stage": [], "total_known_bytes": 0, "any_unknown": false },
        "cap_headroom": null,
        "staging": { "enabled": false, "sources": sources.collect::<Vec<_>>() },
    })
}
