//! `type: merge`.

use crate::decode::{self, ANY, Key, Shape, optional};
use crate::faults::{Fault, Faults};
use crate::yaml::{Core, Node, NodeKind};

/// A Merge as authored.
pub(crate) struct MergeDraft {
    /// Whether its inputs take turns.
    pub interleave: bool,
    /// The seed of a pseudo-random schedule.
    pub seed: Option<u64>,
}

pub(super) const CONFIG: &[Key] = &[
    optional("mode", Shape::Word(&["concat", "interleave"]), "one input after the other, or in turns"),
    optional("interleave_seed", ANY, "seed of a pseudo-random schedule of turns"),
];

/// Reads the `config` of a Merge, which may be left out.
pub(crate) fn read(config: Option<&Node>, faults: &mut Faults) -> Option<MergeDraft> {
    let Some(config) = config else { return Some(MergeDraft { interleave: false, seed: None }) };
    let fields = decode::fields(config, "a merge's `config`", CONFIG, faults)?;
    let interleave = fields.text("mode").is_some_and(|mode| &**mode == "interleave");
    let mut seed = None;
    if let Some(given) = fields.entry("interleave_seed") {
        seed = number(&given.value);
        if seed.is_none() {
            let fault = Fault::new("E000", given.value.span, "`interleave_seed` must be an integer from 0 to 2^64 - 1");
            faults.push(fault.help("write any such number: it chooses one of the possible orders"));
        } else if !interleave {
            let fault = Fault::new("E000", given.key_span, "`interleave_seed` needs `mode: interleave`");
            faults.push(fault.help("leave it out: `concat` has one order only"));
        }
    }
    Some(MergeDraft { interleave, seed })
}

fn number(node: &Node) -> Option<u64> {
    match (node.core()?, &node.kind) {
        (Core::Int(number), _) => u64::try_from(number).ok(),
        (Core::HugeInt, NodeKind::Scalar(scalar)) => scalar.text.parse().ok(),
        _ => None,
    }
}
