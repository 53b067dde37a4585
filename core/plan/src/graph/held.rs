//! Inputs that would have to be kept until a Merge comes to them.

use crate::faults::{Fault, Faults};
use crate::graph::{Edge, Wiring};
use crate::nodes::{Draft, Kind};

/// Refuses every input of a Merge that cannot be read when its turn comes, because the part of the graph above it
/// feeds something else too. Only the first input of a `concat` is read as it comes.
pub(crate) fn check(drafts: &[Draft<'_>], wiring: &Wiring, faults: &mut Faults) {
    for (at, draft) in drafts.iter().enumerate() {
        let Kind::Merge(merge) = &draft.kind else { continue };
        for (slot, (input, span)) in draft.inputs.iter().enumerate() {
            let Some(edge) = wiring.inputs[at][slot].filter(|_| merge.interleave || slot > 0) else { continue };
            let Some((shared, reader)) = shared(wiring, edge, at) else { continue };
            let merge = &draft.name;
            let message = format!(
                "input `{input}` of merge `{merge}` would have to be held until its turn, which is not available in \
                 this version"
            );
            let shared = &drafts[shared].name;
            let help = match reader == at {
                true => format!("`{shared}` reaches `{merge}` through another input too"),
                false => format!("`{shared}` is also read by `{}`", drafts[reader].name),
            };
            faults.push(Fault::new("E000", *span, message).help(help));
        }
    }
}

/// A node above the edge that feeds something else than the Merge through this edge: it, and what it feeds.
fn shared(wiring: &Wiring, input: Edge, merge: usize) -> Option<(usize, usize)> {
    let mut above = wiring.above(input.node);
    above.sort_unstable();
    let through_input = |node: usize, port: usize| Edge { node, port } == input;
    above.iter().find_map(|node| {
        wiring.ports[*node].iter().enumerate().find_map(|(port, wired)| {
            let outside = |reader: &&usize| {
                above.binary_search(reader).is_err() && !(**reader == merge && through_input(*node, port))
            };
            wired.consumers.iter().find(outside).map(|reader| (*node, *reader))
        })
    })
}
