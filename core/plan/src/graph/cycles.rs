//! Plan order, and cycles, which have none.

use std::collections::VecDeque;

use clinker_diagnostics::Span;

use crate::faults::{Fault, Faults};
use crate::graph::Edge;
use crate::nodes::Draft;

/// The nodes that read each node, in declaration order.
pub(super) fn consumers(inputs: &[Vec<Option<Edge>>]) -> Vec<Vec<usize>> {
    let mut consumers: Vec<Vec<usize>> = vec![Vec::new(); inputs.len()];
    for (at, read) in inputs.iter().enumerate() {
        for edge in read.iter().flatten() {
            // A node may read several ports of another one.
            if consumers[edge.node].last() != Some(&at) {
                consumers[edge.node].push(at);
            }
        }
    }
    consumers
}

/// The reverse of the order in which a depth-first walk finishes the nodes. The walk starts at the nodes in
/// declaration order and follows consumers in declaration order.
pub(super) fn plan_order(consumers: &[Vec<usize>]) -> Vec<usize> {
    let mut finished = Vec::with_capacity(consumers.len());
    let mut seen = vec![false; consumers.len()];
    for start in 0..consumers.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        // An explicit stack: a chain may be as long as the document.
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match consumers[*node].get(*next) {
                Some(consumer) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*consumer], true) {
                        stack.push((*consumer, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    stack.pop();
                }
            }
        }
    }
    finished.reverse();
    finished
}

/// Reports one cycle of each knot of nodes that reach each other, at an input of its first-declared node, and cuts
/// the inputs inside the knot.
pub(super) fn cut(drafts: &[Draft<'_>], inputs: &mut [Vec<Option<Edge>>], faults: &mut Faults) {
    let knots = knots(inputs);
    let mut size = vec![0_usize; inputs.len()];
    knots.iter().for_each(|knot| size[*knot] += 1);
    let mut reported = vec![false; inputs.len()];
    for at in 0..inputs.len() {
        let knot = knots[at];
        // No node reads itself: that was refused.
        if size[knot] > 1 && !std::mem::replace(&mut reported[knot], true) {
            report(at, &knots, drafts, inputs, faults);
        }
    }
    for at in (0..inputs.len()).filter(|at| size[knots[*at]] > 1) {
        for read in &mut inputs[at] {
            *read = read.filter(|edge| knots[edge.node] != knots[at]);
        }
    }
}

/// For each node a number that is the same for nodes that reach each other.
fn knots(inputs: &[Vec<Option<Edge>>]) -> Vec<usize> {
    // In the reverse of the order of finishing, a walk against the edges stays inside the knot of its start and of
    // those seen before.
    let mut knots = vec![usize::MAX; inputs.len()];
    for start in plan_order(&consumers(inputs)) {
        if knots[start] != usize::MAX {
            continue;
        }
        knots[start] = start;
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            for edge in inputs[at].iter().flatten() {
                if knots[edge.node] == usize::MAX {
                    knots[edge.node] = start;
                    stack.push(edge.node);
                }
            }
        }
    }
    knots
}

/// Reports a shortest cycle through the first-declared node of a knot.
fn report(first: usize, knots: &[usize], drafts: &[Draft<'_>], inputs: &[Vec<Option<Edge>>], faults: &mut Faults) {
    // From which node each one above was found, breadth first.
    let mut found_from = vec![usize::MAX; inputs.len()];
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front().filter(|_| found_from[first] == usize::MAX) {
        for edge in inputs[at].iter().flatten().filter(|edge| knots[edge.node] == knots[first]) {
            if found_from[edge.node] == usize::MAX {
                found_from[edge.node] = at;
                queue.push_back(edge.node);
            }
        }
    }
    // Written downstream: each node feeds the next one.
    let mut path = vec![first];
    let mut at = found_from[first];
    while at != first && at != usize::MAX {
        path.push(at);
        at = found_from[at];
    }
    let above = path.last().copied().unwrap_or(first);
    path.push(first);
    let names: Vec<&str> = path.iter().map(|node| &*drafts[*node].name).collect();
    let message = format!("the nodes form a cycle: {}", names.join(" -> "));
    faults.push(Fault::new("E003", place(first, above, drafts, inputs), message).help("break one of the edges"));
}

/// Where a node names another one as an input.
fn place(node: usize, above: usize, drafts: &[Draft<'_>], inputs: &[Vec<Option<Edge>>]) -> Span {
    let slot = inputs[node].iter().position(|edge| edge.is_some_and(|edge| edge.node == above));
    let reference = slot.and_then(|slot| drafts[node].inputs.get(slot));
    reference.map_or(drafts[node].name_span, |(_, span)| *span)
}
