//! How rows get from one node to the next: handed on as they come, or held until their reader can take them.
//!
//! One classifier decides it from the shape of the graph alone. The engine runs by its result, and `--explain` prints it.

use crate::model::{Delivery, HeldBecause, Input, MergeMode, Node, NodeId, Operator};

/// Decides for every input of every node. Nodes are in plan order.
pub(crate) fn classify(nodes: &mut [Node]) {
    for node in nodes.iter_mut() {
        let held = |at: usize| match &node.operator {
            Operator::Merge(merge) => match merge.mode {
                MergeMode::Concat if at > 0 => Delivery::Held(HeldBecause::LaterInput),
                MergeMode::Seeded { .. } => Delivery::Held(HeldBecause::Seeded),
                MergeMode::Concat | MergeMode::Interleave { .. } => Delivery::Handoff,
            },
            _ => Delivery::Handoff,
        };
        node.deliveries = (0..node.inputs.len()).map(held).collect();
    }
    while let Some((node, input)) = circular_wait(nodes) {
        nodes[node].deliveries[input] = Delivery::Held(HeldBecause::CircularWait);
    }
}

/// Whether everything above an input feeds nothing but what lies behind this input: then its chain can begin when the turn
/// of the input has come, and nothing waits.
pub(crate) fn is_exclusive(nodes: &[Node], reader: NodeId, input: usize) -> bool {
    let edge = nodes[reader].inputs[input];
    let above = above(nodes, edge.node);
    (0..=edge.node).filter(|node| above[*node]).all(|node| {
        nodes[node].ports.iter().enumerate().all(|(port, wired)| {
            let through = Input { node, port } == edge;
            wired.consumers.iter().all(|consumer| {
                let inside = *consumer <= edge.node && above[*consumer];
                inside || (through && *consumer == reader)
            })
        })
    })
}

/// A node with all nodes above it. Inputs stand before their readers.
fn above(nodes: &[Node], node: NodeId) -> Vec<bool> {
    let mut above = vec![false; node + 1];
    above[node] = true;
    for at in (0..=node).rev() {
        if above[at] {
            nodes[at].inputs.iter().for_each(|input| above[input.node] = true);
        }
    }
    above
}

/// What a node takes its rows from.
#[derive(Clone, Default)]
struct Above {
    /// Sources, and Merges that read what is held, from which rows get here without being held.
    chains: Vec<NodeId>,
    /// The same of everything that must have ended before any row gets here, because what is read here is held.
    awaited: Vec<NodeId>,
}

/// The first input of an `interleave` that would wait for itself: its chain also feeds another input of that Merge, or
/// another Merge takes it in turns, or it would have to end before the Merge may begin.
fn circular_wait(nodes: &[Node]) -> Option<(NodeId, usize)> {
    let found = chains(nodes);
    let units: Vec<NodeId> = (0..nodes.len()).filter(|id| takes_turns(&nodes[*id])).collect();
    for (place, id) in units.iter().enumerate() {
        let node = &nodes[*id];
        let handed = |at: &usize| node.deliveries[*at] == Delivery::Handoff;
        let awaited = all_awaited(*id, &units, &found);
        for at in (0..node.inputs.len()).filter(handed) {
            let own = &found[node.inputs[at].node].chains;
            let shares = |other: usize| handed(&other) && meet(own, &found[node.inputs[other].node].chains);
            let beside = (0..node.inputs.len()).any(|other| other != at && shares(other));
            let rival =
                units[..place].iter().any(|other| !reaches(nodes, *other, *id) && meet(own, &found[*other].chains));
            if beside || rival || meet(own, &awaited) {
                return Some((*id, at));
            }
        }
    }
    None
}

/// Everything that must have ended before a Merge that takes turns may begin: what is read there, and what the units that
/// hold it wait for in their turn.
fn all_awaited(merge: NodeId, units: &[NodeId], found: &[Above]) -> Vec<NodeId> {
    let mut awaited = found[merge].awaited.clone();
    let mut next = 0;
    while let Some(origin) = awaited.get(next).copied() {
        next += 1;
        let own = found[origin].awaited.iter();
        let of_units = units.iter().filter(|unit| **unit != merge && found[**unit].chains.contains(&origin));
        let more: Vec<NodeId> = own
            .chain(of_units.flat_map(|unit| &found[*unit].awaited))
            .copied()
            .filter(|id| !awaited.contains(id))
            .collect();
        for id in more {
            if !awaited.contains(&id) {
                awaited.push(id);
            }
        }
    }
    awaited
}

/// For each node what it takes its rows from.
fn chains(nodes: &[Node]) -> Vec<Above> {
    let mut found: Vec<Above> = Vec::with_capacity(nodes.len());
    for (id, node) in nodes.iter().enumerate() {
        let mut own = Above::default();
        if node.inputs.is_empty() {
            own.chains.push(id);
        }
        for (at, input) in node.inputs.iter().enumerate() {
            if node.deliveries[at] == Delivery::Handoff || is_deferred(nodes, id, at) {
                own.chains.extend_from_slice(&found[input.node].chains);
                own.awaited.extend_from_slice(&found[input.node].awaited);
            } else {
                own.chains.push(id);
                own.awaited.extend(origins(nodes, input.node));
            }
        }
        for list in [&mut own.chains, &mut own.awaited] {
            list.sort_unstable();
            list.dedup();
        }
        found.push(own);
    }
    found
}

/// Whether an input is held in name only: its chain begins when its turn has come.
pub(crate) fn is_deferred(nodes: &[Node], reader: NodeId, input: usize) -> bool {
    nodes[reader].deliveries[input] == Delivery::Held(HeldBecause::LaterInput) && is_exclusive(nodes, reader, input)
}

fn takes_turns(node: &Node) -> bool {
    matches!(&node.operator, Operator::Merge(merge) if matches!(merge.mode, MergeMode::Interleave { .. }))
}

/// All Sources above a node, and all Merges there that read what is held.
fn origins(nodes: &[Node], node: NodeId) -> Vec<NodeId> {
    let above = above(nodes, node);
    let reads_held = |id: NodeId| {
        let held = |at: &usize| nodes[id].deliveries[*at] != Delivery::Handoff && !is_deferred(nodes, id, *at);
        (0..nodes[id].inputs.len()).any(|at| held(&at))
    };
    (0..=node).filter(|at| above[*at] && (nodes[*at].inputs.is_empty() || reads_held(*at))).collect()
}

/// Whether rows get from one node to another without being held.
fn reaches(nodes: &[Node], from: NodeId, to: NodeId) -> bool {
    let mut reached = vec![false; nodes.len()];
    reached[from] = true;
    for id in from + 1..=to {
        let inputs = nodes[id].inputs.iter().zip(&nodes[id].deliveries).enumerate();
        let mut handed = inputs.filter(|(at, (_, way))| **way == Delivery::Handoff || is_deferred(nodes, id, *at));
        reached[id] = handed.any(|(_, (input, _))| reached[input.node]);
    }
    reached[to]
}

fn meet(one: &[NodeId], other: &[NodeId]) -> bool {
    one.iter().any(|node| other.contains(node))
}
