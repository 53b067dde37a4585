//! The plan in words: every line is a view of the object that would run.

mod dot;
mod estimate;
mod json;
mod outputs;
mod sections;
mod topology;

use crate::model::{CompiledPlan, Node, Operator};

pub use dot::explain_dot;
pub use json::explain_json;
pub use outputs::resolved_outputs;

/// What of the command the explanation shows besides the plan.
#[derive(Clone, Copy, Debug)]
pub struct ExplainSettings {
    /// Worker threads in force.
    pub threads: usize,
}

/// The text form of `--explain`: each section headed, followed by a blank line.
pub fn explain_text(plan: &CompiledPlan, settings: &ExplainSettings) -> String {
    let estimates = estimate::bytes(plan);
    let mut sections =
        vec![outputs::planned(plan), sections::execution_plan(plan), sections::physical_properties(plan, &estimates)];
    sections.extend(sections::routes(plan));
    sections.extend(sections::statistics(plan, &estimates));
    sections.push(sections::expressions(plan));
    sections.push(sections::types(plan));
    sections.push(sections::memory(plan, settings));
    sections.push(topology::topology(plan));
    sections.extend(sections::dead_letters(plan));
    sections.push(sections::staging());
    sections.join("\n")
}

/// `<kind>` of the slug `<kind>.<name>`, and of the display name `[<kind>] <name>`.
fn kind(node: &Node) -> &'static str {
    match node.operator {
        Operator::Source(_) => "source",
        Operator::Transform(_) => "transform",
        Operator::Sink(_) => "sink",
        Operator::Route(_) => "route",
        Operator::Merge(_) => "merge",
    }
}

/// The slug of a node.
fn id(node: &Node) -> String {
    format!("{}.{}", kind(node), node.name)
}

fn display(node: &Node) -> String {
    match &node.operator {
        Operator::Route(route) if route.inclusive => format!("[route:inclusive] {}", node.name),
        Operator::Route(_) => format!("[route:exclusive] {}", node.name),
        _ => format!("[{}] {}", kind(node), node.name),
    }
}

/// Bytes in binary units; two decimals when they are not whole.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes}B"),
        Some((unit, letter)) if bytes.is_multiple_of(unit) => format!("{}{letter}", bytes / unit),
        Some((unit, letter)) => format!("{:.2}{letter}", bytes as f64 / unit as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn eng_197_byte_figures_use_binary_units() {
        let cases = [(0, "0B"), (1023, "1023B"), (1024, "1K"), (64 << 20, "64M"), (2 << 30, "2G"), (1536, "1.50K")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }
}
