//! The graph: names, references, plan order, schemas bound along the edges.

pub(crate) mod bind;
pub(crate) mod dead_letters;
pub(crate) mod destinations;
pub(crate) mod projection;

use std::collections::HashMap;

use clinker_diagnostics::{Span, nearest, suggestion};

use crate::faults::{Fault, Faults};
use crate::nodes::{Draft, Kind};
use crate::yaml::Node;

/// Prefixes of names that the planner keeps for itself.
const RESERVED: [&str; 4] = ["__sort_for_", "__correlation_sort_", "__correlation_commit_", "__combine_"];

/// How the nodes hang together. Positions are those of the declaration.
pub(crate) struct Wiring {
    /// The node each one reads.
    pub inputs: Vec<Option<usize>>,
    /// The nodes that read it, in declaration order.
    pub consumers: Vec<Vec<usize>>,
    /// All nodes in plan order.
    pub order: Vec<usize>,
}

/// Checks names and references. `nameless` says that a node could not be read so far as to have a name.
pub(crate) fn wire(drafts: &[Draft<'_>], nameless: bool, faults: &mut Faults) -> Wiring {
    names(drafts, faults);
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        by_name.entry(&draft.name).or_insert(at);
    }
    let mut inputs: Vec<Option<usize>> =
        (0..drafts.len()).map(|at| reference(at, drafts, &by_name, nameless, faults)).collect();
    cycles(drafts, &mut inputs, faults);
    let mut consumers = vec![Vec::new(); drafts.len()];
    for (at, input) in inputs.iter().enumerate() {
        if let Some(input) = input {
            consumers[*input].push(at);
        }
    }
    let order = plan_order(&consumers);
    Wiring { inputs, consumers, order }
}

