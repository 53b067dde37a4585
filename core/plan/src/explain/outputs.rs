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
    let (policy, note) = match sink.if_exists {
        IfExists::Overwrite => ("overwrite", String::new()),
        IfExists::Error => ("error", String::new()),
        IfExists::UniqueSuffix { width } => {
            let number = if width > 0 { format!("{{n:0{width}}}") } else { "{n}".to_string() };
            ("unique_suffix", format!(" — collisions append -{number} before extension"))
        }
    };
    let _ = writeln!(text, "  '{name}' → {path}");
    let _ = writeln!(text, "      [if_exists={policy}, write_meta=false]{note}");
}
