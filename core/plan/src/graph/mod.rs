//! The graph: names, references, plan order, schemas bound along the edges.

pub(crate) mod bind;
mod cycles;
pub(crate) mod dead_letters;
pub(crate) mod destinations;
pub(crate) mod documents;
pub(crate) mod edges;
mod merge;
pub(crate) mod projection;
mod routes;

use std::collections::HashMap;
use std::sync::Arc;

use clinker_diagnostics::{Span, nearest, suggestion};

use crate::faults::{Fault, Faults};
use crate::nodes::{Draft, Kind, names};
use crate::yaml::Node;

/// An output that a node reads. Positions are those of the declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The node above.
    pub node: usize,
    /// Position among its ports.
    pub port: usize,
}

/// One output of a node.
pub(crate) struct PortWiring {
    /// Its name; none for the only output of a node.
    pub name: Option<Arc<str>>,
    /// The nodes that read it, in declaration order.
    pub consumers: Vec<usize>,
}

/// How the nodes hang together. Positions are those of the declaration.
pub(crate) struct Wiring {
    /// What each node reads, in authored order; none for a reference that was refused.
    pub inputs: Vec<Vec<Option<Edge>>>,
    /// The outputs of each node.
    pub ports: Vec<Vec<PortWiring>>,
    /// All nodes in plan order.
    pub order: Vec<usize>,
}

impl Wiring {
    /// What a node reads, as far as it is known.
    pub fn edges(&self, at: usize) -> impl Iterator<Item = Edge> + '_ {
        self.inputs[at].iter().flatten().copied()
    }

    /// The node with all nodes above it. Each of them once, in no particular order.
    pub fn above(&self, start: usize) -> Vec<usize> {
        let mut seen = vec![false; self.inputs.len()];
        seen[start] = true;
        let mut found = vec![start];
        let mut next = 0;
        while let Some(at) = found.get(next).copied() {
            next += 1;
            let new = self.edges(at).map(|edge| edge.node);
            found.extend(new.filter(|node| !std::mem::replace(&mut seen[*node], true)));
        }
        found
    }
}

/// Checks names and references. `nameless` says that a node could not be read so far as to have a name.
pub(crate) fn wire(drafts: &[Draft<'_>], nameless: bool, faults: &mut Faults) -> Wiring {
    node_names(drafts, faults);
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        by_name.entry(&draft.name).or_insert(at);
    }
    let references = References { drafts, by_name, nameless };
    let mut inputs: Vec<Vec<Option<Edge>>> = (0..drafts.len()).map(|at| references.all(at, faults)).collect();
    cycles::cut(drafts, &mut inputs, faults);
    let mut ports: Vec<Vec<PortWiring>> = drafts.iter().map(|draft| outputs(&draft.kind)).collect();
    for (at, read) in inputs.iter().enumerate() {
        for edge in read.iter().flatten() {
            ports[edge.node][edge.port].consumers.push(at);
        }
    }
    let order = cycles::plan_order(&cycles::consumers(&inputs));
    Wiring { inputs, ports, order }
}