/// A pipeline has a beginning and an end. Asked only when every node could be read.
pub(crate) fn ends(drafts: &[Draft<'_>], nodes: &Node, faults: &mut Faults) {
    if !drafts.iter().any(|draft| matches!(draft.kind, Kind::Source(_))) {
        faults.error("E000", nodes.span, "the pipeline has no Source; it needs at least one");
    }
    if !drafts.iter().any(|draft| matches!(draft.kind, Kind::Sink(_))) {
        faults.error("E000", nodes.span, "the pipeline has no Sink; it needs at least one");
    }
}

fn names(drafts: &[Draft<'_>], faults: &mut Faults) {
    let mut exact: HashMap<&str, Span> = HashMap::new();
    let mut folded: HashMap<String, &Draft<'_>> = HashMap::new();
    for draft in drafts {
        let (name, span) = (&*draft.name, draft.name_span);
        if name.is_empty() || name.chars().any(char::is_control) {
            faults.error("E000", span, format!("node name {name:?} is empty or has a control character"));
            continue;
        }
        if name.contains('.') {
            let fault = Fault::new("E010", span, format!("node name `{name}` contains a dot"));
            faults.push(fault.help(format!("name it `{}`", name.replace('.', "_"))));
        }
        if let Some(prefix) = RESERVED.iter().find(|prefix| name.starts_with(**prefix)) {
            let message = format!("node name `{name}` begins with the reserved prefix `{prefix}`");
            faults.push(Fault::new("E394", span, message).help("choose another name"));
        }
        if let Some(first) = exact.get(name) {
            let fault = Fault::new("E001", span, format!("two nodes are named `{name}`")).related(*first);
            faults.push(fault.help("rename one of them, and the references to it"));
            continue;
        }
        exact.insert(name, span);
        let first = *folded.entry(name.to_lowercase()).or_insert(draft);
        if first.name != draft.name {
            let message = format!("the node names `{}` and `{name}` differ in case only", first.name);
            faults.push(Fault::warning(Some("W002"), span, message).related(first.name_span));
        }
    }
}

fn reference(
    at: usize,
    drafts: &[Draft<'_>],
    by_name: &HashMap<&str, usize>,
    nameless: bool,
    faults: &mut Faults,
) -> Option<usize> {
    let draft = &drafts[at];
    let (input, span) = draft.input.as_ref()?;
    let owner = &draft.name;
    let (node, port) = match input.split_once('.') {
        Some((node, port)) => (node, Some(port)),
        None => (&**input, None),
    };
    if node.is_empty() || port.is_some_and(|port| port.is_empty() || port.contains('.')) {
        let fault = Fault::new("E004", *span, format!("node `{owner}`: `{input}` is no reference"));
        faults.push(fault.help("write `node` or `node.port`"));
        return None;
    }
    let Some(target) = by_name.get(node).copied() else {
        if !nameless {
            unknown(owner, node, *span, drafts, faults);
        }
        return None;
    };
    if target == at {
        let fault = Fault::new("E002", *span, format!("node `{owner}` reads itself"));
        faults.push(fault.help("name the node above it"));
        return None;
    }
    if !drafts[target].kind.has_output() {
        let fault = Fault::new("E004", *span, format!("node `{owner}` reads `{node}`, a sink, which has no output"));
        faults.push(fault.help("name the node that the sink reads"));
        return None;
    }
    if let (Some(port), false) = (port, matches!(drafts[target].kind, Kind::Broken)) {
        let message = format!("node `{owner}`: `{node}` has no port `{port}`; it has one output");
        faults.push(Fault::new("E004", *span, message).help(format!("write `input: {node}`")));
        return None;
    }
    Some(target)
}

fn unknown(owner: &str, node: &str, span: Span, drafts: &[Draft<'_>], faults: &mut Faults) {
    let names =
        || drafts.iter().filter(|draft| draft.kind.has_output() && *draft.name != *owner).map(|draft| &*draft.name);
    let help = match nearest(node, names()) {
        Some(_) => suggestion(node, names()).unwrap_or_default(),
        None => format!("the nodes with an output are {}", names().collect::<Vec<_>>().join(", ")),
    };
    faults.push(Fault::new("E004", span, format!("node `{owner}` reads `{node}`, which is no node")).help(help));
}

/// Reports each cycle once, at the input of its first-declared node, and cuts it there.
fn cycles(drafts: &[Draft<'_>], inputs: &mut [Option<usize>], faults: &mut Faults) {
    // The walk that reached a node first, counted from 1; each node is walked over once.
    let mut walked = vec![0; drafts.len()];
    for start in 0..drafts.len() {
        let mut at = Some(start);
        while let Some(node) = at.filter(|node| walked[*node] == 0) {
            walked[node] = start + 1;
            at = inputs[node];
        }
        if let Some(met) = at.filter(|node| walked[*node] == start + 1) {
            cut(met, drafts, inputs, faults);
        }
    }
}

/// Reports the cycle that `met` lies on.
fn cut(met: usize, drafts: &[Draft<'_>], inputs: &mut [Option<usize>], faults: &mut Faults) {
    let mut upstream = vec![met];
    while let Some(node) = upstream.last().and_then(|node| inputs[*node]).filter(|node| *node != met) {
        upstream.push(node);
    }
    let first = upstream.iter().copied().min().unwrap_or(met);
    let place = upstream.iter().position(|node| *node == first).unwrap_or(0);
    upstream.rotate_left(place);
    // Written downstream: each node feeds the next one.
    let nodes = std::iter::once(first).chain(upstream.iter().rev().copied());
    let names: Vec<&str> = nodes.map(|node| &*drafts[node].name).collect();
    let span = drafts[first].input.as_ref().map_or(drafts[first].name_span, |(_, span)| *span);
    let message = format!("the nodes form a cycle: {}", names.join(" -> "));
    faults.push(Fault::new("E003", span, message).help("break one of the edges"));
    inputs[first] = None;
}

/// The reverse of the order in which a depth-first walk finishes the nodes. The walk starts at the nodes in
/// declaration order and follows consumers in declaration order.
fn plan_order(consumers: &[Vec<usize>]) -> Vec<usize> {
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
