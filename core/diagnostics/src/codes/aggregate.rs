//! Combine, Merge and Aggregate.

use super::entry::{Code, Phase};

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E300",
        "Input count",
        "A Combine has fewer than two or more than eight inputs.",
        "Use a Transform for one input; use two Combines for more than eight.",
    ),
    Code::compile(
        "E301",
        "Reserved qualifier",
        "A qualifier is `pipeline`, `window`, `meta` or `doc`, begins with `$`, or contains a dot.",
        "Rename the qualifier.",
    ),
    Code::compile("E302", "Retired Combine check", "No longer raised.", "None needed.")
        .retired()
        .phases(&[])
        .exits(&[]),
    Code::compile("E303", "`where` not boolean", "The `where` of a Combine is not boolean.", "Return a boolean."),
    Code::compile(
        "E304",
        "Unknown field in `where`",
        "A qualified field in `where` is not in the joined row.",
        "Use a listed field.",
    ),
    Code::compile(
        "E305",
        "No or broken connection",
        "No conjunct of `where` compares two inputs, or the conjuncts leave an input unconnected.",
        "Relate every input to another.",
    ),
    Code::compile("E306", "Unknown `drive`", "`drive` names no input of the Combine.", "Use a listed qualifier."),
    Code::compile("E307", "Retired input check", "No longer raised; E004 reports the condition.", "See E004.")
        .retired()
        .phases(&[])
        .exits(&[]),
    Code::compile(
        "E308",
        "Unknown field in body",
        "The body of a Combine reads a field that is not in the joined row.",
        "Use a listed field.",
    ),
    Code::compile("E309", "No output column", "The body of a Combine emits nothing.", "Add an `emit`."),
    Code::compile("E311", "Body under `collect`", "A Combine has `match: collect` and a body.", "Empty the body."),
    Code::compile(
        "E313",
        "No joinable conjunct",
        "Conjuncts compare several inputs, but none of them is an equality or a range.",
        "Add an equality or a range.",
    ),
    Code::compile(
        "E314",
        "Schema mismatch at operator",
        "The columns of a record differ from the compiled input schema; this is an engine defect.",
        "Report it, with the pipeline.",
    )
    .phases(&[Phase::Run])
    .machine(&["runtime.invariant.plan_mismatch"]),
    Code::data(
        "E319",
        "Unmatched driver",
        "A driver row has no match under `on_miss: error`; the row is named.",
        "Fix the reference data, or choose another policy.",
    )
    .exits(&[1]),
    Code::data(
        "E325",
        "Output cap",
        "A Combine would emit more rows than `max_output_rows`.",
        "Tighten `where`, or raise the cap.",
    )
    .exits(&[1]),
    Code::data(
        "E326",
        "Decimal off the range grid",
        "A decimal range key has more than 18 fractional digits or is too large for exact comparison.",
        "Round or rescale the key.",
    )
    .exits(&[3]),
    Code::compile(
        "E327",
        "Unsupported range axis",
        "An operand of a range cannot be ordered, or the two sides have no exact common axis.",
        "Cast both sides to one concrete type.",
    ),
    Code::data(
        "E390",
        "Proven order broken",
        "The input of a streaming Aggregate leaves the order that its plan proved; neighbouring rows and keys \
         are named.",
        "Report it, or use `strategy: hash`.",
    )
    .exits(&[1]),
    Code::compile(
        "E391",
        "Merge inputs disagree",
        "The inputs of a Merge differ in column names, widened columns or correlation columns, or have types \
         that do not unify.",
        "Align the inputs upstream.",
    ),
    Code::compile(
        "E392",
        "Streaming not provable",
        "An Aggregate asks for `strategy: streaming` and no order that covers its keys can be proved.",
        "Declare or add a sort, or use `auto`.",
    ),
    Code::compile(
        "E396",
        "Bad time window",
        "`allowed_lateness` is given without `time_window`, or a size, slide or gap is zero.",
        "Correct the window.",
    ),
];
