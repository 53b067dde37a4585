//! Behind which branch of a Route each node lies.

use std::sync::Arc;

use crate::graph::{Edge, Wiring};

/// The branch of the nearest Route above through which each node is reached, by declaration. Empty when there is none,
/// and when a Merge above the node brings together what did not come through one branch.
pub(super) fn labels(wiring: &Wiring) -> Vec<Arc<str>> {
    let mut behind: Vec<Option<Edge>> = vec![None; wiring.inputs.len()];
    for at in &wiring.order {
        let mut ways = wiring.edges(*at).map(|edge| match named(wiring, edge) {
            Some(_) => Some(edge),
            None => behind[edge.node],
        });
        let first = ways.next().flatten();
        let agreed = first.filter(|_| ways.all(|other| other == first));
        behind[*at] = agreed;
    }
    let none: Arc<str> = Arc::from("");
    let label = |edge: &Option<Edge>| edge.and_then(|edge| named(wiring, edge));
    behind.iter().map(|edge| Arc::clone(label(edge).unwrap_or(&none))).collect()
}

/// The name of the branch that an edge leaves through, if it leaves a Route.
fn named(wiring: &Wiring, edge: Edge) -> Option<&Arc<str>> {
    wiring.ports[edge.node][edge.port].name.as_ref()
}
