//! `=== DAG Topology ===`: a line a node in plan order, with the edges drawn in lanes on the left.

use super::display;
use super::sections::headed;
use crate::model::{CompiledPlan, Node, NodeId, Operator};

/// The graph. Where no node has several inputs, and each is declared below the one it reads, it is a forest.
pub(super) fn topology(plan: &CompiledPlan) -> String {
    let mut text = headed("DAG Topology");
    let mut lanes = Lanes::new(plan);
    for (id, node) in plan.nodes.iter().enumerate() {
        text.push_str(&lanes.draw(id, node));
        text.push_str(&leaf(node));
        text.push('\n');
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

/// The edges that lead from lines above to lines below. Each lane belongs to one node above.
struct Lanes {
    /// The node of each lane, three characters wide each.
    lanes: Vec<Option<NodeId>>,
    /// For each node how many of the nodes that read it are still to come.
    waiting: Vec<usize>,
}

impl Lanes {
    fn new(plan: &CompiledPlan) -> Lanes {
        let mut waiting = vec![0; plan.nodes.len()];
        for node in &plan.nodes {
            above(node).iter().for_each(|above| waiting[*above] += 1);
        }
        Lanes { lanes: Vec::new(), waiting }
    }

    /// The lanes in front of a node, whose inputs end or go on there.
    fn draw(&mut self, id: NodeId, node: &Node) -> String {
        let inputs = above(node);
        inputs.iter().for_each(|input| self.waiting[*input] -= 1);
        let read = |lane: &Option<NodeId>| lane.is_some_and(|lane| inputs.contains(&lane));
        let leftmost = self.lanes.iter().position(read).unwrap_or(usize::MAX);
        let width = self.lanes.len();
        let mut text = String::new();
        for (at, lane) in self.lanes.iter().enumerate() {
            let ends = lane.is_some_and(|lane| self.waiting[lane] == 0);
            text.push_str(match (read(lane), at.cmp(&leftmost)) {
                (true, std::cmp::Ordering::Equal) if ends => "└",
                (true, std::cmp::Ordering::Equal) => "├",
                (true, _) if ends => "┴",
                (true, _) => "┼",
                (false, std::cmp::Ordering::Greater) if lane.is_none() => "─",
                (false, _) if lane.is_none() => " ",
                (false, _) => "│",
            });
            text.push_str(match at >= leftmost {
                true if at + 1 == width => "─ ",
                true => "──",
                false => "  ",
            });
        }
        for lane in &mut self.lanes {
            *lane = lane.filter(|lane| self.waiting[*lane] > 0);
        }
        if self.waiting[id] > 0 {
            // What reads a node is drawn below its name.
            self.open(id, if inputs.is_empty() { width } else { leftmost.saturating_add(1) });
        }
        while let Some(None) = self.lanes.last() {
            self.lanes.pop();
        }
        text
    }

    /// Gives a node the first free lane from `start` on.
    fn open(&mut self, id: NodeId, start: usize) {
        let free = (start..self.lanes.len()).find(|at| self.lanes[*at].is_none());
        let at = free.unwrap_or(self.lanes.len().max(start));
        if at >= self.lanes.len() {
            self.lanes.resize(at + 1, None);
        }
        self.lanes[at] = Some(id);
    }
}

/// The nodes that a node reads, each once.
fn above(node: &Node) -> Vec<NodeId> {
    let mut above: Vec<NodeId> = node.inputs.iter().map(|input| input.node).collect();
    above.sort_unstable();
    above.dedup();
    above
}