/// The outputs a node has, as far as that is known.
fn outputs(kind: &Kind<'_>) -> Vec<PortWiring> {
    let port = |name| PortWiring { name, consumers: Vec::new() };
    match kind {
        Kind::Sink(_) => Vec::new(),
        Kind::Route(route) => route.ports().map(|name| port(Some(Arc::clone(name)))).collect(),
        Kind::Source(_) | Kind::Transform(_) | Kind::Merge(_) | Kind::Broken => vec![port(None)],
    }
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

fn node_names(drafts: &[Draft<'_>], faults: &mut Faults) {
    let mut exact: HashMap<&str, Span> = HashMap::new();
    let mut folded: HashMap<String, (&Arc<str>, Span)> = HashMap::new();
    for draft in drafts {
        let (name, span) = (&draft.name, draft.name_span);
        if !names::check("node", name, span, faults) {
            continue;
        }
        if let Some(first) = exact.get(&**name) {
            let fault = Fault::new("E001", span, format!("two nodes are named `{name}`")).related(*first);
            faults.push(fault.help("rename one of them, and the references to it"));
            continue;
        }
        exact.insert(name, span);
        let first = *folded.entry(name.to_lowercase()).or_insert((name, span));
        names::differ_in_case("node", first, (name, span), faults);
    }
}

/// What references can mean.
struct References<'d, 'a> {
    drafts: &'d [Draft<'a>],
    by_name: HashMap<&'d str, usize>,
    /// Whether a node could not be read so far as to have a name.
    nameless: bool,
}

impl References<'_, '_> {
    /// What a node reads.
    fn all(&self, at: usize, faults: &mut Faults) -> Vec<Option<Edge>> {
        let draft = &self.drafts[at];
        let mut read: Vec<Option<Edge>> = Vec::with_capacity(draft.inputs.len());
        let mut first_at: HashMap<(usize, usize), Span> = HashMap::new();
        for (input, span) in &draft.inputs {
            let mut edge = self.edge(at, input, *span, faults);
            // The port of a broken node is not known.
            let known = edge.filter(|edge| !matches!(self.drafts[edge.node].kind, Kind::Broken));
            if let Some(Edge { node, port }) = known {
                if let Some(first) = first_at.get(&(node, port)) {
                    let message = format!("node `{}` lists `{input}` twice", draft.name);
                    faults.push(Fault::new("E000", *span, message).related(*first).help("list it once"));
                    edge = None;
                } else {
                    first_at.insert((node, port), *span);
                }
            }
            read.push(edge);
        }
        read
    }

    fn edge(&self, at: usize, input: &str, span: Span, faults: &mut Faults) -> Option<Edge> {
        let owner = &self.drafts[at].name;
        let (node, port) = match input.split_once('.') {
            Some((node, port)) => (node, Some(port)),
            None => (input, None),
        };
        if node.is_empty() || port.is_some_and(|port| port.is_empty() || port.contains('.')) {
            let fault = Fault::new("E004", span, format!("node `{owner}`: `{input}` is no reference"));
            faults.push(fault.help("write `node` or `node.port`"));
            return None;
        }
        let Some(target) = self.by_name.get(node).copied() else {
            if !self.nameless {
                self.unknown(owner, node, span, faults);
            }
            return None;
        };
        if target == at {
            let fault = Fault::new("E002", span, format!("node `{owner}` reads itself"));
            faults.push(fault.help("name the node above it"));
            return None;
        }
        let port = self.port(owner, target, port, span, faults)?;
        Some(Edge { node: target, port })
    }

    /// The port that a reference means.
    fn port(&self, owner: &str, target: usize, port: Option<&str>, span: Span, faults: &mut Faults) -> Option<usize> {
        let node = &self.drafts[target].name;
        let (message, help) = match (&self.drafts[target].kind, port) {
            (Kind::Sink(_), _) => (
                format!("node `{owner}` reads `{node}`, a sink, which has no output"),
                "name the node that the sink reads".to_string(),
            ),
            (Kind::Route(route), Some(port)) => {
                if let Some(found) = route.ports().position(|branch| **branch == *port) {
                    return Some(found);
                }
                let branches = || route.ports().map(|branch| &**branch);
                let help = suggestion(port, branches())
                    .unwrap_or_else(|| format!("its branches are {}", branches().collect::<Vec<_>>().join(", ")));
                (format!("node `{owner}`: route `{node}` has no branch `{port}`"), help)
            }
            (Kind::Route(route), None) => {
                let branches: Vec<String> = route.ports().map(|branch| format!("`{node}.{branch}`")).collect();
                let message = format!("node `{owner}` reads the route `{node}` without one of its branches");
                (message, format!("write one of {}", branches.join(", ")))
            }
            (Kind::Source(_) | Kind::Transform(_) | Kind::Merge(_), Some(port)) => {
                (format!("node `{owner}`: `{node}` has no port `{port}`; it has one output"), format!("write `{node}`"))
            }
            (Kind::Source(_) | Kind::Transform(_) | Kind::Merge(_), None) | (Kind::Broken, _) => return Some(0),
        };
        faults.push(Fault::new("E004", span, message).help(help));
        None
    }

    fn unknown(&self, owner: &str, node: &str, span: Span, faults: &mut Faults) {
        let others = self.drafts.iter().filter(|draft| draft.kind.has_output() && *draft.name != *owner);
        let names: Vec<&str> = others.map(|draft| &*draft.name).collect();
        let help = match nearest(node, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the nodes with an output are {}", names.join(", ")),
        };
        faults.push(Fault::new("E004", span, format!("node `{owner}` reads `{node}`, which is no node")).help(help));
    }
}
