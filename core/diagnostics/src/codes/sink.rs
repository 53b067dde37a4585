//! Sinks: splitting, several values in a column, mapping.

use super::entry::Code;

pub(super) const CODES: &[Code] = &[
    Code::compile("E323", "EDIFACT with split", "An EDIFACT Sink has `split`.", "Remove `split`."),
    Code::compile("E338", "X12 with split", "An X12 Sink has `split`.", "Remove `split`."),
    Code::compile("E339", "HL7 with split", "An HL7 Sink has `split`.", "Remove `split`."),
    Code::compile("E342", "SWIFT with split", "A SWIFT Sink has `split`.", "Remove `split`."),
    Code::compile(
        "E359",
        "Multi-value column at Sink",
        "A column with `multiple: true` reaches, or is declared on, a Sink whose format cannot write several \
         values.",
        "Use a format that can, or reduce the column to one value.",
    ),
    Code::compile(
        "E362",
        "Bad `join_values`",
        "`join_values` is not read by the format, repeats a field, has a key of another writer, or has an \
         unusable delimiter or escape.",
        "Correct the entry.",
    ),
    Code::compile(
        "E364",
        "Bad `mapping`",
        "`mapping` is not a list of items, is empty, repeats an output name, reads an excluded column, or \
         clashes with an unmapped column; or no column is left to be written.",
        "Write a list of items with distinct output names.",
    ),
    Code::compile(
        "E365",
        "Mapping of absent column",
        "An item of `mapping` reads a column that is not available at the Sink.",
        "Use a listed column.",
    ),
    Code::compile(
        "E367",
        "Bad `split.naming`",
        "`split.naming` has not exactly one `{seq:N}` with N from 1 to 20, or has an unknown placeholder.",
        "Use for example `{seq:04}`.",
    ),
    Code::compile(
        "E376",
        "`type: output` retired",
        "A node has `type: output`, the retired name of a Sink.",
        "Write `type: sink`.",
    )
    .retired(),
];
