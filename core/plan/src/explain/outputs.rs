//! `=== Resolved Outputs ===`.

use std::fmt::Write;

use crate::model::{CompiledPlan, IfExists, Operator, SinkPlan};
use crate::template::RenderContext;

/// The outputs of one run, with their paths expanded.
pub fn resolved_outputs(plan: &CompiledPlan, start_time: i128, execution_id: &str, batch_id: &str) -> String {
    let mut text = String::from("=== Resolved Outputs ===\n\n");
    for node in &plan.nodes {
        let Operator::Sink(sink) = &node.operator else { continue };
        let context = RenderContext {
            channel: None,
            pipeline_hash: &plan.pipeline_hash,
            start_time,
            execution_id,
            batch_id,
            n: None,
            width: 0,
            source_path: Some("{source_file}"),
        };
        let path = sink.path.render(&context).unwrap_or_else(|_| sink.path.text().to_string());
        line(&mut text, &node.name, &path, sink);
    }
    text
}

/// The outputs of no run in particular: what only a run knows stands as its token.
pub(super) fn planned(plan: &CompiledPlan) -> String {
    let mut text = String::from("=== Resolved Outputs ===\n\n");
    for node in &plan.nodes {
        let Operator::Sink(sink) = &node.operator else { continue };
        line(&mut text, &node.name, &sink.path.planned(&plan.pipeline_hash), sink);
    }
    text
}

fn line(text: &mut String, name: &str, path: &str, sink: &SinkPlan) {
    let note = match sink.if_exists {
        IfExists::UniqueSuffix { width } => {
            let number = if width > 0 { format!("{{n:0{width}}}") } else { "{n}".to_string() };
            format!(" — collisions append -{number} before extension")
        }
        IfExists::Overwrite | IfExists::Error => String::new(),
    };
    let split = sink.split.as_ref().map_or(String::new(), |split| format!(" (split, naming=\"{}\")", split.naming));
    let (policy, meta) = (policy(sink.if_exists), sink.write_meta);
    let _ = writeln!(text, "  '{name}' → {path}{split}");
    let _ = writeln!(text, "      [if_exists={policy}, write_meta={meta}]{note}");
}

fn policy(if_exists: IfExists) -> &'static str {
    match if_exists {
        IfExists::Overwrite => "overwrite",
        IfExists::Error => "error",
        IfExists::UniqueSuffix { .. } => "unique_suffix",
    }
}

/// An output of no run in particular, for programs.
pub(super) fn described(plan: &CompiledPlan, sink: &SinkPlan) -> serde_json::Value {
    let width = match sink.if_exists {
        IfExists::UniqueSuffix { width } => Some(width),
        IfExists::Overwrite | IfExists::Error => None,
    };
    serde_json::json!({
        "path": sink.path.planned(&plan.pipeline_hash),
        "if_exists": policy(sink.if_exists),
        "unique_suffix_width": width,
        "write_meta": sink.write_meta,
        "split": sink.split.as_ref().map(|split| serde_json::json!({
            "naming": &*split.naming,
            "max_records": split.max_records,
            "max_bytes": split.max_bytes,
        })),
    })
}
