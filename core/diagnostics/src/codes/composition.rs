//! Compositions, channels, groups and provenance.

use super::entry::{Code, Phase};

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E101",
        "Bad composition signature",
        "A composition file is malformed, lacks `_compose`, `inputs` or `outputs`, or types a port wrongly.",
        "Correct the signature.",
    ),
    Code::compile(
        "E102",
        "Port contract broken",
        "A body refers to a port its signature lacks, or the stream bound to an input port lacks a column of \
         the port's schema or has it with another type.",
        "Declare the port, fix its name, or supply the column.",
    ),
    Code::compile(
        "E103",
        "Bad composition binding",
        "`use:` resolves to no file or to several, or a call or overlay binds an input, key or resource the \
         signature does not admit, with a value it does not admit.",
        "Fix the path, the key or the value.",
    ),
    Code::compile(
        "E104",
        "Missing required binding",
        "A required input, a parameter without default or a resource slot of a composition is not bound.",
        "Bind it at the call site.",
    ),
    Code::compile(
        "E106",
        "Name collision after expansion",
        "After expansion two nodes have one fully qualified name.",
        "Give sibling calls distinct names.",
    ),
    Code::compile(
        "E107",
        "Cycle after expansion",
        "The expanded graph has a cycle, a body calls itself, or calls nest deeper than 50 levels.",
        "Break the chain of calls.",
    ),
    Code::compile(
        "E108",
        "Body reads its surroundings",
        "A node of a body refers to a name of the pipeline around it.",
        "Pass the data through an input port.",
    ),
    Code::compile(
        "E109",
        "Variables on a composition overlay",
        "An overlay whose target is a composition carries `vars:`.",
        "Move the variables to the overlay of the pipeline.",
    ),
    Code::compile(
        "E110",
        "Unknown node selected for extraction",
        "Set aside for tools that extract compositions; never raised.",
        "None needed.",
    )
    .retired()
    .phases(&[])
    .exits(&[]),
    Code::compile("E111", "Empty body", "A composition body has no nodes.", "Add nodes, or drop the call."),
    Code::compile(
        "E112",
        "Composition depth at run time",
        "While running, calls nest deeper than 50 levels.",
        "Flatten the nesting.",
    )
    .phases(&[Phase::Run])
    .machine(&[super::machine::UNKNOWN]),
    Code::compile(
        "E113",
        "Unknown override key",
        "A configuration or override key of a channel or group matches nothing in the plan.",
        "Use one of the listed keys.",
    ),
    Code::compile(
        "E114",
        "Overlay operation not applicable",
        "A structural operation has no target, would leave consumers without input, or breaks a schema.",
        "Choose another target, or rewire its consumers.",
    ),
    Code::compile(
        "E115",
        "Invalid node in body",
        "A node of a body fails a check that the same node would fail at the top level.",
        "Apply the fix named in the message.",
    ),
    Code::compile(
        "E116",
        "Variable type",
        "The default of a declared or overlaid variable does not fit its type, or an overlay changes the \
         declared type.",
        "Make value and declared type agree.",
    ),
    Code::compile(
        "E117",
        "Variable shadows built-in",
        "A variable has the name of a built-in member of its scope.",
        "Rename the variable.",
    ),
    Code::compile(
        "E118",
        "Overlay variable for unknown Source",
        "`vars.source` is keyed by a name that is no Source node.",
        "Use the name of a listed Source.",
    ),
    Code::compile(
        "E119",
        "`date_locale` unsupported",
        "`date_locale` is set; dates are read by explicit formats only.",
        "Remove it and give explicit formats.",
    ),
    Code::compile(
        "E120",
        "Channel scan budget",
        "The search for channels passed 100,000 tenant folders.",
        "Narrow the channel root.",
    ),
    Code::compile(
        "E121",
        "Bad channel file",
        "A channel manifest or target file cannot be read or parsed, or is a symbolic link.",
        "Fix the file.",
    ),
    Code::compile("E122", "Group scan budget", "The search for groups passed 10,000 files.", "Narrow the group root."),
    Code::compile("E123", "Bad group file", "A group file cannot be read or parsed.", "Fix the file."),
    Code::compile("E124", "`log_rules` unsupported", "`log_rules` is set.", "Remove it."),
    Code::compile("E125", "`include_provenance` unsupported", "`include_provenance` is set.", "Remove it."),
    Code::compile(
        "E127",
        "Empty provenance query",
        "`--field` was given an empty address.",
        "Give `<node>.<param>` or `<source>.<column>.<attribute>`.",
    )
    .phases(&[Phase::Tool]),
    Code::compile(
        "E128",
        "Unknown provenance address",
        "The address of a provenance query matches nothing; candidates of the same field are listed.",
        "Use a listed address.",
    )
    .phases(&[Phase::Tool]),
    Code::compile(
        "E129",
        "Ambiguous shorthand",
        "A two-part `node.param` matches in several call scopes.",
        "Use the full address.",
    )
    .phases(&[Phase::Tool, Phase::Compile]),
    Code::compile(
        "E152",
        "Composition edge without port",
        "An edge into a composition carries no port; this is an engine defect.",
        "Report it, with the pipeline.",
    ),
    Code::compile(
        "E377",
        "Inert keys on a call",
        "An ordinary composition call has `alias:` or `outputs:`, which do nothing there.",
        "Remove them; the call is named by `name:`.",
    ),
];
