//! `type: merge`.

use crate::decode::{self, ANY, Key, Shape, optional};
use crate::faults::{Fault, Faults};
use crate::yaml::Node;

/// A Merge as authored.
pub(crate) struct MergeDraft {
    /// Whether its inputs take turns.
    pub interleave: bool,
}

pub(super) const CONFIG: &[Key] = &[
    optional("mode", Shape::Word(&["concat", "interleave"]), "one input after the other, or in turns"),
    optional("interleave_seed", ANY, "seed of a pseudo-random schedule of turns"),
];

/// Reads the `config` of a Merge, which may be left out.
pub(crate) fn read(config: Option<&Node>, faults: &mut Faults) -> Option<MergeDraft> {
    let Some(config) = config else { return Some(MergeDraft { interleave: false }) };
    let fields = decode::fields(config, "a merge's `config`", CONFIG, faults)?;
    let interleave = fields.text("mode").is_some_and(|mode| &**mode == "interleave");
    if let Some(seed) = fields.entry("interleave_seed") {
        if interleave {
            decode::unavailable("`interleave_seed`", "a merge's `config`", seed.key_span, faults);
        } else {
            let fault = Fault::new("E000", seed.key_span, "`interleave_seed` needs `mode: interleave`");
            faults.push(fault.help("leave it out: `concat` has one order only"));
        }
    }
    Some(MergeDraft { interleave })
}
