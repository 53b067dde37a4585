//! The plan as a directed graph for Graphviz.

use std::fmt::Write;

use super::{display, id};
use crate::model::CompiledPlan;

/// The DOT form of `--explain`: a node for each node of the plan, an edge for each of its edges.
pub fn explain_dot(plan: &CompiledPlan) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&plan.name));
    for node in &plan.nodes {
        // Text grows without fail.
        let _ = writeln!(text, "  {} [label={}];", quoted(&id(node)), quoted(&display(node)));
    }
    for node in &plan.nodes {
        for input in &node.inputs {
            let above = &plan.nodes[input.node];
            let label = match &above.ports[input.port].name {
                Some(port) => format!("data:{port}"),
                None => "data".to_string(),
            };
            let (from, to) = (quoted(&id(above)), quoted(&id(node)));
            let _ = writeln!(text, "  {from} -> {to} [label={}];", quoted(&label));
        }
    }
    text.push_str("}\n");
    text
}

/// A quoted identifier or label.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{escaped}\"")
}
