//! Warnings. None of them ever changes an exit code.

use super::entry::{Code, Phase};

const fn run(id: &'static str, title: &'static str, meaning: &'static str, correction: &'static str) -> Code {
    Code::warning(id, title, meaning, correction).phases(&[Phase::Run])
}

const fn start(id: &'static str, title: &'static str, meaning: &'static str, correction: &'static str) -> Code {
    Code::warning(id, title, meaning, correction).phases(&[Phase::Start])
}

pub(super) const CODES: &[Code] = &[
    Code::warning("W002", "Names differ by case", "Two node names differ only in case.", "Rename one of them."),
    Code::warning("W100", "Set aside", "Registered, but never raised.", "None needed.").retired().phases(&[]),
    Code::warning(
        "W101",
        "Pass-through shadowed",
        "A body creates a column that also passes through its input port.",
        "Rename one of the two columns.",
    ),
    Code::warning(
        "W102",
        "Suspicious signature",
        "A parameter is both required and defaulted, or a port looks wrong.",
        "Tidy the signature.",
    ),
    Code::warning(
        "W302",
        "Small equality join",
        "Every input of an equality-only Combine is estimated at 10,000 rows or fewer.",
        "None needed.",
    ),
    Code::warning("W305", "No equality conjunct", "A Combine has no equality conjunct.", "Add one for speed."),
    Code::warning(
        "W306",
        "Large build side",
        "No `drive` is given, and a build input is estimated larger than the driver.",
        "Set `drive` if the other input may drive.",
    ),
    run(
        "W307",
        "File repaired",
        "A file broke its declared order and was sorted; reported once per file.",
        "Fix the producer of the file.",
    ),
    start("W330", "Little spill space", "Free space on the spill volume is below the estimate.", "Free some space."),
    start("W331", "Near the spill cap", "The estimated spill is at least 80 % of the cap.", "Raise the cap."),
    start(
        "W332",
        "Retention limit passed",
        "Retained attempts pass a limit, and none of them may be cleaned up; the run goes on.",
        "Run `clinker attempts purge`.",
    ),
    run("W365", "Mapped column never present", "No record carried a column that a mapping reads.", "Fix the mapping."),
    run(
        "W366",
        "Column displaced",
        "A mapped name displaced an upstream column under `include_unmapped: true`.",
        "Rename one of the two columns.",
    ),
    run(
        "W401",
        "Value truncated",
        "`truncation: warn` cut values; reported once per column and file, with a count.",
        "Widen the column.",
    ),
    run(
        "W402",
        "Escape normalised",
        "Decoding resolved an escape that writing may not reproduce; reported once per file, with a count.",
        "Use `element_text: wire`.",
    ),
    Code::warning(
        "W403",
        "Pretty lines",
        "`pretty` with line-delimited output writes several lines per object.",
        "Drop one of the two options.",
    ),
    run(
        "W404",
        "Policy without effect",
        "`on_unmapped` is given on a positional Source, where it does nothing.",
        "Remove it.",
    ),
    run(
        "W405",
        "Blanks between segments",
        "Blanks or tabs between segments were skipped; reported once per file, with a count.",
        "Have the sender drop them.",
    ),
];
