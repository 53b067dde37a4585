//! Windows, watermarks, phases, scoped variables and expressions.

use super::entry::Code;

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E150",
        "Window over correlated input",
        "Set aside; windows and correlated input may be combined.",
        "None needed.",
    )
    .retired()
    .phases(&[])
    .exits(&[]),
    Code::compile(
        "E150b",
        "Window field not emitted",
        "`partition_by`, `sort_by` or a field a window uses is not emitted by the root of the window.",
        "Emit the field upstream.",
    ),
    Code::compile(
        "E150c",
        "Window on a later Source",
        "A window reads another Source that is ingested after the Transform's own.",
        "Reorder the Sources, or wire it as an input.",
    ),
    Code::compile(
        "E150d",
        "Window rooted at Merge",
        "The first ancestor of a window that is not a pass-through is a Merge.",
        "Put the window before the Merge.",
    ),
    Code::compile("E150e", "Array in a window", "A window uses an array column.", "Flatten the column first."),
    Code::compile(
        "E153",
        "Correlation field undeclared",
        "`correlation_key` names a column the schema lacks.",
        "Declare the column, or change the key.",
    ),
    Code::compile(
        "E154",
        "Watermark column undeclared",
        "`watermark.column` is not in the schema.",
        "Declare the column, or drop `watermark`.",
    ),
    Code::compile(
        "E155",
        "Watermark column type",
        "The watermark column is neither `date_time` nor `date`.",
        "Change its type, or choose another column.",
    ),
    Code::compile(
        "E156",
        "Watermark missing",
        "A time window can be reached from a Source without `watermark.column`; all such Sources are listed.",
        "Declare the watermark.",
    ),
    Code::compile(
        "E15Y",
        "Streaming relaxed Aggregate",
        "An Aggregate asks for `strategy: streaming` while its `group_by` leaves out a visible correlation \
         field.",
        "Use `auto` or `hash`, or add the field.",
    ),
    Code::compile(
        "E160",
        "Body window without root",
        "The input path of a window in a body ends without a producer.",
        "Wire it to an input port.",
    ),
    Code::compile(
        "E161",
        "Body window root ambiguous",
        "A window in a body reaches more than one root.",
        "Leave one input.",
    ),
    Code::compile(
        "E162",
        "Body window path cyclic",
        "The input path of a window in a body, or the ownership of the body, is cyclic.",
        "Break the cycle.",
    ),
    Code::compile("E163", "Body out of scope", "A body is missing, or is used outside of its call.", "Fix the call."),
    Code::compile(
        "E164",
        "Init node feeds run phase",
        "A node of the init phase has a consumer of its records in the run phase.",
        "Pass the value by a scoped variable.",
    ),
    Code::compile(
        "E165",
        "Body window cross lookup",
        "A window in a body reads another input or Source.",
        "Read its own root.",
    ),
    Code::compile(
        "E166",
        "Body window rooted at Merge",
        "The first ancestor of a window in a body that is not a pass-through is a Merge.",
        "Put the window before the Merge.",
    ),
    Code::compile(
        "E167",
        "Body window on undeclared port",
        "The root of a window in a body is a port the signature lacks.",
        "Declare the port.",
    ),
    Code::compile(
        "E168",
        "Body window schema",
        "The schema at the root of a window in a body is missing or does not fit.",
        "Declare the columns.",
    ),
    Code::compile(
        "E171",
        "Reader not after writer",
        "A scoped variable is read by a node that does not descend from its writer in the run phase.",
        "Move the reader below the writer.",
    ),
    Code::compile(
        "E172",
        "Source variable after fan-in",
        "A declared `$source` variable is read below a Merge or Combine.",
        "Copy it to a column before the rows meet.",
    ),
    Code::compile(
        "E173",
        "Body reads undeclared variable",
        "A body reads a variable of its parent that its `scoped_vars` does not list.",
        "List it.",
    ),
    Code::compile(
        "E174",
        "Scoped variable mismatch",
        "`scoped_vars` disagrees with the parent's type, or names a variable the parent lacks.",
        "Make both sides agree.",
    ),
    Code::compile(
        "E175",
        "Init reads run-phase variable",
        "A node of the init phase reads a variable that only a node of the run phase writes.",
        "Move the writer to the init phase.",
    ),
    Code::compile(
        "E200",
        "CXL type error",
        "An expression whose names are known does not type-check, calls an unknown function, or uses a \
         construct that its place forbids.",
        "Convert or correct the marked expression.",
    ),
    Code::compile("E202", "CXL syntax error", "An expression cannot be parsed.", "Fix it at the mark."),
    Code::compile(
        "E203",
        "CXL unknown name",
        "A field, variable or module member of an expression cannot be resolved.",
        "Correct the name, or declare it: a column in a schema, a variable under `pipeline.vars`.",
    ),
    Code::compile(
        "E340",
        "`$doc` index not constant",
        "A `$doc` path is indexed by something other than a literal.",
        "Use a literal index; negative ones are allowed.",
    ),
    Code::compile(
        "E373",
        "Log condition is a program",
        "The `condition` of a log directive has more than one statement or more than 512 bytes.",
        "Write one boolean expression.",
    ),
    Code::compile(
        "E374",
        "Log field unknown",
        "A selector of a log directive's `fields` is not an input column of the Transform.",
        "Use an input column.",
    ),
    Code::compile(
        "E375",
        "Log event shape conflict",
        "One log event name has two different sets of fields in a plan.",
        "Rename one event, or align their fields.",
    ),
    Code::compile(
        "E395",
        "Window function without window",
        "A `$window` call stands where no `analytic_window` is declared.",
        "Declare `analytic_window` on the Transform, or use an Aggregate.",
    ),
];
