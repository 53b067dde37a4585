//! Documents, topology and names.

use super::entry::{Code, Phase};

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E000",
        "Unacceptable document",
        "The YAML is malformed, or a strict check of its structure fails: an unknown or repeated key, a value \
         of the wrong shape or kind, an unknown word, or a number outside its stated range.",
        "Fix the marked key; compare it with the option table of its node.",
    ),
    Code::compile(
        "E001",
        "Duplicate node name",
        "Two nodes of one scope have the same name.",
        "Rename one of them and every reference to it.",
    ),
    Code::compile("E002", "Node feeds itself", "A node lists itself as its input.", "Name the intended upstream node."),
    Code::compile(
        "E003",
        "Cycle between nodes",
        "The inputs of a document form a cycle; the message lists its nodes in order.",
        "Break one edge of the cycle.",
    ),
    Code::compile(
        "E004",
        "Unknown input",
        "An input, body or header reference, an arm, the source of a window or a port names nothing; or a \
         node with several ports is referenced without one.",
        "Use one of the listed names; give a port as `node.port` where the node has several.",
    ),
    Code::compile(
        "E010",
        "Dot in node name",
        "A node name contains a dot, which is reserved for the addresses of branches and call sites.",
        "Write `_` or `-` in its place.",
    ),
    Code::compile(
        "E011",
        "Bad log directive",
        "A log directive has `every: 0`, has `every` without `when: per_record`, or names an unknown level or \
         timing.",
        "Correct the directive.",
    ),
    Code::compile(
        "E394",
        "Reserved name prefix",
        "An authored name begins with a prefix the planner keeps for its own nodes: `__sort_for_`, \
         `__correlation_sort_`, `__correlation_commit_` or `__combine_`.",
        "Rename the node.",
    ),
    Code::compile(
        "E-SEC-001",
        "Path refused",
        "The text of a path leaves its base directory or is unsafe, or a directory above an output is a \
         symbolic link.",
        "Keep the path inside the workspace; pass `--allow-absolute-paths` if absolute paths are meant.",
    )
    .phases(&[Phase::Compile, Phase::Start]),
];
